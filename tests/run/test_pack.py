"""Packs: whole, the same for the same run, checked anywhere, and refused where they could do harm."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

import portrayal
from faults.test_moved_run import STUDIES, write_associations
from portrayal.cli import main
from portrayal.errors import PortrayalError
from portrayal.handover import archive
from portrayal.handover.archive import fingerprint, first_change, unpack_archive, write_archive
from portrayal.handover.pack import as_json, seal_of, sort_pictures
from portrayal.handover.verify import compare_tables
from review.made_runs import captions_run, contexts_run


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of the example study; its run is gone."""
    folder = tmp_path_factory.mktemp("pack")
    portrayal.audit(portrayal.example_study(), folder / "run", quiet=True)
    portrayal.pack(folder / "run", folder / "run.zip")
    shutil.rmtree(folder / "run")
    return folder / "run.zip"


def unpacked(pack: Path, folder: Path) -> dict[str, Path]:
    folder.mkdir()
    return {name: folder / name for name in unpack_archive(pack, folder)}


def sealed_again(files: dict[str, Path], out: Path) -> Path:
    """Write a pack whose list fits its files, as whoever forges one would."""
    about = json.loads(files["pack.json"].read_text())
    about["files"] = {n: fingerprint(p) for n, p in files.items() if n not in ("pack.json", "seal.json")}
    files["pack.json"].write_text(as_json(about))
    files["seal.json"].write_bytes(seal_of(files["pack.json"]))
    write_archive(out, files)
    return out


WITHOUT_NETWORK = """
import socket, sys
def refuse(*given, **named): raise SystemExit('the network was reached for')
socket.socket.connect = socket.getaddrinfo = refuse
sys.dont_write_bytecode = True
from portrayal.cli import main
main(['verify', 'run.zip'])
"""


@pytest.mark.parametrize("stem", STUDIES)
def test_every_stem_is_verified_where_nothing_of_its_study_is_left(
    stem: str, audited: Callable[[str], Path], tmp_path: Path
) -> None:
    study, elsewhere = audited(stem), tmp_path / "elsewhere"
    elsewhere.mkdir()
    portrayal.pack(study / "run", elsewhere / "run.zip")
    portrayal.pack(study / "run", elsewhere / "again.zip")
    assert (elsewhere / "run.zip").read_bytes() == (elsewhere / "again.zip").read_bytes()
    rows = pl.read_parquet(study / "run" / "results.parquet").height
    study.rename(study.with_name("gone"))
    (elsewhere / "encoder.py").write_text("raise SystemExit('the study was run')\n")
    done = subprocess.run([sys.executable, "-c", WITHOUT_NETWORK], cwd=elsewhere, capture_output=True, text=True)
    study.with_name("gone").rename(study)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{rows:,} results measured again" in done.stdout
    assert done.stdout.endswith("run.zip holds\n")
    assert sorted(path.name for path in elsewhere.iterdir()) == ["again.zip", "encoder.py", "run.zip"]


def test_one_changed_byte_in_any_file_is_named_to_the_byte(packed: Path, tmp_path: Path) -> None:
    files = unpacked(packed, tmp_path / "files")
    assert len(files) == 12
    for number, (name, path) in enumerate(files.items()):
        whole = path.read_bytes()
        place = (len(whole) * (number + 1)) // (len(files) + 1)
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        write_archive(tmp_path / "changed.zip", files)
        try:
            found = portrayal.verify(tmp_path / "changed.zip").differences
        except PortrayalError as error:  # a list that is no JSON any more
            assert name == "pack.json" and "no pack.json that this version can read" in str(error)
        else:
            start = f"{name}: byte {place} "
            assert any(line.startswith(start) for line in found), (start, found[:3])
        path.write_bytes(whole)


def test_one_changed_byte_of_the_archive_itself_is_named_or_refused(packed: Path, tmp_path: Path) -> None:
    whole = packed.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    for place in (10, 14, directory + 12, directory + 38):  # a time, a checksum, both again, a member's rights
        (tmp_path / "changed.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        found = portrayal.verify(tmp_path / "changed.zip")
        assert found.differences == [f"changed.zip: byte {place} of the archive around the files; the files are whole"]
    (tmp_path / "longer.zip").write_bytes(b"x" + whole)
    assert not portrayal.verify(tmp_path / "longer.zip").holds


def test_a_number_changed_and_hashed_again_is_named_by_row_and_column(packed: Path, tmp_path: Path) -> None:
    files = unpacked(packed, tmp_path / "files")
    results = pl.read_parquet(files["results.parquet"])
    value = results["value"][0]
    forged = results.with_columns(value=pl.when(pl.col("measure") == "eat").then(value + 0.25).otherwise("value"))
    forged.write_parquet(files["results.parquet"])
    found = portrayal.verify(sealed_again(files, tmp_path / "forged.zip"))
    about = "row 0 (simulated, eat, men's names, women's names), column value"
    assert found.differences == [f"results.parquet: {about}: {value + 0.25!r} was kept and {value!r} computed"]


def test_an_answer_changed_and_hashed_again_shows_in_what_was_measured(packed: Path, tmp_path: Path) -> None:
    import sqlite3

    files = unpacked(packed, tmp_path / "files")
    with sqlite3.connect(files["ledger.sqlite"]) as ledger:
        ledger.execute("UPDATE questions SET raw = '[1.0, 2.0]', sha256 = '' WHERE rowid = 1")
    found = portrayal.verify(sealed_again(files, tmp_path / "forged.zip"))
    assert any(line.startswith("responses.parquet: row ") and "column embedding" in line for line in found.differences)


def test_a_changed_study_is_not_the_one_of_the_manifest(packed: Path, tmp_path: Path) -> None:
    files = unpacked(packed, tmp_path / "files")
    files["study.toml"].write_text(files["study.toml"].read_text() + "# later\n")
    found = portrayal.verify(sealed_again(files, tmp_path / "forged.zip")).differences
    assert found == ["study.toml: it is not the study whose hash manifest.json has"]


def test_a_file_left_out_or_put_in_is_named(packed: Path, tmp_path: Path) -> None:
    files = unpacked(packed, tmp_path / "files")
    (tmp_path / "note").write_text("x")
    write_archive(tmp_path / "more.zip", {**files, "note.txt": tmp_path / "note"})
    assert portrayal.verify(tmp_path / "more.zip").differences == ["note.txt: it is there and not listed"]
    del files["warnings.json"]
    write_archive(tmp_path / "less.zip", files)
    found = portrayal.verify(tmp_path / "less.zip").differences
    assert found[0] == "warnings.json: it is listed and not there"


def member(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


def bomb(file: zipfile.ZipFile) -> None:
    file.writestr(member("study.toml"), b"\0" * 50_000_000, zipfile.ZIP_DEFLATED)


HOSTILE: dict[str, tuple[Callable[[zipfile.ZipFile], object], str]] = {
    "outside": (lambda z: z.writestr(member("../../evil"), "x"), "leads out of the folder"),
    "outside by a folder": (lambda z: z.writestr(member("inputs/../../evil"), "x"), "leads out"),
    "absolute": (lambda z: z.writestr(member("/tmp/evil"), "x"), "leads out"),
    "a drive": (lambda z: z.writestr(member("C:evil"), "x"), "leads out"),
    "backslashes": (lambda z: z.writestr(member("..\\evil"), "x"), "leads out"),
    "deep": (lambda z: z.writestr(member("a/b/c"), "x"), "is no file of a pack"),
    "a folder": (lambda z: z.writestr(member("inputs/", stat.S_IFDIR | 0o755), ""), "link or no plain file"),
    "a link": (lambda z: z.writestr(member("study.toml", stat.S_IFLNK | 0o777), "/etc/passwd"), "is a link"),
    "a pipe": (lambda z: z.writestr(member("study.toml", stat.S_IFIFO | 0o644), ""), "is a link or no plain file"),
    "a bomb": (bomb, "is compressed"),
    "twice": (lambda z: [z.writestr(member("study.toml"), text) for text in "ab"], "twice"),
    "other case": (lambda z: [z.writestr(member(name), "a") for name in ("a.txt", "A.TXT")], "twice"),
    "other form": (lambda z: [z.writestr(member(name), "a") for name in ("\u00e9", "e\u0301")], "twice"),
    "file and folder": (lambda z: [z.writestr(member(name), "a") for name in ("a", "a/b")], "file and as a folder"),
    "a device": (lambda z: z.writestr(member("NUL.txt"), "x"), "name of a device"),
    "a control character": (lambda z: z.writestr(member("a\x1b[2Jb"), "x"), "name no file should have"),
    "a long name": (lambda z: z.writestr(member("a" * 300), "x"), "name no file should have"),
    "no pack": (lambda z: z.writestr(member("readme"), "x"), "no pack.json"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_pack_is_refused_in_one_line(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, words = HOSTILE[kind]
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "evil.zip"
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as made:
        warnings.simplefilter("ignore")  # zipfile warns of a name that is there twice
        make(made)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(file)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("error: ") and said.err.count("\n") == 1 and words in said.err
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "evil.zip"]


def changed_at(whole: bytes, signature: bytes, place: int, value: int) -> bytes:
    """Change a byte after every signature: of both headers a member has, where that is wanted."""
    parts = whole.split(signature)
    return signature.join([parts[0], *(part[:place] + bytes([value]) + part[place + 1 :] for part in parts[1:])])


def test_encrypted_overlapping_and_too_many_files_are_refused(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = packed.read_bytes()
    (tmp_path / "locked.zip").write_bytes(changed_at(whole, b"PK\x01\x02", 4, 1))  # the flag of encryption
    with pytest.raises(PortrayalError, match="is encrypted"):
        portrayal.verify(tmp_path / "locked.zip")
    with monkeypatch.context() as patched:
        patched.setattr(archive, "MOST_FILES", 5)
        with pytest.raises(PortrayalError, match="holds 12 files, and at most 5 are read"):
            portrayal.verify(packed)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr(member("a"), b"x" * 1000)
        info = member("b")
        made.writestr(info, b"y")
        info.file_size = info.compress_size = 5000  # more than there is
    (tmp_path / "over.zip").write_bytes(held.getvalue())
    with pytest.raises(PortrayalError, match="overlap or end after it does"):
        portrayal.verify(tmp_path / "over.zip")


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"no archive", b"\xff" * 3000])
def test_what_is_no_archive_is_one_line(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(tmp_path / "a.zip")])
    assert ended.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_the_command_ends_with_3_where_something_differs(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = unpacked(packed, tmp_path / "files")
    files["warnings.json"].write_text('["all is well"]')
    write_archive(tmp_path / "changed.zip", files)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(tmp_path / "changed.zip")])
    lines = capsys.readouterr().out.splitlines()
    assert ended.value.code == 3
    assert [line for line in lines if line.startswith("DIFFERS: warnings.json: ")]
    assert lines[-1] == "changed.zip does not hold"


def test_a_run_that_was_not_measured_and_a_file_of_somebody_are_left_alone(tmp_path: Path) -> None:
    write_associations(tmp_path)
    portrayal.record(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    with pytest.raises(PortrayalError, match="portrayal measure"):
        portrayal.pack(tmp_path / "run", tmp_path / "run.zip")
    (tmp_path / "mine.zip").write_text("a letter")
    with pytest.raises(PortrayalError, match="is not an archive"):
        portrayal.pack(tmp_path / "run", tmp_path / "mine.zip")
    assert (tmp_path / "mine.zip").read_text() == "a letter"


def test_only_pictures_that_may_be_passed_on_are_packed(tmp_path: Path) -> None:
    import hashlib

    picture = tmp_path / "a.png"
    Image.new("RGB", (4, 4)).save(picture)
    digest = hashlib.sha256(picture.read_bytes()).hexdigest()
    (tmp_path / "notes.txt").write_text("secret")
    (tmp_path / "link.png").symlink_to(picture)
    text = hashlib.sha256(b"secret").hexdigest()
    rows = [
        ("fine", str(picture), digest, "MIT", "generated"),
        ("person", str(picture), digest, "CC BY 4.0", "signed form"),
        ("unasked", str(picture), digest, "CC BY 4.0", ""),
        ("licence", str(picture), digest, "not stated", "generated"),
        ("gone", str(tmp_path / "b.png"), digest, "CC0", "none shown"),
        ("linked", str(tmp_path / "link.png"), digest, "CC0", "none shown"),
        ("changed", str(picture), "0" * 64, "CC0", "none shown"),
        ("no picture", str(tmp_path / "notes.txt"), text, "CC0", "none shown"),
    ]
    names = ["stimulus", "content", "hash", "license", "consent"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(kind=pl.lit("image"))
    packed, withheld = sort_pictures(table)
    assert packed == {f"pictures/{digest}.png": picture}
    reasons = {one["stimulus"]: one["reason"] for one in withheld}
    assert list(reasons) == ["person", "unasked", "licence", "gone", "linked", "changed", "no picture"]
    assert "signed form" in reasons["person"] and "none recorded" in reasons["unasked"]
    assert "not stated" in reasons["licence"] and "not there" in reasons["gone"] and "not there" in reasons["linked"]


def test_pictures_in_a_pack_are_those_of_the_stimuli(tmp_path: Path) -> None:
    STUDIES["counterfactuals"](tmp_path)
    text = (tmp_path / "study.toml").read_text().replace('source = "drawn"', 'source = "drawn"\nlicense = "CC0"')
    (tmp_path / "study.toml").write_text(text)
    portrayal.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True)
    lines = portrayal.pack(tmp_path / "run", tmp_path / "run.zip")
    assert len(lines) == 1  # nothing was left out
    files = unpacked(tmp_path / "run.zip", tmp_path / "files")
    assert sum(name.startswith("pictures/") for name in files) == 42
    first = next(path for name, path in files.items() if name.startswith("pictures/"))
    first.write_bytes(first.read_bytes() + b"more")
    found = portrayal.verify(sealed_again(files, tmp_path / "forged.zip")).differences
    assert found == [f"pictures/{first.name}: it is not the picture of that hash"]


def test_where_a_file_changed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)) * 20)
    kept = fingerprint(file)
    assert first_change(file, kept) == ""
    whole = file.read_bytes()
    for place in (0, 1023, 1024, 5119):
        file.write_bytes(whole[:place] + b"\x7f" + whole[place + 1 :])
        assert first_change(file, kept).startswith(f"byte {place} was changed: it is 0x7f and was ")
    file.write_bytes(whole[:2000] + b"ab" + whole[2002:])
    assert first_change(file, kept) == "the first change lies in bytes 1024 to 2047"
    file.write_bytes(whole + b"x")
    assert first_change(file, kept) == "the first change lies in bytes 5120 to 6143; it has 5,121 bytes and had 5,120"
    file.write_bytes(b"")
    assert first_change(file, kept).endswith("it has 0 bytes and had 5,120")


def test_tables_are_held_against_each_other_cell_by_cell() -> None:
    one = pl.DataFrame({"system": ["a", "b"], "value": [0.1, None], "list": [[1.0], [2.0]], "text": ["x", "y"]})
    assert compare_tables("t", one, one)[0] == []
    other = one.with_columns(
        value=pl.Series([0.1 + 1e-17, 0.0]), text=pl.Series(["x", None]), list=pl.Series([[1.0], [3.0]])
    )
    assert compare_tables("t", one, other)[0] == [
        "t: row 1 (b), column value: None was kept and 0.0 computed",
        "t: row 1 (b), column list: [2.0] was kept and [3.0] computed",
        "t: row 1 (b), column text: 'y' was kept and None computed",
    ]
    near = compare_tables("t", one, one.with_columns(pl.col("value") * (1 + 1e-12)))
    assert near == ([], 1)
    assert compare_tables("t", one, one.head(1))[0] == ["t: 2 rows were kept and 1 computed"]
    assert compare_tables("t", one, one.drop("text"))[0] == ["t: the column 'text' is kept, and not computed"]


DRAWN = {
    "captions": captions_run,
    "contexts": contexts_run,
}  # the studies of the other tests name pictures that are elsewhere


class Everything:
    """Holds whatever is asked for."""

    def __contains__(self, item: object) -> bool:
        return True


@pytest.mark.parametrize("stem", STUDIES)
def test_a_changed_byte_in_every_file_of_every_stem_is_named_with_all_pictures_in_the_pack(
    stem: str, audited: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from portrayal.handover import pack as withheld

    # Nobody's pictures are withheld here, whatever their licence: the withheld ones are packed by the test above.
    monkeypatch.setattr(withheld, "NOBODY", Everything())
    monkeypatch.setattr(withheld, "OPEN", re.compile(""))
    run = DRAWN[stem](tmp_path / "drawn") if stem in DRAWN else audited(stem) / "run"
    lines = portrayal.pack(run, tmp_path / "run.zip")
    assert len(lines) == 1
    files = unpacked(tmp_path / "run.zip", tmp_path / "files")
    shown = pl.read_parquet(files["stimuli.parquet"]).filter(pl.col("kind") == "image")
    pictures = [name for name in files if name.startswith("pictures/")]
    assert bool(pictures) == bool(shown.height)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "run.zip").rename(moved / "run.zip")
    if stem in DRAWN:
        assert portrayal.verify(moved / "run.zip").differences == []
    changed = {}
    for number, (name, path) in enumerate(files.items()):
        if name in ("pack.json", "seal.json"):  # the lists themselves: see the test of the example study
            continue
        whole = path.read_bytes()
        changed[name] = (len(whole) * (number + 1)) // (len(files) + 1)
        path.write_bytes(whole[: changed[name]] + bytes([whole[changed[name]] ^ 0x20]) + whole[changed[name] + 1 :])
    write_archive(moved / "run.zip", files)
    found = portrayal.verify(moved / "run.zip").differences
    for name, place in changed.items():
        assert any(line.startswith(f"{name}: byte {place} ") for line in found), (name, found[:3])

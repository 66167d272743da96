"""Sizes are looked at before anything is opened, and text for people stays text."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from portrayal import flow
from portrayal.cli import main
from portrayal.edges import sizes
from portrayal.edges.inert import inert_line
from portrayal.errors import PortrayalError
from portrayal.pictures.images import UnreadableImage, open_image
from portrayal.reporting.page.files import write_csv
from portrayal.run.reviews import merge_reviews, read_reviews, write_reviews
from portrayal.study.study_file import example_study, read_study
from portrayal.systems.core.base import CallFailed, Question
from portrayal.systems.http.vendor import read_native
from portrayal.tables import read_csv, read_json, read_table
from portrayal.text.collections.lines import read_lines
from portrayal.text.vectors.files import read_vectors

MIB = 1024 * 1024


def bomb(path: Path, size: int = 200 * MIB) -> Path:
    """Write a small gzip file that unpacks to much."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(size // MIB):
            file.write(b" " * MIB)
    assert path.stat().st_size < MIB
    return path


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    packed = bomb(folder / "a.csv.gz").read_bytes()
    for name in ("a.jsonl.gz", "a.json.gz", "a.txt.gz"):
        (folder / name).write_bytes(packed)
    return folder


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a.csv.gz", read_table),
        ("a.csv.gz", read_csv),
        ("a.jsonl.gz", read_table),
        ("a.jsonl.gz", read_native),
        ("a.json.gz", lambda path: read_json(path, "captions")),
        ("a.txt.gz", read_vectors),
        ("a.txt.gz", lambda path: list(read_lines(path))),
    ],
    ids=["table", "csv", "json lines", "a vendor's answers", "json", "vectors", "a collection"],
)
def test_a_small_archive_that_unpacks_to_much_is_refused(name: str, read, bombs: Path) -> None:
    with pytest.raises(PortrayalError) as error:
        read(bombs / name)
    assert "\n" not in str(error.value)


def test_what_unpacks_as_text_does_is_read(tmp_path: Path) -> None:
    rows = "a,b\n" + "".join(f"{number},text of some length {number}\n" for number in range(50_000))
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write(rows)
    assert read_table(tmp_path / "a.csv.gz").height == 50_000


def test_an_npz_that_unpacks_to_ten_gigabytes_is_refused_unopened(tmp_path: Path) -> None:
    """389 kB once took 10 GB."""
    path = tmp_path / "vectors.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (400 * MIB // 8,)})
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(400):
            member.write(b"\0" * MIB)
    assert path.stat().st_size < MIB
    with pytest.raises(PortrayalError, match="unpacks to"):
        read_vectors(path)


def test_an_array_that_promises_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", header.getvalue())
    with pytest.raises(PortrayalError, match="does not fit into its"):
        read_vectors(path)


def test_a_safetensors_header_of_any_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with path.open("wb") as file:
        file.write((200 * MIB).to_bytes(8, "little"))
        file.truncate(300 * MIB)  # a hole: no bytes on disk
    with pytest.raises(PortrayalError, match="its header is not that of"):
        read_vectors(path)


def test_a_parquet_file_of_too_many_cells_is_refused(tmp_path: Path, monkeypatch) -> None:
    pl.DataFrame({"a": [0] * 1000, "b": [0] * 1000}).write_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").height == 1000
    monkeypatch.setattr(sizes, "MOST_CELLS", 1999)
    with pytest.raises(PortrayalError, match="1,000 rows of 2 columns"):
        read_table(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deep"),
        ("a" + ".a" * 5000 + " = 1", "nested too deep"),
        ("# " + "x" * sizes.LARGEST_TOML, "larger than"),
    ],
    ids=["nested", "dotted", "large"],
)
def test_a_study_of_any_form_is_one_line(text: str, message: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(tmp_path / "study.toml")])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("\n") == 1
    assert message in said
    with pytest.raises(PortrayalError):
        read_study(tmp_path / "study.toml")


# Pictures ----------------------------------------------------------------------------------------------------------


def test_a_picture_of_too_many_bytes_is_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "a.png").open("wb") as file:
        file.truncate(sizes.LARGEST_PICTURE + 1)
    with pytest.raises(UnreadableImage, match="At most"):
        open_image(tmp_path / "a.png")
    with pytest.raises(CallFailed, match="not sent"):
        Question("a", "image", str(tmp_path / "a.png"), "").image_bytes()


@pytest.mark.parametrize("kind", ["PNG", "GIF", "TIFF", "BMP", "WEBP", "JPEG"])
def test_a_damaged_picture_is_named_whatever_the_reader_raises(kind: str, tmp_path: Path) -> None:
    """34 of 20,000 mutated pictures once escaped: Pillow raises what the format's reader happens to meet."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((24, 24)).convert("RGB").save(buffer, kind)
    whole, draw = buffer.getvalue(), np.random.default_rng(0)
    path = tmp_path / "a.picture"
    for _ in range(150):
        data = bytearray(whole)
        for place in draw.integers(0, min(len(data), 200), 3):
            data[place] = draw.integers(0, 256)
        path.write_bytes(data)
        try:
            open_image(path)
        except UnreadableImage as error:
            assert "\n" not in str(error)


def test_what_is_no_picture_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("root:x:0:0")
    question = Question("a", "image", str(tmp_path / "a.png"), "")
    with pytest.raises(CallFailed, match="not a readable picture"):
        question.image_bytes()
    with pytest.raises(CallFailed, match="not a readable picture"):
        question.refuse_other_file()
    Question("a", "text", str(tmp_path / "a.png"), "").refuse_other_file()  # a text is no path


CAPTIONS = """
name = "tiny"
audit = "captions"
{folders}
[[systems]]
name = "mine"
use = "command:false"
[captions]
images = "{images}"
"""


def captions_study(folder: Path, named: str, folders: str = "", images: str = "images.csv") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "images.csv").write_text(f"image,path,consent\na,{named},given\n")
    (folder / "study.toml").write_text(CAPTIONS.format(folders=folders, images=images))
    return folder / "study.toml"


@pytest.mark.parametrize("named", ["../secret.png", "{tmp}/secret.png", "link.png", "inside/../../secret.png"])
def test_a_table_of_pictures_cannot_name_a_file_outside(named: str, tmp_path: Path, capsys) -> None:
    Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
    study = captions_study(tmp_path / "study", named.format(tmp=tmp_path))
    (tmp_path / "study" / "inside").mkdir()
    (tmp_path / "study" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(study), "--out", str(tmp_path / "run"), "-q"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "which lies outside" in said
    assert not (tmp_path / "run" / "ledger.sqlite").exists()


def test_a_folder_the_study_names_may_hold_pictures(tmp_path: Path) -> None:
    from portrayal.study.questions import make_stimuli

    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "pictures" / "a.png")
    study = captions_study(tmp_path / "study", "../pictures/a.png", 'folders = ["../pictures"]')
    assert make_stimuli(read_study(study)).height == 1


def test_the_other_tables_of_pictures_stay_inside_too(tmp_path: Path) -> None:
    from portrayal.audits.associations.picture_sets import picture_table
    from portrayal.audits.contexts.factorial import load_backgrounds
    from portrayal.audits.contexts.people import load_people
    from portrayal.pictures.series.folder import read_folder
    from portrayal_faces.occupations import read_perceived_gender
    from portrayal_faces.series.sources import read_pictures

    Image.new("RGB", (9, 9)).save(tmp_path / "secret.png")
    inside = tmp_path / "inside"
    inside.mkdir()
    tables = {
        "people.csv": ("image_id,file\na,../secret.png\n", load_people),
        "backgrounds.csv": ("background,context,file,source,license\na,F1,../secret.png,s,l\n", load_backgrounds),
        "pictures.csv": ("file,source,consent\n../secret.png,s,given\n", read_pictures),
        "jobs.csv": ("file,occupation\n../secret.png,nurse\n", read_perceived_gender),
        "content.csv": ("content\n../secret.png\n", lambda path: picture_table(path.name, inside)),
        "series.csv": (
            "file,picture,attribute,value,source,consent\n../secret.png,a,gender,1,s,given\n",
            lambda path: read_folder(path.parent),
        ),
    }
    for name, (text, read) in tables.items():
        (inside / name).write_text(text)
        with pytest.raises(PortrayalError, match="lies outside"):
            read(inside / name)


# Text for people ---------------------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\ufeff=1", "\uff1d1", "\uff0b1", "\u200b=1", "a;=1+1", "a\n=1+1",
            "a\t@x", "x|=cmd", "'=1", "''=1", "a;'=1"]  # fmt: skip
PLAIN = ["woman", "-1.5", "+3", "1e-3", "a-b", "a=b", "it's", "'quoted'", "a; b", "", "-5%"]


def runs_in_a_spreadsheet(cell: str) -> bool:
    """Say whether any of a cell's parts, as half of the world's settings split it, begins as a formula."""
    import re

    parts = re.split(r"[;\t\r\n|]", cell)
    stripped = [part.strip(" \ufeff\u200b\x00") for part in parts]
    return any(
        part[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20") and not re.fullmatch(r"[+-]?[\d.e-]+%?", part)
        for part in stripped
        if part
    )


def test_reviews_are_inert_and_come_back_as_they_were(tmp_path: Path) -> None:
    cases = [*FORMULAS, *PLAIN[:-2], "-5%"]
    fresh = pl.DataFrame({"item": cases, "question": "=q", "reviewer": None, "judgment": None, "note": "@n"})
    write_reviews(fresh, tmp_path / "reviews.csv")
    written = pl.read_csv(tmp_path / "reviews.csv", infer_schema=False).fill_null("")
    assert [cell for column in written for cell in column if runs_in_a_spreadsheet(cell)] == []
    assert read_reviews(tmp_path / "reviews.csv")["item"].to_list() == cases
    judged = read_reviews(tmp_path / "reviews.csv").with_columns(judgment=pl.lit("harm"))
    write_reviews(judged, tmp_path / "reviews.csv")
    merged = merge_reviews(read_reviews(tmp_path / "reviews.csv"), fresh)
    assert merged.height == len(cases)  # no case is taken for a new one
    assert merged["judgment"].to_list() == ["harm"] * len(cases)


def test_no_csv_of_a_report_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    write_csv(pl.DataFrame({"=title": [*FORMULAS, *PLAIN]}), tmp_path / "a.csv")
    written = pl.read_csv(tmp_path / "a.csv", infer_schema=False).fill_null("")
    assert [cell for cell in [*written.columns, *written.to_series()] if runs_in_a_spreadsheet(cell)] == []
    assert written.to_series().to_list()[len(FORMULAS) :] == PLAIN


def test_a_terminal_obeys_nothing_of_a_run(tmp_path: Path, capsys) -> None:
    """Names and reasons of a run from somebody else are printed by `status`."""
    folder = tmp_path / "run"
    flow.audit(example_study(), folder, quiet=True)
    connection = sqlite3.connect(folder / "ledger.sqlite")
    with connection:
        nasty = "\x1b]0;owned\x07\x1b[2J\u202e\x9b1m"
        connection.execute("UPDATE questions SET system = ?, state = 'failed', error = ?", (nasty, nasty))
    connection.close()
    with pytest.raises(SystemExit):
        main(["status", str(folder)])
    said = capsys.readouterr()
    assert not set("\x1b\x07\u202e\x9b") & set(said.out + said.err)
    assert inert_line("é\tü\n") == "é\tü\n"


def test_an_error_that_holds_escapes_is_shown_inert(tmp_path: Path, capsys) -> None:
    (tmp_path / "study.toml").write_text('name = "a"\naudit = "x\\u001b[2J"\n')
    with pytest.raises(SystemExit):
        main(["plan", str(tmp_path / "study.toml")])
    assert "\x1b" not in capsys.readouterr().err


def test_json_that_a_run_keeps_is_strict(tmp_path: Path) -> None:
    flow.audit(example_study(), tmp_path / "run", quiet=True)
    mark = json.loads((tmp_path / "run" / ".portrayal").read_text())
    assert mark["holds"] == "run"
    assert set(mark["files"]) == {"measured", "report"}

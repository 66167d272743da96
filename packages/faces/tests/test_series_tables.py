"""Folders of series told by a table or by names of files: what is wrong is said in one line, whoever reads the folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from audits.counterfactuals.drawn_series import draw_folder
from portrayal import PortrayalError, flow
from portrayal.cli.main import main
from portrayal.pictures.series.folder import Chosen, read_folder
from portrayal_faces.series import judged
from portrayal_faces.series.judged import read_files
from portrayal_faces.series.judges import EMBEDDED
from portrayal_faces.series.sources import read_pictures

HEAD = ("file", "picture", "attribute", "value", "pole_low", "pole_high", "kind", "source", "consent", "age")
Row = dict[str, str]
STUDY = """
name = "told"
audit = "counterfactuals"
[counterfactuals]
series = "series"
[[systems]]
name = "phantom"
use = "phantom:counterfactuals"
"""


def gender(person: str, value: str, **further: str) -> Row:
    """Return an entry whose file lies in a folder of the person."""
    name = f"{person}/gender/{value or 'unedited'}.png"
    told = {"file": name, "picture": person, "attribute": "gender", "value": value, "source": "drawn"}
    return {**dict.fromkeys(HEAD, ""), **told, "consent": "generated", "age": "30-39", **further}


def people(*values: str, **further: str) -> list[Row]:
    return [gender(person, value, **further) for person in ("p01", "p10") for value in values]


def write(folder: Path, rows: list[Row], draw: bool = True) -> Path:
    """Write `series.csv`, and the files it names."""
    folder.mkdir(exist_ok=True)
    for row in rows if draw else []:
        path = folder / row["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16)).save(path)
    lines = [",".join(row[name] for name in HEAD) for row in rows]
    (folder / "series.csv").write_text("\n".join([",".join(HEAD), *lines]))
    return folder


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges that see the same in every picture: what a folder says is asked before."""
    monkeypatch.setattr(judged, "look", lambda paths: np.full((len(paths), 5 + EMBEDDED), 0.5))
    monkeypatch.setattr(judged, "glasses", lambda paths: np.zeros(len(paths)))


RACE = {"attribute": "race", "file": "p01/gender/0.png"}
WRONG: list[tuple[Callable[[Row], Row], str]] = [
    (lambda row: row | {"attribute": "age"}, "age is never varied"),
    (lambda row: row | {"attribute": "skin tone"}, "Expected gender, race or placebo"),
    (lambda row: row | {"value": "abc"}, "has the value 'abc'. Expected a number"),
    (lambda row: row | {"value": "nan"}, "has the value 'nan'. Expected a number"),
    (lambda row: row | {"value": "-inf"}, "has the value '-inf'. Expected a number"),
    (lambda row: row | {"kind": "half"}, "series of kind 'half'. Expected face only or whole"),
    (lambda row: row | {"file": "p99.png"}, "names 'p99.png', which is not there"),
    (lambda row: row | {"file": "/etc/passwd"}, "which lies outside"),
    (lambda row: row | {"file": "../.."}, "which lies outside"),
    (lambda row: row | RACE | {"pole_low": "younger", "pole_high": "older"}, "age is never varied"),
    (lambda row: row | RACE, "varies race without poles"),
    (lambda row: row | RACE | {"pole_low": "White"}, "has the poles 'White' and ''. Expected two different"),
    (lambda row: row | RACE | {"pole_low": "White", "pole_high": "white "}, "has the poles 'White' and 'white'"),
]


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize(("change", "said"), WRONG)
def test_an_entry_told_wrongly_is_refused_by_audit_and_judges_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Row], Row], said: str
) -> None:
    rows = people("-1", "0", "1")
    write(tmp_path / "series", rows)
    write(tmp_path / "series", [*rows[:-1], change(rows[-1])], draw=False)
    (tmp_path / "study.toml").write_text(STUDY)
    for words in (["plan", str(tmp_path / "study.toml")], ["faces", "check", str(tmp_path / "series")]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        err = capsys.readouterr().err
        assert ended.value.code == 2 and said in err and len(err.strip().splitlines()) == 1, words


VALUES = [
    ("-1", "1", "2"), ("-2", "-1", "0", "1"), ("-2", "0", "1", "2"), ("-2", "-1", "1", "2"), ("-1", "0"), ("0",), ("", ""),
    ("-1e300", "0", "1e300"), ("-1e12", "0", "1e12"), ("-1e-200", "0", "1e-200"),
]  # fmt: skip


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("values", VALUES, ids=" ".join)
def test_values_no_slope_can_be_measured_on_are_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], values: tuple[str, ...]
) -> None:
    write(tmp_path / "series", people(*values))
    (tmp_path / "study.toml").write_text(STUDY)
    for words in (["plan"], ["audit", "--out", str(tmp_path / "run")]):
        with pytest.raises(SystemExit) as ended:
            main([words[0], str(tmp_path / "study.toml"), *words[1:]])
        assert ended.value.code == 2 and "the gender series has" in capsys.readouterr().err
    assert not list(tmp_path.rglob("responses*")) and not list(tmp_path.rglob("answers*"))
    with pytest.raises(PortrayalError, match="the gender series has|no series of at least three"):
        judged.judged_checks(tmp_path / "series")


@pytest.mark.parametrize(
    "values", [("-1", "0", "1"), ("-1", "0", "1", ""), ("-1.33", "-0.67", "0", "0.67", "1.33"), ("-2.0", "-0.0", "2")]
)
def test_values_that_lie_evenly_are_read(tmp_path: Path, values: tuple[str, ...]) -> None:
    stimuli = read_folder(write(tmp_path, people(*values))).stimuli
    assert stimuli.height == 2 * len(values) and set(stimuli["attribute"]) == {"gender"}


def test_values_of_what_a_study_does_not_show_or_who_is_left_out_do_not_matter(tmp_path: Path) -> None:
    other = [row | {"attribute": "placebo"} for row in people("-1", "0")]
    young = [gender("p20", "3", age="10-19")]
    write(tmp_path, [*people("-1", "0", "1"), *other, *young])
    chosen = Chosen(attributes=["gender"])
    assert set(read_folder(tmp_path, chosen=chosen).stimuli["value"]) == {-1, 0, 1}
    with pytest.raises(PortrayalError, match=r"the placebo series has the values \[-1.0, 0.0\]"):
        read_folder(tmp_path)


@pytest.mark.usefixtures("seen")
def test_judges_look_at_everybody_who_has_every_step_and_at_nobody_labelled_young(tmp_path: Path) -> None:
    rows = [*people("-1", "0", "1"), gender("p20", "-1"), *(gender("p30", v, age="18") for v in ("-1", "0", "1"))]
    found = judged.judged_checks(write(tmp_path, rows))
    assert {row["n"] for row in found} == {2}
    assert set(read_files(tmp_path)["gender", "face only"]) == {"p01", "p10", "p20"}
    write(tmp_path, [gender("p01", "-1"), gender("p01", "0"), gender("p10", "1"), gender("p10", "0")])
    with pytest.raises(PortrayalError, match="nobody has the whole gender face only series"):
        judged.judged_checks(tmp_path)


@pytest.mark.usefixtures("seen")
def test_a_pair_is_judged_whichever_pole_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the way is read as far towards Black at the end of Black, be that the first or the second."""
    found = {}
    for pair in (("White", "Black"), ("Black", "White")):
        monkeypatch.setattr(judged, "look", lambda paths, low=pair[0]: turned(len(paths), low))
        folder = tmp_path / pair[0]
        folder.mkdir()
        rows = judged.judged_checks(draw_folder(folder, people=3, pairs=[pair], placebo=None))
        found[pair] = next(row for row in rows if row["check"] == "perceived race moves")
    assert found["White", "Black"]["value"] == pytest.approx(found["Black", "White"]["value"]) != 0
    assert found["Black", "White"]["unit"] == "P(White rather than Black), highest less lowest"
    assert found["Black", "White"]["passed"] is True


def turned(steps: int, low: str) -> np.ndarray:
    """Return readings whose embeddings go from White to Black, or back where Black is the first pole."""
    weights = judged.judges()["White to Black"].weights
    way = np.linspace(-4, 4, steps)[:: 1 if low == "White" else -1, None] * weights / (weights @ weights)
    return np.hstack([np.full((steps, 5), 0.5), way])


def test_files_in_a_folder_for_each_person_have_names_of_their_own(tmp_path: Path) -> None:
    stimuli = read_folder(write(tmp_path, people("-2.00", "0", "2.00"))).stimuli
    assert stimuli["stimulus"].to_list()[::2] == ["p01/gender/-2.00", "p01/gender/2.00", "p10/gender/0"]
    shared = [row | {"file": "p01/gender/0.png"} if row["value"] == "0" else row for row in people("-1", "0", "1")]
    beside = [row | {"attribute": "placebo", "file": row["file"].replace("gender/", "")} for row in shared]
    write(
        tmp_path / "shared",
        [*shared, *(row | {"file": "p01/gender/0.png"} if row["value"] == "0" else row for row in beside)],
    )
    names = read_folder(tmp_path / "shared", chosen=Chosen()).stimuli["stimulus"]
    assert {"p01/gender/0 gender", "p01/gender/0 placebo", "p01/-1"} <= set(names)


def test_race_told_by_names_of_files_takes_the_one_pair_a_study_names(tmp_path: Path) -> None:
    for name in ("-1", "0", "1", "unedited"):
        Image.new("RGB", (16, 16)).save(tmp_path / f"anna_race_{name}.png")
    read = lambda *pairs: read_folder(tmp_path, "drawn", "", "generated", "30", Chosen(pairs=pairs)).stimuli  # noqa: E731
    assert set(read(("White", "Black")).select("pole_low", "pole_high").rows()) == {("White", "Black")}
    for pairs in ((), (("White", "Black"), ("White", "East Asian"))):
        with pytest.raises(PortrayalError, match="varies race without poles. Expected two groups"):
            read(*pairs)
    with pytest.raises(PortrayalError, match="age is never varied"):
        read(("younger", "older"))


def test_an_unedited_photograph_takes_the_only_pair_there_is(tmp_path: Path) -> None:
    poles = {"attribute": "race", "pole_low": "White", "pole_high": "Black"}
    bare = [row | {"attribute": "race"} for row in people("")]
    write(tmp_path, [*(row | poles for row in people("-1", "0", "1")), *bare])
    assert set(read_folder(tmp_path).stimuli["pole_high"]) == {"Black"}


TEXTS = [
    b"",
    b"file,source,consent\nM\xfcller.png,s,given\n",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    b"file,source\na,b,c,d,e\n",
]


@pytest.mark.parametrize("text", TEXTS, ids=["empty", "Latin-1", "binary", "ragged"])
def test_tables_that_are_none_are_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes
) -> None:
    (tmp_path / "series").mkdir()
    for path in (tmp_path / "series" / "series.csv", tmp_path / "pictures.csv"):
        path.write_bytes(text)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "own.toml").write_text(STUDY.replace('series = "series"', 'pictures = "pictures.csv"'))
    for words in (
        ["plan", "study.toml"],
        ["plan", "own.toml"],
        ["faces", "check", "series"],
        ["faces", "apply", "pictures.csv"],
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words[:-1], str(tmp_path / words[-1])])
        err = capsys.readouterr().err
        assert ended.value.code == 2 and ("Expected a CSV in UTF-8" in err or "lacks column" in err), words
        assert len(err.strip().splitlines()) == 1


def test_a_table_that_names_no_picture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pictures.csv").write_text("file,source,consent\n")
    with pytest.raises(PortrayalError, match="has no rows below its header"):
        read_pictures(tmp_path / "pictures.csv")


BROKEN = "face_only/p1/gender_+2.00.png"


def draw_broken(folder: Path, content: bytes = b"no picture") -> Path:
    folder.mkdir()
    draw_folder(folder, people=3, pairs=[])
    (folder / BROKEN).write_bytes(content)
    return folder


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("content", [b"no picture", b"", b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_no_picture_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    stimuli, left_out, _ = read_folder(draw_broken(tmp_path / "series", content))
    assert set(stimuli["person"]) == {"p0", "p2"}
    assert left_out.rows() == [("p1", f"unreadable picture: {BROKEN}", True)]
    with pytest.raises(SystemExit) as ended:
        main(["faces", "check", str(tmp_path / "series")])
    err = capsys.readouterr().err
    assert ended.value.code == 2 and f"{BROKEN!r}, which is no readable picture" in err
    assert err.count("\n") == 1


def test_a_report_counts_and_names_what_is_no_picture(tmp_path: Path) -> None:
    draw_broken(tmp_path / "series")
    (tmp_path / "study.toml").write_text(STUDY)
    page = flow.audit(tmp_path / "study.toml", tmp_path / "run", quiet=True).report.read_text(encoding="utf-8")
    assert "1 picture was left out: unreadable picture." in page and f"unreadable picture: {BROKEN}" in page


@pytest.mark.usefixtures("seen")
def test_a_manifest_is_looked_through_by_the_judges_too(tmp_path: Path) -> None:
    told = json.loads((draw_folder(tmp_path, people=2, pairs=[]) / "manifest.json").read_text())
    told["pictures"][0]["file"] = "/etc/passwd"
    (tmp_path / "manifest.json").write_text(json.dumps(told))
    with pytest.raises(PortrayalError, match="lies outside"):
        judged.judged_checks(tmp_path)

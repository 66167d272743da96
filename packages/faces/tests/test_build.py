"""Folders of series of photographs, of people who do not exist: made once, gone on with, checked, nobody young in them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from phantom_maker import MADE_UP, Watched
from portrayal import make_face_series, plan_text
from portrayal.errors import PortrayalError
from portrayal.pictures.images import generated_people, open_shrunk
from portrayal.pictures.series.folder import UNREADABLE, YOUNG
from portrayal.pictures.series.manifest import MADE, failures
from portrayal_faces.series.build import CHECKS, LEFT_OUT, Recipe, build, build_name, planned_series, read_built
from portrayal_faces.series.checks import COLUMNS, Readings, checks_table, read_series, themselves
from portrayal_faces.series.series import Series
from portrayal_faces.series.sources import check_pictures, openpeople_pictures, read_pictures
from portrayal_faces.series.stems import file_stems, plain_stem
from portrayal_faces.series.suitability import Inspection, inspect_face


@pytest.fixture(scope="module")
def woman() -> tuple[Image.Image, Inspection]:
    assets = {name: folder for name, folder, _ in generated_people()}["P001"]
    picture = open_shrunk(assets / "studio_portrait.jpg", 256)
    return picture, inspect_face(picture)


@pytest.fixture(scope="module")
def series(woman: tuple[Image.Image, Inspection]) -> Series:
    return MADE_UP.series(*woman, ("gender",))


def test_a_failed_check_is_a_warning(series: Series):
    still = Series("gender", series.values, [series.original] * 7, series.original, series.face, series.region)
    table = checks_table([read_series(still, identity=False)] * 2)
    assert any("perceived gender moves" in text for text in failures(table))
    identity = table.filter(table["check"] == "identity stays").row(0, named=True)
    assert identity["passed"] is None and "not done" in identity["note"]  # never passes silently
    assert any(
        text.startswith("Manipulation check not done: identity stays (gender): needs") for text in failures(table)
    )


def test_a_check_not_done_is_named_once_for_all_attributes():
    rows = [("identity stays", "gender", "not done: no part"), ("identity stays", "race", "not done: no part"),
            ("latent code", "gender", "not done: no probe"), ("lightness", "race", "says only how skin moves")]  # fmt: skip
    table = pl.DataFrame(
        [{**dict.fromkeys(COLUMNS), "check": check, "attribute": attribute, "note": note} for check, attribute, note in rows],
        schema=COLUMNS,
    )  # fmt: skip
    assert failures(table) == [
        "Manipulation check not done: identity stays (gender, race): no part.",
        "Manipulation check not done: latent code (gender): no probe.",
    ]


def test_series_are_made_once_and_named(tmp_path: Path):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(1)
    recipe = Recipe(("gender",), placebo=False, size=192)
    folder = build(pictures, MADE_UP, recipe, tmp_path)
    made = (folder / MADE).stat().st_mtime_ns
    assert len(list(folder.glob("*.png"))) == 8 and (folder / CHECKS).exists()
    assert build(pictures, MADE_UP, recipe, tmp_path) == folder
    assert (folder / MADE).stat().st_mtime_ns == made


def test_series_are_made_once_whatever_the_path_looks_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "study").mkdir()
    openpeople_file = openpeople_pictures(("studio_portrait",))["file"][0]
    with Image.open(openpeople_file) as portrait:
        portrait.resize((200, 200)).save(tmp_path / "study" / "a.png")
    (tmp_path / "study" / "pictures.csv").write_text("file,source,consent,age\na.png,made,generated,30\n")
    (tmp_path / "link").symlink_to(tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    made: list[Any] = []
    names, recipe = (
        ("study", "./study/", "study/../study", str(tmp_path / "study"), "link"),
        Recipe(("gender",), placebo=False),
    )
    outs = (tmp_path / "out", Path("out"), Path("./out/"))
    found = {
        build(read_pictures(Path(name) / "pictures.csv"), Watched(made), recipe, out, quiet=True).absolute()
        for name in names
        for out in outs
    }
    assert {path.resolve() for path in found} == {next(iter(found)).resolve()} and len(made) == 1


def test_a_build_that_was_broken_off_goes_on(tmp_path: Path):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(3)
    recipe, made = Recipe(("gender",), placebo=False, size=192), list[Any]()
    with pytest.raises(KeyboardInterrupt):
        build(pictures, Watched(made, 3), recipe, tmp_path / "broken", quiet=True)
    whole = build(pictures, Watched(made), recipe, tmp_path / "broken", quiet=True)
    assert len(made) == 4  # two, the one that broke off, and that one again
    at_once = build(pictures, MADE_UP, recipe, tmp_path / "once", quiet=True)
    for name in (MADE, CHECKS, LEFT_OUT):
        assert pl.read_parquet(whole / name).equals(pl.read_parquet(at_once / name))
    assert not list(whole.glob("*.done.json"))


def test_made_series_are_found_where_their_folder_was_moved(tmp_path: Path):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(1)
    folder = build(pictures, MADE_UP, Recipe(("gender",), placebo=False, size=192), tmp_path / "here", quiet=True)
    (tmp_path / "here").rename(tmp_path / "there")
    assert all(Path(path).is_file() for path in read_built(tmp_path / "there" / folder.name)["content"])


def test_a_plan_makes_no_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "study.toml").write_text(
        'name = "planned"\naudit = "counterfactuals"\n[counterfactuals]\nkinds = ["studio_portrait"]\n'
        'poles = [["White", "Black"], ["White", "East Asian"]]\n[[systems]]\nname = "phantom"\nuse = "phantom:counterfactuals"\n'
    )
    for name in ("inspect_face", "open_or_none"):
        monkeypatch.setattr(f"portrayal_faces.series.build.{name}", lambda *asked, **rest: pytest.fail("made"))
    told = plan_text(tmp_path / "study.toml")
    # Ten people, of each a series of 7, two of 5 and a placebo beside each, with the unedited photograph: 2 x (8 + 6 + 6).
    assert "planned: 400 stimuli" in told and "400 calls" in told and "are not made yet" in told
    assert not (tmp_path / "cache").exists()


def test_whoever_is_labelled_young_and_what_is_unreadable_is_left_out_by_name(tmp_path: Path):
    for name in ("young.png", "broken.png"):
        (tmp_path / name).write_bytes(b"no picture")
    (tmp_path / "pictures.csv").write_text(
        "file,source,consent,age\nyoung.png,mine,signed,18-25\nbroken.png,mine,signed,30\n"
    )
    folder = build(read_pictures(tmp_path / "pictures.csv"), MADE_UP, Recipe(), tmp_path / "out")
    left_out = pl.read_parquet(folder / LEFT_OUT)
    assert left_out["reason"].to_list() == [YOUNG, UNREADABLE] and left_out["left_out"].all()
    assert pl.read_parquet(folder / MADE).is_empty()


def test_two_people_whose_pictures_are_named_nearly_alike_do_not_overwrite_each_other(tmp_path: Path):
    """Every sign but letters and digits becomes a hyphen: of 16 pictures 8 were on disk, all of one person."""
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(2)
    pictures = pictures.with_columns(picture=pl.Series(["p/1.jpg", "p-1.jpg"]))
    recipe = Recipe(("gender",), placebo=False, size=192)
    folder = build(pictures, MADE_UP, recipe, tmp_path, quiet=True)
    made = read_built(folder)
    assert made.height == len(list(folder.glob("*.png"))) == 16
    for path, kept in made.select("content", "hash").iter_rows():
        assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == kept
    assert planned_series(pictures, recipe)["stimulus"].to_list() == made["stimulus"].to_list()


def test_names_of_files_stay_plain_where_they_are_unique_and_are_told_apart_elsewhere():
    assert file_stems(["a.jpg", "b/c.jpg"]) == {"a.jpg": "a-jpg", "b/c.jpg": "b-c-jpg"}
    found = file_stems(["a b", "a.b", "A_B", "c"])
    assert found["c"] == "c" and all(name.lower().startswith("a-b~") for name in list(found.values())[:3])
    assert len({name.casefold() for name in found.values()}) == 4  # also where disks know no case
    for name in ("a b", "a.b"):  # nobody takes the name that another got
        assert len({*file_stems(["a b", "a.b", found[name]]).values()}) == 3


def test_a_folder_whose_names_were_unique_is_found_again_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    recipe = Recipe(("gender",), placebo=False)
    one, two = (check_pictures(openpeople_pictures(("studio_portrait",))).head(2) for _ in range(2))
    two = two.with_columns(picture=pl.Series(["p/1.jpg", "p-1.jpg"]))
    names = [build_name(pictures, MADE_UP, recipe) for pictures in (one, two)]
    # As names of files were made before: alike for both.
    monkeypatch.setattr("portrayal_faces.series.build.file_stems", lambda told: {x: plain_stem(x) for x in told})
    before = [build_name(pictures, MADE_UP, recipe) for pictures in (one, two)]
    assert names[0] == before[0] and names[1] != before[1]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a.png,,", "b.png,,", "a.png,,"], "lists 'a.png' twice, in rows 1 and 3 below the header"),
        (["a.png,first,", "./a.png,second,"], "lists 'a.png' twice, in rows 1 and 2"),
        (["a.png,anna,", "b.png,anna,"], "calls two files 'anna', in rows 1 and 2"),
        ([], "has no rows below its header"),
    ],
)
def test_a_picture_listed_twice_is_refused_by_its_rows(tmp_path: Path, rows: list[str], said: str):
    table = tmp_path / "pictures.csv"
    table.write_text("\n".join(["file,picture,age,source,consent", *(f"{row},mine,signed" for row in rows)]) + "\n")
    with pytest.raises(PortrayalError, match=said):
        read_pictures(table)
    with pytest.raises(PortrayalError, match=said):
        make_face_series(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_picture_is_named(tmp_path: Path):
    (tmp_path / "pictures.csv").write_text("file,source,consent\nnowhere.png,mine,signed\n")
    with pytest.raises(PortrayalError, match=r"'nowhere\.png' is not at"):
        build(read_pictures(tmp_path / "pictures.csv"), MADE_UP, Recipe(), tmp_path / "out")


@pytest.mark.parametrize("column", ["source", "license", "consent", "person"])
def test_another_word_about_a_picture_is_another_build(tmp_path: Path, column: str):
    (tmp_path / "a.png").write_bytes(b"one")
    (tmp_path / "pictures.csv").write_text("file,source,consent\na.png,mine,generated\n")
    pictures, model = read_pictures(tmp_path / "pictures.csv"), MADE_UP
    first = build(pictures, model, Recipe(), tmp_path / "out")
    assert build(pictures.with_columns(pl.lit("other").alias(column)), model, Recipe(), tmp_path / "out") != first
    (tmp_path / "a.png").write_bytes(b"two")  # as long as before
    assert build(pictures, model, Recipe(), tmp_path / "out") != first


def reading(person: str, original: float, lower: float, upper: float) -> Readings:
    """A series of three steps whose embeddings are numbers on a line."""
    vectors = np.array([[original], [lower], [original], [upper]])
    return Readings("gender", np.array([-1.0, 0, 1]), np.zeros(3), np.zeros(3), 0, vectors, person)


def test_a_face_is_itself_where_the_nearest_original_shows_the_same_person():
    # a's two originals lie at 0 and 1, b's at 10. One step of a at 0.9 is nearer to a's other picture: still a. b's lower step at 4 is
    # nearer to a's 1 than to 10: not b any more.
    found = themselves([reading("a", 0, 0.9, 0), reading("a", 1, 1, 1), reading("b", 10, 4, 11)])
    assert found.tolist() == [[True, True], [True, True], [False, True]]
    nobody = themselves([reading("", 0, 0.9, 0), reading("", 1, 1, 1)])
    assert nobody.tolist() == [[False, True], [True, True]]  # nobody says that they show the same person


def test_race_is_judged_by_the_judge_of_its_poles_whichever_comes_first(monkeypatch: pytest.MonkeyPatch):
    from portrayal_faces.series.judges import Judge

    # P(second) of embeddings -9, 0, 9 is about 0, .5 and 1.
    judge = Judge(np.array([1.0]), 0.0, 100, 97)
    monkeypatch.setattr("portrayal_faces.series.checks.judges", lambda: {"White to Black": judge})

    def moves(poles: tuple[str, str], low: float, high: float) -> dict[str, Any]:
        vectors = np.array([[0.0], [low], [0.0], [high]])
        read = Readings("race", np.array([-1.0, 0, 1]), np.zeros(3), np.zeros(3), 0, vectors, "a", poles)
        return checks_table([read, read]).filter(pl.col("check") == "perceived race moves").row(0, named=True)

    there, back = ("White", "Black"), ("Black", "White")
    assert moves(there, -9, 9)["value"] == pytest.approx(1, abs=1e-3) and moves(there, -9, 9)["passed"]
    assert moves(back, 9, -9)["passed"] and not moves(back, -9, 9)["passed"]
    other = moves(("White", "East Asian"), -9, 9)
    assert other["passed"] is None and "no judge of White and East Asian" in other["note"]

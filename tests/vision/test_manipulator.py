"""The model that ships, on people who do not exist: the cue moves, the rest stays, nobody young or without consent."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from portrayal import plan_text
from portrayal.errors import PortrayalError
from portrayal.vision.faces.build import (
    CHECKS,
    LEFT_OUT,
    MANIFEST,
    UNREADABLE,
    YOUNG,
    Recipe,
    build,
    open_shrunk,
    read_built,
)
from portrayal.vision.faces.checks import COLUMNS, checks_table, failures, monotone, read_series
from portrayal.vision.faces.model import SHIPPED, open_manipulator
from portrayal.vision.faces.series import Series, make_series
from portrayal.vision.faces.sources import (
    check_pictures,
    generated_people,
    openpeople_pictures,
    read_pictures,
)
from portrayal.vision.faces.suitability import Inspection, inspect_face


@pytest.fixture(scope="module")
def woman() -> tuple[Image.Image, Inspection]:
    assets = {name: folder for name, folder, _ in generated_people()}["P001"]
    picture = open_shrunk(assets / "studio_portrait.jpg", 256)
    return picture, inspect_face(picture)


@pytest.fixture(scope="module")
def series(woman: tuple[Image.Image, Inspection]) -> Series:
    return make_series(*woman, open_manipulator(), "gender")


def test_perceived_gender_follows_the_value(series: Series):
    read = read_series(series, identity=False)
    assert read.female[0] - read.female[-1] > 0.5
    assert monotone(read.female[None], falling=True).all()
    assert abs(read.age[-1] - read.age[0]) < 8


def test_outside_the_region_every_bit_stays(series: Series):
    original = np.asarray(series.original)
    for picture in series.pictures:
        made = np.asarray(picture)
        assert (made[~series.region] == original[~series.region]).all()
    assert (np.asarray(series.pictures[0]) != np.asarray(series.pictures[-1]))[series.region].any()


def test_an_edit_towards_where_a_face_is_already_is_exactly_nothing(woman: tuple[Image.Image, Inspection]):
    manipulator = open_manipulator()
    code, start = manipulator.encode(np.asarray(woman[1].aligned))
    assert np.abs(manipulator.edits(code, start, start[None])).max() < 1e-3


def test_age_outside_adulthood_decodes_as_the_nearest_adult_age(woman: tuple[Image.Image, Inspection]):
    manipulator = open_manipulator()
    code, start = manipulator.encode(np.asarray(woman[1].aligned))
    young, youngest = start.copy(), start.copy()
    young[1], youngest[1] = -5.0, -1.0
    np.testing.assert_array_equal(
        manipulator.decode(code, young[None]), manipulator.decode(code, youngest[None])
    )


def test_no_series_of_age_or_of_a_face_with_a_reason_against_it(woman: tuple[Image.Image, Inspection]):
    with pytest.raises(PortrayalError, match="never varied"):
        make_series(*woman, open_manipulator(), "age")
    with pytest.raises(PortrayalError, match="puts the person under 20"):
        make_series(woman[0], Inspection(woman[1].face, 1, "not adult"), open_manipulator(), "gender")
    with pytest.raises(PortrayalError, match="no face was found"):
        make_series(woman[0], Inspection(None, 0, "no face"), open_manipulator(), "gender")


def test_a_failed_check_is_a_warning(series: Series):
    still = Series(
        "gender", series.values, [series.original] * 7, series.original, series.face, series.region
    )
    table = checks_table([read_series(still, identity=False)] * 2)
    assert any("perceived gender moves" in text for text in failures(table))
    identity = table.filter(table["check"] == "identity stays").row(0, named=True)
    assert identity["passed"] is None and "not done" in identity["note"]  # never passes silently
    assert any(
        text.startswith("Manipulation check not done: identity stays (gender): needs")
        for text in failures(table)
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


def test_a_probe_far_above_chance_is_a_warning(series: Series):
    page = {"checks": {"probe": {"right": 80, "n": 100, "chance": 0.5}}}
    table = checks_table([read_series(series, identity=False)] * 2, page)
    assert any("latent code" in text for text in failures(table))


def test_the_model_is_small_and_has_a_card():
    assert sum(path.stat().st_size for path in SHIPPED.glob("*.onnx")) <= 16 * 2**20
    card = (SHIPPED / "CARD.md").read_text(encoding="utf-8")
    page = json.loads((SHIPPED / "model.json").read_text(encoding="utf-8"))
    assert "FairFace" in card and "Where it fails" in card
    assert page["checks"]["date"] in card


def test_series_are_made_once_and_named(tmp_path: Path):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(1)
    recipe = Recipe(("gender",), placebo=False, size=192)
    folder = build(pictures, open_manipulator(), recipe, tmp_path)
    made = (folder / MANIFEST).stat().st_mtime_ns
    assert len(list(folder.glob("*.png"))) == 8 and (folder / CHECKS).exists()
    assert build(pictures, open_manipulator(), recipe, tmp_path) == folder
    assert (folder / MANIFEST).stat().st_mtime_ns == made


def test_series_are_made_once_whatever_the_path_looks_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "study").mkdir()
    openpeople_file = openpeople_pictures(("studio_portrait",))["file"][0]
    with Image.open(openpeople_file) as portrait:
        portrait.resize((200, 200)).save(tmp_path / "study" / "a.png")
    (tmp_path / "study" / "pictures.csv").write_text("file,source,consent,age\na.png,made,generated,30\n")
    (tmp_path / "link").symlink_to(tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    made = []
    monkeypatch.setattr(
        "portrayal.vision.faces.build.make_series",
        lambda *asked, **rest: made.append(1) or make_series(*asked, **rest),
    )
    names, recipe = (
        ("study", "./study/", "study/../study", str(tmp_path / "study"), "link"),
        Recipe(("gender",), placebo=False),
    )
    outs = (tmp_path / "out", Path("out"), Path("./out/"))
    found = {
        build(
            read_pictures(Path(name) / "pictures.csv"), open_manipulator(), recipe, out, quiet=True
        ).absolute()
        for name in names
        for out in outs
    }
    assert {path.resolve() for path in found} == {next(iter(found)).resolve()} and len(made) == 1


def test_a_build_that_was_broken_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(3)
    recipe, made = Recipe(("gender",), placebo=False, size=192), []

    def stubborn(*asked: object, **rest: object) -> Series:
        made.append(asked)
        if len(made) == 3:
            raise KeyboardInterrupt
        return make_series(*asked, **rest)

    monkeypatch.setattr("portrayal.vision.faces.build.make_series", stubborn)
    with pytest.raises(KeyboardInterrupt):
        build(pictures, open_manipulator(), recipe, tmp_path / "broken", quiet=True)
    whole = build(pictures, open_manipulator(), recipe, tmp_path / "broken", quiet=True)
    assert len(made) == 4  # two, the one that broke off, and that one again
    at_once = build(pictures, open_manipulator(), recipe, tmp_path / "once", quiet=True)
    for name in (MANIFEST, CHECKS, LEFT_OUT):
        assert pl.read_parquet(whole / name).equals(pl.read_parquet(at_once / name))
    assert not list(whole.glob("*.done.json"))


def test_made_series_are_found_where_their_folder_was_moved(tmp_path: Path):
    pictures = check_pictures(openpeople_pictures(("studio_portrait",))).head(1)
    folder = build(
        pictures,
        open_manipulator(),
        Recipe(("gender",), placebo=False, size=192),
        tmp_path / "here",
        quiet=True,
    )
    (tmp_path / "here").rename(tmp_path / "there")
    assert all(Path(path).is_file() for path in read_built(tmp_path / "there" / folder.name)["content"])


def test_a_plan_makes_no_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "study.toml").write_text(
        'name = "planned"\naudit = "counterfactuals"\n[counterfactuals]\nkinds = ["studio_portrait"]\n'
        'poles = [["White", "Black"], ["White", "East Asian"]]\n[[systems]]\nname = "phantom"\nuse = "phantom:counterfactuals"\n'
    )
    for name in ("make_series", "inspect_face"):
        monkeypatch.setattr(
            f"portrayal.vision.faces.build.{name}", lambda *asked, **rest: pytest.fail("made")
        )
    told = plan_text(tmp_path / "study.toml")
    # Ten people, of each a series of 7, two of 5 and a placebo of 7, with the unedited photograph of each: 8 + 6 + 6 + 8.
    assert "planned: 280 stimuli" in told and "280 calls" in told and "are not made yet" in told
    assert not (tmp_path / "cache").exists()


def test_whoever_is_labelled_young_and_what_is_unreadable_is_left_out_by_name(tmp_path: Path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "pictures.csv").write_text(
        "file,source,consent,age\nbroken.png,mine,signed,18-25\nbroken.png,mine,signed,30\n"
    )
    folder = build(read_pictures(tmp_path / "pictures.csv"), open_manipulator(), Recipe(), tmp_path / "out")
    left_out = pl.read_parquet(folder / LEFT_OUT)
    assert left_out["reason"].to_list() == [YOUNG, UNREADABLE] and left_out["left_out"].all()
    assert pl.read_parquet(folder / MANIFEST).is_empty()


def test_a_missing_picture_is_named(tmp_path: Path):
    (tmp_path / "pictures.csv").write_text("file,source,consent\nnowhere.png,mine,signed\n")
    with pytest.raises(PortrayalError, match=r"'nowhere\.png' is not at"):
        build(read_pictures(tmp_path / "pictures.csv"), open_manipulator(), Recipe(), tmp_path / "out")


@pytest.mark.parametrize("column", ["source", "license", "consent", "person"])
def test_another_word_about_a_picture_is_another_build(tmp_path: Path, column: str):
    (tmp_path / "a.png").write_bytes(b"one")
    (tmp_path / "pictures.csv").write_text("file,source,consent\na.png,mine,generated\n")
    pictures, model = read_pictures(tmp_path / "pictures.csv"), open_manipulator()
    first = build(pictures, model, Recipe(), tmp_path / "out")
    assert (
        build(pictures.with_columns(pl.lit("other").alias(column)), model, Recipe(), tmp_path / "out")
        != first
    )
    (tmp_path / "a.png").write_bytes(b"two")  # as long as before
    assert build(pictures, model, Recipe(), tmp_path / "out") != first


def test_a_folder_without_a_model_is_named(tmp_path: Path):
    with pytest.raises(PortrayalError, match=r"Expected encoder\.onnx"):
        open_manipulator(str(tmp_path))


def test_identity_is_held_against_somebody_else():
    # Two pictures of one person and one of another: a picture is never compared with the same person's other one.
    from portrayal.vision.faces.checks import _other_person

    assert _other_person(["a", "a", "b"]) == [2, 2, 0]
    assert _other_person(["", "", ""]) == [1, 2, 0]

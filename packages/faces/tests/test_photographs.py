"""Series of photographs, of people who do not exist: outside the face nothing changes, age never does, refusals are one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from phantom_maker import MADE_UP
from portrayal import make_face_series
from portrayal.cli.main import main
from portrayal.errors import PortrayalError
from portrayal.pictures.images import generated_people, open_shrunk
from portrayal_faces.photographs.model import CHOSEN, FOLDER, MISSED, open_model
from portrayal_faces.photographs.placebo import placebo_edits
from portrayal_faces.photographs.series import face_mask
from portrayal_faces.series.build import Recipe
from portrayal_faces.series.series import Series
from portrayal_faces.series.suitability import Inspection, inspect_face

POLES = ("White", "Black")


@pytest.fixture(scope="module")
def woman() -> tuple[Image.Image, Inspection]:
    assets = {name: folder for name, folder, _ in generated_people()}["P001"]
    picture = open_shrunk(assets / "studio_portrait.jpg", 256)
    return picture, inspect_face(picture)


@pytest.fixture(scope="module")
def series(woman: tuple[Image.Image, Inspection]) -> Series:
    return MADE_UP.series(*woman, ("gender",))


def test_outside_the_mask_every_step_is_the_photograph_bit_for_bit(series: Series):
    assert series.values.tolist() == pytest.approx([-2, -4 / 3, -2 / 3, 0, 2 / 3, 4 / 3, 2])
    original = np.asarray(series.original)
    for picture in series.pictures:
        made = np.asarray(picture)
        assert (made[~series.region] == original[~series.region]).all()
    assert (np.asarray(series.pictures[3]) == original).all()  # this maker changes nothing at 0
    # Well inside the mask four units of ten levels lie between the ends; hair and wall, which it brightens too, got none of it.
    ends = np.asarray(series.pictures[6], int) - np.asarray(series.pictures[0], int)
    assert ends[series.region].max() == 40 and 0.05 < series.region.mean() < 0.6


def test_the_mask_holds_the_face_and_ends_before_the_frame(series: Series):
    rows_and_columns = np.argwhere(series.region)
    landmarks = series.landmarks[:, ::-1]
    assert (landmarks.min(0) > rows_and_columns.min(0)).all()
    assert (landmarks.max(0) < rows_and_columns.max(0)).all()
    assert not series.region[:, 0].any() and not series.region[0].any()


def test_the_mask_has_faded_where_the_aligned_square_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("portrayal_faces.photographs.series.parsed", lambda *_: np.ones((1, 256, 256)))
    mask = face_mask(np.zeros((256, 256, 3), np.uint8))
    assert (mask[[0, -1]] == 0).all() and (mask[:, [0, -1]] == 0).all() and mask[128, 128] == 1
    assert np.abs(np.diff(mask, axis=0)).max() < 0.2  # nowhere a line


def test_without_the_parser_more_than_the_face_may_change(woman: tuple[Image.Image, Inspection], series: Series):
    bare = MADE_UP.series(*woman, ("gender",), masked=False)
    assert bare.region.mean() > series.region.mean() and bare.region[series.region].all()


@pytest.mark.parametrize("axis", [("gender",), ("race", "White", "East Asian"), ("placebo",)])
def test_what_ships_changes_the_face_and_nothing_else(woman: tuple[Image.Image, Inspection], axis: tuple[str, ...]):
    made = open_model().series(*woman, axis)
    original = np.asarray(made.original)
    stack = np.stack([np.asarray(picture) for picture in made.pictures])
    assert (stack[:, ~made.region] == original[~made.region]).all()
    assert (stack[0] != stack[-1])[made.region].any()
    again = open_model().series(*woman, axis)
    assert all(one.tobytes() == two.tobytes() for one, two in zip(made.pictures, again.pictures, strict=True))


@pytest.mark.parametrize("pair", [("Black", "East Asian"), ("East Asian", "Black")])
def test_a_pair_whose_check_what_ships_misses_is_refused_and_a_maker_of_ones_own_is_not(pair) -> None:
    """Along it perceived age goes along: the card says by how much."""
    told = json.loads((FOLDER / "card.json").read_text(encoding="utf-8"))
    missed = {
        frozenset(cue.split(" to ")): row for cue, row in told["checks"]["means=means.npz"].items()
        if cue != "gender" and abs(row["years"]) > told["needs"]["years"]
    }  # fmt: skip
    assert set(missed) == set(MISSED)  # what is refused is what misses, and nothing else
    with pytest.raises(PortrayalError, match="are not changed between .* .perceived age goes along; see docs/counterf"):
        open_model().require([("race", *pair)])
    open_model().require([("race", "White", "Black"), ("race", "East Asian", "White"), ("gender",)])
    open_model(FOLDER / "means.npz").require([("race", *pair)])


GREY = np.full((64, 64, 3), 128.0)


def test_a_placebo_is_as_large_at_every_step_and_orthogonal_to_the_axis():
    edits = np.cumsum(np.random.default_rng(0).normal(0, 4, (5, 64, 64, 3)), axis=0)
    mask = np.zeros((64, 64))
    mask[16:48, 16:48] = 1
    made, axis = placebo_edits(GREY, edits, mask, 3) - edits[2], edits - edits[2]
    inside = (slice(None), slice(16, 48), slice(16, 48))
    for place in (0, 1, 3, 4):
        one, other = made[inside][place], axis[inside][place]
        assert np.mean(one**2) == pytest.approx(np.mean(other**2))
        assert abs(np.mean(one * other)) < 1e-9
    assert (made[2] == 0).all()
    assert (placebo_edits(GREY, np.zeros_like(edits), mask, 3) == 0).all()  # of nothing, nothing


def test_a_placebo_is_as_large_on_a_face_that_is_nearly_black():
    # The axis lightens by 10 levels. Half of the placebo would darken, and there are only 2 levels to go.
    edits = np.stack([np.full((64, 64, 3), value) for value in (0.0, 0.0, 10.0)])
    made = placebo_edits(np.full((64, 64, 3), 2.0), edits, np.ones((64, 64)), 0)[2]
    assert made.min() >= -2 and np.sqrt(np.mean(made**2)) == pytest.approx(10, rel=0.02)


def test_a_placebo_follows_from_its_seed_and_its_sides_are_no_mirror_images():
    line = np.arange(-2.0, 3)[:, None, None, None] * np.ones((1, 64, 64, 3))
    made = placebo_edits(GREY, line, np.ones((64, 64)), 0)
    assert (made == placebo_edits(GREY, line, np.ones((64, 64)), 0)).all()
    assert (made != placebo_edits(GREY, line, np.ones((64, 64)), 1)).any()
    assert np.abs(made[0] + made[4]).mean() > 0.5  # mirror images would sum to 0


def test_every_axis_has_a_placebo_of_its_own_with_its_poles_and_its_steps(woman: tuple[Image.Image, Inspection]):
    other = ("White", "East Asian")
    axes = Recipe(("race", "gender"), (POLES, other)).axes()
    assert axes == [
        ("race", *POLES), ("race", *other), ("gender",), ("placebo", *POLES), ("placebo", *other), ("placebo",),
    ]  # fmt: skip
    assert Recipe(("race",), (POLES,), placebo=False).axes() == [("race", *POLES)]
    made = MADE_UP.series(*woman, ("placebo", *POLES))
    assert len(made.values) == 5 and made.poles == POLES


def test_no_series_of_age_or_of_a_face_with_a_reason_against_it(woman: tuple[Image.Image, Inspection]):
    assert set(CHOSEN) == {"gender", "race"}
    for model in (MADE_UP, open_model()):
        with pytest.raises(PortrayalError, match="never varied"):
            model.series(*woman, ("age",))
        with pytest.raises(PortrayalError, match="never varied"):
            model.changed(np.zeros((256, 256, 3), np.uint8), "age", [0.0])
        with pytest.raises(PortrayalError, match="puts the person under 20"):
            model.series(woman[0], Inspection(woman[1].face, 1, "not adult"), ("gender",))
        with pytest.raises(PortrayalError, match="no face was found"):
            model.series(woman[0], Inspection(None, 0, "no face"), ("gender",))


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        (("age",), "never varied"),
        (("race", "White", "Indian"), "Known: gender, race White to Black"),
        (("race",), "Known: gender"),
        (("gender", "White", "Black"), "Known: gender"),
    ],
)
def test_an_axis_nobody_learnt_is_refused(axis: tuple[str, ...], message: str):
    with pytest.raises(PortrayalError, match=message) as refused:
        open_model().require([axis])
    assert "\n" not in str(refused.value)


def test_the_command_refuses_in_one_line_and_makes_nothing(tmp_path: Path):
    table, out = tmp_path / "pictures.csv", tmp_path / "out"
    table.write_text("file,source,consent\na.png,mine,\n")
    asked: list[tuple[dict[str, Any], str]] = [
        ({}, "has no consent entry"),
        ({"attributes": ["age"]}, "never varied"),
        ({"attributes": []}, "Expected gender, race or both"),
        ({"poles": ("White", "Indian")}, "not changed along 'race White to Indian'"),
        ({"poles": ("White", "White")}, "two different poles"),
        ({"model": tmp_path}, "no model of photographs"),
        ({"model": tmp_path / "gone.onnx"}, "there is no file"),
    ]
    for settings, message in asked:
        with pytest.raises(PortrayalError, match=message) as refused:
            make_face_series(table, out, **settings)
        assert "\n" not in str(refused.value) and not out.exists()


def test_the_command_says_which_checks_were_missed_or_not_judged(
    tmp_path: Path, woman: tuple[Image.Image, Inspection], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    """It said how many pictures there are and nothing else, whatever the checks had found."""
    woman[0].save(tmp_path / "a.png")
    (tmp_path / "pictures.csv").write_text("file,source,consent,age\na.png,made,generated,30\n")
    monkeypatch.setattr("portrayal_faces.photographs.apply.open_model", lambda path: MADE_UP)
    words = [str(tmp_path / "pictures.csv"), "--out", str(tmp_path / "out"), "--size", "256"]
    for _ in range(2):  # made, and found made
        with pytest.raises(SystemExit) as ended:
            main(["faces", "apply", *words, "--attribute", "gender", "--attribute", "gender"])
        first, *said = capsys.readouterr().out.splitlines()
        assert not ended.value.code and first.startswith("8 pictures in")
        checks = pl.read_parquet(next((tmp_path / "out").glob("*/checks.parquet")))
        missed = checks.filter(~pl.col("passed"))["check"].to_list()
        assert "perceived gender moves" in missed and len(said) == len(missed) + 1
        for check, line in zip(missed, said, strict=False):
            assert line.startswith(f"Manipulation check failed: {check} (gender): ") and ", needs " in line
        assert said[-1].startswith("Manipulation check not done: identity stays (gender): needs")


def test_poles_may_have_spaces_after_their_comma(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    monkeypatch.setattr("portrayal.make_face_series", lambda *given: asked.append(given) or "made")
    with pytest.raises(SystemExit):
        main(["faces", "apply", "pictures.csv", "--poles", " White, East Asian "])
    assert asked[0][3] == ["White", "East Asian"]


def test_what_ships_is_small_and_has_a_card():
    assert max(path.stat().st_size for path in FOLDER.iterdir()) <= 15_000_000
    told = json.loads((FOLDER / "card.json").read_text(encoding="utf-8"))
    page = (FOLDER / "CARD.md").read_text(encoding="utf-8")
    assert told["makers"] == CHOSEN and "**Not for**" in page and "consent" in page

"""Occupation scenes: only the face changes along a series, light is the place's alone, and the audit reads what was composed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from audits.counterfactuals.drawn_series import draw_folder
from portrayal import compose_scenes
from portrayal.cli.main import main
from portrayal.errors import PortrayalError
from portrayal.pictures.series.folder import read_folder
from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.studio import PARSED, SHOULDERS, SIDE
from portrayal_faces.scenes.scene import Scene, Seen, compose_scene, fits, light_of

FACE = (slice(80, 180), slice(80, 180))
random = np.random.default_rng(4)
PLACE = random.integers(0, 256, (200, 300, 3), dtype=np.uint8)


def person(left: int = 40, right: int = 216, top: int = 30) -> np.ndarray:
    """Return a head between two columns, and shoulders over the whole width."""
    found = np.zeros((SIDE, SIDE), np.float32)
    found[top:, left:right] = 1
    found[round(0.8 * SIDE) :] = 1
    return found


def faces(count: int) -> np.ndarray:
    found = np.zeros((count, SIDE, SIDE), np.float32)
    found[(slice(None), *FACE)] = 1
    return found


def look(pictures: np.ndarray, kind: str) -> np.ndarray:
    return faces(len(pictures)) if kind == PARSED[0] else person()[None]


def noisy_series(steps: int = 3, side: int = 64) -> np.ndarray:
    """Return pictures that differ everywhere, as files do that were compressed one by one."""
    return random.integers(0, 256, (steps, side, side, 3), dtype=np.uint8)


def test_outside_the_face_all_steps_are_equal_bit_for_bit() -> None:
    found = list(compose_scene(Seen(noisy_series(5), 2, faces(5), person()), Scene("office", PLACE)))
    differ = (np.stack(found) != found[2]).any(axis=(0, 3))
    # a portrait of .8 x 200 = 160 pixels from column 70 and row 40 on: the face is at 80 / 256 to 180 / 256 of it
    rows, columns = np.flatnonzero(differ.any(axis=1)), np.flatnonzero(differ.any(axis=0))
    assert rows.min() >= 40 + 49 and rows.max() <= 40 + 113
    assert columns.min() >= 70 + 49 and columns.max() <= 70 + 113
    assert differ[40 + 60 : 40 + 100, 70 + 60 : 70 + 100].mean() > 0.99  # and there is a change inside


def test_around_a_person_the_place_is_itself() -> None:
    found = next(compose_scene(Seen(noisy_series(1), 0, faces(1), person()), Scene("office", PLACE)))
    assert (found[:40] == PLACE[:40]).all() and (found[:120, :90] == PLACE[:120, :90]).all()
    # shoulders go on to both sides: .2 x 160 = 32 rows of them, falling by .6 a pixel, end 53 pixels out: 160 + 2 x 53
    assert (found[-1] != PLACE[-1]).any(axis=1).sum() == pytest.approx(266, abs=4)


@pytest.mark.parametrize(
    ("head", "side"), [({"left": 0}, slice(0, 160)), ({"right": SIDE}, slice(140, 300))], ids=["left", "right"]
)
def test_who_is_cut_off_at_a_side_stands_at_that_edge(head: dict[str, int], side: slice) -> None:
    found = next(compose_scene(Seen(noisy_series(1), 0, faces(1), person(**head)), Scene("office", PLACE)))
    changed = np.flatnonzero((found[100] != PLACE[100]).any(axis=1))
    assert side.start <= changed.min() and changed.max() < side.stop


def test_hair_cut_off_above_stays_at_the_upper_edge_and_at_both_sides_nobody_fits() -> None:
    found = next(compose_scene(Seen(noisy_series(1), 0, faces(1), person(top=0)), Scene("office", PLACE)))
    assert (found[0] != PLACE[0]).any()
    assert fits(person()) and fits(person(left=0)) and not fits(person(left=0, right=SIDE))
    assert round(SHOULDERS * SIDE) < round(0.8 * SIDE)  # shoulders alone are nothing to leave out


def test_light_is_the_places_alone_by_hand() -> None:
    # (118 / 118) ** .2 = 1; (236 / 118) ** .2 = 1.149; (0 / 118) ** .2 = 0, bounded by .85
    place = np.tile([118.0, 236.0, 0.0], (2, 2, 1))
    assert light_of(place) == pytest.approx([1, 2**0.2, 0.85])


@pytest.fixture
def places(tmp_path: Path) -> Path:
    folder = tmp_path / "places"
    folder.mkdir()
    for name in ("office", "garage"):
        Image.fromarray(PLACE).save(folder / f"{name}.png")
    return folder


def test_the_audit_reads_scenes_of_a_drawn_folder(tmp_path: Path, places: Path) -> None:
    (tmp_path / "series").mkdir()
    series = draw_folder(tmp_path / "series", people=3, pairs=[("White", "Black")])
    said = compose_scenes(series, places, tmp_path / "out", 128, people=2, quiet=True, look=look)
    # two people, two places: gender 7, race 5, placebo 7
    assert said.startswith("76 pictures of 2 people in 2 place(s)") and "0 of 6 series left out" in said
    found = read_folder(tmp_path / "out").stimuli
    assert found.height == 76 and found["person"].n_unique() == 2 and found["picture"].n_unique() == 4
    assert set(found["start"].drop_nulls()) >= {"female", "male"}
    told = json.loads((tmp_path / "out" / MANIFEST).read_text())["pictures"]
    assert {one["scene"] for one in told} == {"office", "garage"} and {one["age"] for one in told} == {"30-39"}
    with Image.open(tmp_path / "out" / told[0]["file"]) as picture:
        assert picture.size == (192, 128)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["series", "--places", "nowhere"], "no place in nowhere"),
        (["nowhere", "--places", "places"], "no series in nowhere"),
        (["series", "--places", "places", "--size", "20"], "size is 20"),
        (["series", "--places", "places", "--people", "0"], "0 people"),
        (["series", "--places", "places", "--out", "places"], "was not made by Portrayal"),
        (["wide", "--places", "places"], "Expected square pictures"),
        (["whole", "--places", "places"], "no series of kind 'face only'"),
        (["places", "--places", "twins"], "two places are called 'office'"),
    ],
)
def test_wrong_wishes_end_in_one_line(
    tmp_path: Path, places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name in ("series", "wide", "whole", "twins"):
        (tmp_path / name).mkdir()
    draw_folder(tmp_path / "series", people=1, pairs=[])
    draw_folder(tmp_path / "whole", people=1, pairs=[], kinds=["whole"])
    for picture in draw_folder(tmp_path / "wide", people=1, pairs=[]).rglob("*.png"):
        Image.new("RGB", (30, 20)).save(picture)
    for name in ("office.png", "office.jpg"):
        Image.new("RGB", (30, 20)).save(tmp_path / "twins" / name)
    with pytest.raises(SystemExit) as ended:
        main(["faces", "scenes", *words, "--quiet"])
    err = capsys.readouterr().err
    assert ended.value.code == 2 and said in err and len(err.strip().splitlines()) == 1


def test_who_has_no_consent_is_put_nowhere(tmp_path: Path, places: Path) -> None:
    (tmp_path / "series").mkdir()
    series = draw_folder(tmp_path / "series", people=1, pairs=[], consent="")
    with pytest.raises(PortrayalError, match="consent"):
        compose_scenes(series, places, tmp_path / "out", quiet=True, look=look)
    assert not (tmp_path / "out").exists()


def changed(folder: Path, **people: dict[str, str]) -> Path:
    """Say something else of some people of a drawn folder."""
    told = json.loads((folder / MANIFEST).read_text())
    told["people"] = {name: {**said, **people.get(name, {})} for name, said in told["people"].items()}
    (folder / MANIFEST).write_text(json.dumps(told))
    return folder


def test_who_is_left_out_is_told_by_the_reason(tmp_path: Path, places: Path) -> None:
    """It was said that their hair is cut off."""
    (tmp_path / "series").mkdir()
    series = changed(draw_folder(tmp_path / "series", people=2, pairs=[]), p0={"age": "10-19"})
    said = compose_scenes(series, places, tmp_path / "out", 128, quiet=True, look=look)
    assert "of 1 people in 2" in said and said.endswith("\n1 source picture(s) left out: labelled under 20")
    changed(series, p1={"age": "18-25"})
    with pytest.raises(PortrayalError, match=r"is left out: labelled under 20 \(2 source picture") as refused:
        compose_scenes(series, places, tmp_path / "none", quiet=True, look=look)
    assert "hair" not in str(refused.value) and not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["-2", "-1", "0", "1", "3"], "Expected steps symmetric around 0"),
        (["-2", "0", "1"], "Expected steps symmetric around 0"),
        (["-1", "0", "nan"], "nan"),
        (["-1", "1", "2"], "centre at 0"),
        (["-1", "0", "1", "0"], "two pictures at .0.00"),
        ([""], "only the unedited photograph"),
    ],
)
def test_series_that_no_audit_reads_are_refused_before_anything_is_composed(
    tmp_path: Path, places: Path, values: list[str], said: str
) -> None:
    (tmp_path / "series").mkdir()
    rows = ["file,picture,attribute,value,source,consent,age"]
    for place, value in enumerate(values):
        Image.new("RGB", (24, 24)).save(tmp_path / "series" / f"{place}.png")
        rows.append(f"{place}.png,anna,gender,{value},drawn,generated,30-39")
    (tmp_path / "series" / "series.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(PortrayalError, match=said):
        compose_scenes(tmp_path / "series", places, tmp_path / "out", quiet=True, look=look)
    assert not (tmp_path / "out").exists()


def test_people_whose_names_are_nearly_alike_have_scenes_of_their_own(tmp_path: Path, places: Path) -> None:
    (tmp_path / "series").mkdir()
    told = json.loads((draw_folder(tmp_path / "series", people=2, pairs=[]) / MANIFEST).read_text())
    names = {"p0": "a b", "p1": "a_b"}
    for one in told["pictures"]:
        one["person"] = names[one["person"]]
    told["people"] = {names[name]: said for name, said in told["people"].items()}
    (tmp_path / "series" / MANIFEST).write_text(json.dumps(told))
    compose_scenes(tmp_path / "series", places, tmp_path / "out", 128, quiet=True, look=look)
    made = json.loads((tmp_path / "out" / MANIFEST).read_text())["pictures"]
    assert len({one["file"] for one in made}) == len(made) == len(list((tmp_path / "out").rglob("*.webp")))
    assert {one["file"].split("/")[2] for one in made} == {"office", "garage"}

"""Ends along the ways of several compasses, for judges: a folder of each that `faces check` can read, of adults everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from training.generated import whole_looks

from drawn_studio import DrawnStudio
from portrayal.pictures.series.folder import read_folder
from portrayal.pictures.series.manifest import MANIFEST, WHOLE
from portrayal_faces.generator.directions import way_name
from portrayal_faces.generator.generator import draw_noise, map_noise, truncated
from portrayal_faces.generator.readings import COLUMNS
from portrayal_faces.generator.steering import lines
from portrayal_faces.generator.studio import ready_compass


class Aging(DrawnStudio):
    """Reads whoever is drawn third as a child at the ends of gender."""

    def years(self, pictures: np.ndarray) -> np.ndarray:
        ends = np.abs(self.read(pictures)[:, COLUMNS.index("gender, both")]) > 1.5
        return np.where(ends & (np.arange(len(pictures)) == 2), 12.0, 45.0)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Series of two compasses, drawn once; its tests read them only."""
    folder = tmp_path_factory.mktemp("looks")
    with pytest.MonkeyPatch.context() as patched:
        yield draw_looks(folder, patched)


def draw_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    compass = ready_compass()
    styles = [*truncated(map_noise(draw_noise(2, 4)), compass.mean), compass.mean]
    found = [
        {"name": f"p{at}", "age": "45", "gender": "male", "race": "White", "style": one.tolist()}
        for at, one in enumerate(styles)
    ]
    monkeypatch.setattr(whole_looks, "people", lambda *_: found)
    monkeypatch.setattr(whole_looks, "best_device", lambda: (None, "squares"))
    monkeypatch.setattr(whole_looks, "SmallStudio", lambda _: Aging())
    compass.save(tmp_path / "one.npz")
    turned = {
        way_name(line.varied, WHOLE): compass.way(line.varied, line.held, WHOLE) + compass.moves(["yaw"])[0]
        for line in lines()
    }
    replace(compass, ways={**compass.ways, **turned}).save(tmp_path / "two.npz")
    whole_looks.looks(tmp_path / "looks", [tmp_path / "one.npz", tmp_path / "two.npz"], 3, 7, workers=1)
    return tmp_path / "looks"


def test_every_compass_has_a_folder_that_can_be_judged(looked: Path) -> None:
    assert sorted(one.name for one in looked.iterdir()) == ["one", "two"]
    for folder in looked.iterdir():
        told = json.loads((folder / MANIFEST).read_text())
        assert {one["kind"] for one in told["pictures"]} == {WHOLE}
        found = read_folder(folder).stimuli
        assert set(found["value"].to_list()) == {-2.0, 0.0, 2.0}


def test_centres_are_the_same_and_ends_lie_where_each_way_leads(looked: Path) -> None:
    for line in ("gender", "race-White-Black"):
        for file, same in ((f"p0/{line}/+0.00.webp", True), (f"p0/{line}/+2.00.webp", False)):
            one, two = ((looked / name / file).read_bytes() for name in ("one", "two"))
            assert (one == two) == same


def test_two_compasses_of_one_name_are_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="rename one"):
        whole_looks.looks(tmp_path / "looks", [tmp_path / "a" / "c.npz", tmp_path / "b" / "c.npz"], 3, 7, workers=1)
    assert not (tmp_path / "looks").exists()


def test_who_is_read_as_a_child_at_an_end_is_in_no_folder_of_that_cue(looked: Path) -> None:
    for folder in looked.iterdir():
        shown = [(one["attribute"], one["person"]) for one in json.loads((folder / MANIFEST).read_text())["pictures"]]
        assert {who for cue, who in shown if cue == "gender"} == {"p0", "p1"}
        assert not (folder / "p2" / "gender").exists()
        assert {who for cue, who in shown if cue == "race"} == {"p0", "p1", "p2"}

"""Ways of whole series: turned against age and background by what is read, and against nothing else; the judge only looks on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from training.generated import whole_ways

from portrayal.vision.faces.manifest import WHOLE
from portrayal.vision.generator.directions import Compass, find_compass, read_compass, way_name
from portrayal.vision.generator.readings import AGES, BOTH, COLUMNS, places
from portrayal.vision.generator.steering import Line, between, find_centre, lines
from portrayal.vision.generator.studio import ready_compass


class Straight:
    """A studio whose pictures are their readings; its judge sees another age than its readers."""

    def __init__(self) -> None:
        self.slopes = np.random.default_rng(7).normal(size=(512, len(COLUMNS))) / 22

    def render(self, styles: np.ndarray) -> np.ndarray:
        return styles @ self.slopes

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        return pictures

    def read(self, pictures: np.ndarray) -> np.ndarray:
        return pictures

    def years(self, pictures: np.ndarray) -> np.ndarray:
        return 1000 * pictures[:, 0]  # whoever listens to it goes far astray


@pytest.fixture(scope="module")
def found() -> tuple[Straight, Compass, np.ndarray]:
    studio, styles = Straight(), np.random.default_rng(8).normal(size=(4000, 512))
    return studio, find_compass(styles, studio.render(styles), styles.mean(axis=0)), styles[:5]


def drifting(compass: Compass, line: Line) -> Compass:
    """Return a compass whose way of a cue takes age, background and pose along."""
    moves = compass.moves([line.varied, *line.held])
    along = dict.fromkeys((*AGES, "background", "yaw"), 0.2)
    way = moves[0] + sum(size * moves[1 + line.held.index(name)] for name, size in along.items())
    return replace(compass, ways={line.varied: way})


def drift(studio: Straight, compass: Compass, people: np.ndarray, line: Line) -> dict[str, float]:
    centre = find_centre(studio, compass, people, line)  # type: ignore[arg-type]
    low, high = (studio.render(one) for one in between(studio, compass, centre, line, (-2.0, 2.0), WHOLE))  # type: ignore[arg-type]
    moved = (high - low)[:, places(list(line.held))].mean(axis=0)
    return dict(zip(line.held, moved.tolist(), strict=True))


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.varied)
def test_age_and_background_stay_along_a_corrected_way_and_pose_is_left_alone(
    found: tuple[Straight, Compass, np.ndarray], line: Line, capsys: pytest.CaptureFixture[str]
) -> None:
    studio, plain, people = found
    compass = drifting(plain, line)
    before = drift(studio, compass, people, line)
    way = whole_ways.corrected(studio, compass, people, line, turns=3)  # type: ignore[arg-type]
    turned = replace(compass, ways={**compass.ways, way_name(line.varied, WHOLE): way})
    assert whole_ways.corrected(studio, turned, people, line, turns=3) == pytest.approx(way)  # type: ignore[arg-type]
    after = drift(studio, turned, people, line)
    left = 0.5 if line.varied == BOTH else 0.0  # of gender's correction half is taken
    for name in (*AGES, "background"):
        assert abs(before[name]) > 0.5
        assert after[name] == pytest.approx(left * before[name], abs=0.03 * abs(before[name]))
    assert after["yaw"] == pytest.approx(before["yaw"], rel=0.05)
    assert (
        turned.way(line.varied, line.held) == compass.way(line.varied, line.held)
    ).all()  # faces go as before
    assert capsys.readouterr().out.count("judge's years") == 8


def test_the_command_goes_on_after_a_stop_and_keeps_the_ways_of_faces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def corrected(studio: object, compass: Compass, styles: np.ndarray, line: Line, turns: int) -> np.ndarray:
        number = lines().index(line)
        if number == 2 and len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(number)
        return np.full(512, number + turns + styles[0, 0], float)

    monkeypatch.setattr(whole_ways, "people", lambda *_: [{"style": [0.5] * 512}])
    monkeypatch.setattr(whole_ways, "corrected", corrected)
    out = tmp_path / "compass.npz"
    with pytest.raises(KeyboardInterrupt):
        whole_ways.write(out, 1, 0, 1, workers=1)
    assert not out.exists()
    asked.append(-1)  # the plug is in again
    whole_ways.write(out, 1, 0, 1, workers=1)
    assert asked == [0, 1, -1, 2, 3]  # nothing twice
    made, ships = read_compass(out), ready_compass()
    assert list(tmp_path.iterdir()) == [out]
    for number, line in enumerate(lines()):
        assert (made.way(line.varied, line.held, WHOLE) == number + 1.5).all()
        assert (made.way(line.varied, line.held) == ships.way(line.varied, line.held)).all()

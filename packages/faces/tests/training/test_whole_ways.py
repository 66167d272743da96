"""Ways of whole series: turned against what drifts by what is read, and against nothing else; the judge only looks on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training.generated import mouths as measured
from training.generated import whole_ways
from training.generated.mouths import Mouths
from training.generated.whole_ways import FOUND, added

from portrayal.pictures.series.manifest import KINDS, WHOLE
from portrayal_faces.generator.directions import Compass, find_compass, read_compass, way_name
from portrayal_faces.generator.readings import AGES, BOTH, COLUMNS, places
from portrayal_faces.generator.steering import REACH, Centre, Line, Span, between, find_centre, lines, reach, span_of
from portrayal_faces.generator.studio import ready_compass


class Straight:
    """A studio whose pictures are their readings; its judge sees another age than its readers."""

    def __init__(self) -> None:
        random = np.random.default_rng(7)
        self.slopes = random.normal(size=(512, len(COLUMNS))) / 22
        # the corners of mouths, which the reading of mouths tells half of
        self.wide = (self.slopes[:, COLUMNS.index(whole_ways.MOUTH)] + random.normal(size=512) / 22) / 2

    def render(self, styles: np.ndarray) -> np.ndarray:
        return styles @ np.column_stack([self.slopes, 0.1 * self.wide])

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        return pictures

    def read(self, pictures: np.ndarray) -> np.ndarray:
        return pictures[:, :-1]

    def mouths(self, pictures: np.ndarray) -> np.ndarray:
        return pictures[:, -1]

    def years(self, pictures: np.ndarray) -> np.ndarray:
        return 1000 * pictures[:, 0]  # whoever listens to it goes far astray


@pytest.fixture(scope="module")
def found() -> tuple[Straight, Compass, np.ndarray]:
    studio, styles = Straight(), np.random.default_rng(8).normal(size=(4000, 512))
    return studio, find_compass(styles, studio.read(studio.render(styles)), styles.mean(axis=0)), styles[:5]


def drifting(compass: Compass, line: Line) -> Compass:
    """Return a compass whose way of a cue takes age, the other cue, mouth and pose along."""
    moves = compass.moves([line.varied, *line.held])
    along = dict.fromkeys((*AGES, *whole_ways.OTHER_CUE[line.attribute], whole_ways.MOUTH, "yaw"), 0.2)
    way = moves[0] + sum(size * moves[1 + line.held.index(name)] for name, size in along.items())
    return replace(compass, ways={line.varied: way})


def drift(studio: Straight, compass: Compass, people: np.ndarray, line: Line) -> dict[str, float]:
    centre = find_centre(studio, compass, people, line, FOUND[line.attribute].neutral)  # type: ignore[arg-type]
    ends = between(studio, compass, centre, line, (-2.0, 2.0), WHOLE, span=FOUND[line.attribute])  # type: ignore[arg-type]
    low, high = (studio.render(one) for one in ends)
    moved = (high - low)[:, [*places(list(line.held)), -1]].mean(axis=0)
    return dict(zip((*line.held, "corners"), moved.tolist(), strict=True))


@pytest.mark.parametrize("taken", [(1.0, 1.0), (0.0, 0.25), (2.0, 0.75), "as it ships"])
@pytest.mark.parametrize("line", lines(), ids=lambda line: line.varied)
def test_of_what_drifts_as_much_is_taken_off_as_is_asked_and_pose_is_left_alone(
    found: tuple[Straight, Compass, np.ndarray],
    line: Line,
    taken: tuple[float, float] | str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    studio, plain, people = found
    compass, mouths = drifting(plain, line), Mouths(0.05, 2 * studio.wide)
    shares = whole_ways.TAKEN[line.varied] if isinstance(taken, str) else whole_ways.taken_alike(line, *taken)
    before = drift(studio, compass, people, line)
    way = whole_ways.corrected(studio, compass, mouths, people, line, 6, shares)  # type: ignore[arg-type]
    turned = replace(compass, ways={**compass.ways, way_name(line.varied, WHOLE): way})
    again = whole_ways.corrected(studio, turned, mouths, people, line, 6, shares)  # type: ignore[arg-type]
    assert again == pytest.approx(way)  # a second run does not turn twice
    after = drift(studio, turned, people, line)
    steered = (*AGES, *whole_ways.OTHER_CUE[line.attribute])
    left = {name: 1 - shares.get(name, 0.0) for name in steered}  # what is not named is left
    for name, share in {**left, "corners": 0.0, "yaw": 1.0}.items():
        assert abs(before[name]) > (0.02 if name == "corners" else 0.5)
        assert after[name] == pytest.approx(share * before[name], abs=0.06 * abs(before[name]))
    assert abs(after["background"]) < 0.01  # held face by face, along any way
    assert (turned.way(line.varied, line.held) == compass.way(line.varied, line.held)).all()  # faces go as before
    assert capsys.readouterr().out.count("judge's years") == 14


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.varied)
def test_what_is_added_to_a_reading_is_added_for_every_unit_of_the_cue_and_to_nothing_else(
    found: tuple[Straight, Compass, np.ndarray], line: Line
) -> None:
    studio, compass, people = found
    held, sizes = ("years", "wild age"), {"years": 0.1, "wild age": -0.2}
    before = drift(studio, compass, people, line)
    way = compass.way(line.varied, line.held) + added(compass, line, sizes)
    after = drift(studio, replace(compass, ways={way_name(line.varied, WHOLE): way}), people, line)
    units = 2 * FOUND[line.attribute].share * REACH[line.varied]
    for name in line.held:
        if name != "background":  # held face by face
            wanted = units * sizes[name] if name in held else 0.0
            assert after[name] - before[name] == pytest.approx(wanted, abs=0.03)
    assert (added(compass, line, {}) == 0).all()
    with pytest.raises(ValueError, match="yeers"):
        added(compass, line, {"yeers": 1.0})


def test_what_widens_mouths_is_found_where_they_could_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = np.random.default_rng(1).normal(size=512) / 22

    def part(seed: int) -> tuple[np.ndarray, np.ndarray]:
        styles = np.random.default_rng(seed).normal(size=(measured.PART, 512))
        widths = 1.0 + 0.05 * styles @ slopes
        widths[:3] = np.nan  # no face was found
        return styles, widths

    monkeypatch.setattr(measured, "measurer", lambda: part)
    found = measured.find_mouths(seed=3, workers=1)
    assert found.spread == pytest.approx(0.05 * np.linalg.norm(slopes), rel=0.05)
    assert np.corrcoef(found.slopes, slopes)[0, 1] > 0.99
    assert found.wider(np.array([1.0, np.nan, 1.0]), np.array([1.1, 1.2, 1.1])) == pytest.approx(0.1 / found.spread)


@pytest.mark.parametrize("kind", KINDS)
def test_in_whole_series_each_background_stays_and_in_faces_it_is_left_to_the_picture(
    found: tuple[Straight, Compass, np.ndarray], kind: str
) -> None:
    """Along one way for all some backgrounds brighten and others darken by as much: the mean stays, and nobody's does."""
    light = COLUMNS.index("background")

    class Places(Straight):
        def read(self, pictures: np.ndarray) -> np.ndarray:
            read = super().read(pictures).copy()
            read[:, light] += 0.3 * np.sign(read[:, COLUMNS.index("Indian")]) * read[:, COLUMNS.index(BOTH)]
            return read

        def over(self, pictures: np.ndarray, centre: Centre) -> np.ndarray:
            return pictures

    studio, (_, compass, people), line = Places(), found, lines()[0]
    centre = find_centre(studio, compass, people, line, span_of(line, kind).neutral)  # type: ignore[arg-type]
    ends = between(studio, compass, centre, line, (-2.0, -1.0, 1.0, 2.0), kind)  # type: ignore[arg-type]
    read = [studio.read(studio.render(one)) for one in ends]
    moved = np.array([one[:, light] for one in read]) - centre.readings[:, light]
    if kind == WHOLE:
        assert np.abs(moved).max() < 0.06
    else:
        assert np.abs(moved[[0, -1]]).min() > 0.4 and {*np.sign(moved[-1])} == {-1.0, 1.0}
    end = reach(line, kind)
    # Steps are even in what is perceived: of faces in log odds, in whole series in the chance, whose middle is a half.
    chance = (0.5 + 1 / (1 + np.exp(-end))) / 2
    inner = np.log(chance / (1 - chance)) if span_of(line, kind).even_in == "chance" else end / 2
    for one, wanted in zip(read, (-end, -inner, inner, end), strict=True):
        assert one[:, COLUMNS.index(BOTH)] == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("same", [True, False])
def test_what_was_kept_goes_on_only_where_ends_lie_as_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    asked: list[str] = []

    def corrected(*given: Any) -> np.ndarray:
        asked.append(given[4].varied)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return np.zeros(512)

    monkeypatch.setattr(whole_ways, "people", lambda *_: [{"style": [0.5] * 512}])
    monkeypatch.setattr(whole_ways, "find_mouths", lambda *_: Mouths(1.0, np.zeros(512)))
    monkeypatch.setattr(whole_ways, "corrected", corrected)
    with pytest.raises(KeyboardInterrupt):
        whole_ways.write(tmp_path / "compass.npz", 1, 0, 1, 1, {line.varied: {} for line in lines()})
    if not same:
        monkeypatch.setitem(whole_ways.FOUND, "gender", Span(0.5))
    whole_ways.write(tmp_path / "compass.npz", 1, 0, 1, 1, {line.varied: {} for line in lines()})
    assert asked[2:] == [line.varied for line in lines()][1 if same else 0 :]


def test_the_command_goes_on_after_a_stop_and_keeps_the_ways_of_faces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def corrected(*given: Any) -> np.ndarray:
        mouths, styles, line, turns, taken = given[2:]
        number = lines().index(line)
        if number == 2 and len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(number)
        return np.full(512, number + turns + styles[0, 0] + taken["years"] + mouths.spread, float)

    monkeypatch.setattr(whole_ways, "people", lambda *_: [{"style": [0.5] * 512}])
    monkeypatch.setattr(whole_ways, "find_mouths", lambda *_: Mouths(1.0, np.zeros(512)))
    monkeypatch.setattr(whole_ways, "corrected", corrected)
    monkeypatch.setattr(whole_ways, "ADDED", {"White to Black": {"years": 0.5}})
    out, taken = tmp_path / "compass.npz", {line.varied: {"years": 0.25} for line in lines()}
    with pytest.raises(KeyboardInterrupt):
        whole_ways.write(out, 1, 0, 1, 1, taken)
    assert not out.exists()
    asked.append(-1)  # the plug is in again
    whole_ways.write(out, 1, 0, 1, 1, taken)
    assert asked == [0, 1, -1, 2, 3]  # nothing twice
    made, ships = read_compass(out), ready_compass()
    assert list(tmp_path.iterdir()) == [out]
    for number, line in enumerate(lines()):
        way = made.way(line.varied, line.held, WHOLE)
        if line.varied == "White to Black":  # the one that has something added
            older = ships.moves([line.varied, *line.held])[1 + line.held.index("years")]
            assert way == pytest.approx(number + 2.75 + 0.5 * older, abs=1e-6) and np.abs(older).max() > 0.01
        else:
            assert (way == number + 2.75).all()
        assert (made.way(line.varied, line.held) == ships.way(line.varied, line.held)).all()


def test_shares_of_a_file_are_read_and_what_is_no_cue_no_reading_or_no_number_is_named(tmp_path: Path) -> None:
    file = tmp_path / "shares.json"
    file.write_text('{"White to Black": {"years": 1, "wild gender": -0.5}}')
    assert whole_ways.read_shares(file) == {"White to Black": {"years": 1.0, "wild gender": -0.5}}
    for wrong, named in (
        ('{"White to Red": {}}', "'White to Red'"),
        ('{"White to Black": {"shoes": 1}}', "'shoes'"),
        ('{"White to Black": {"years": "all"}}', "'all'"),
        ('{"White to Black": {"years": NaN}}', "nan"),
        ('{"White to Black": {"years": true}}', "True"),
        ('{"White to Black": 1}', "expected {cue"),
        ("[1]", "expected {cue"),
        ("{", "cannot be read as JSON"),
    ):
        file.write_text(wrong)
        with pytest.raises(SystemExit, match=named):
            whole_ways.read_shares(file)
    with pytest.raises(SystemExit, match="No such file"):
        whole_ways.read_shares(tmp_path / "nowhere.json")

"""Strengths of mean faces and their correction for age: by hand, and the whole command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from training.photographs import mean_faces, strengths

from portrayal_faces.generator.readings import AGES, COLUMNS, places
from portrayal_faces.photographs.editor import CUES, SIDE
from portrayal_faces.photographs.means import open_means

MARKS = np.array([[98.0, 120.0], [160.0, 120.0], [129.0, 154.0], [101.0, 185.0], [156.0, 185.0]])


def row(second: float, years: float, themselves: float, far: float, other: float = 0.0) -> dict[str, float]:
    return {"second": second, "years": years, "other": other, "themselves": themselves, "far": far, "n": 9}


def test_of_those_that_pass_with_some_to_spare_the_one_that_changes_people_least_is_taken() -> None:
    rows = {
        "1.1": row(0.65, 0.0, 1.0, 1.0),  # with less than a tenth to spare
        "1.2": row(0.9, 2.45, 1.0, 0.99),
        "1.25": row(0.9, -2.45, 1.0, 0.99),
        "1.3": row(0.9, 0.0, 0.94, 0.98),  # somebody else
        "1.35": row(0.9, 0.0, 1.0, 0.97, other=-0.149),  # gender goes along, all but a hair too far
        "1.4": row(0.67, -2.2, 0.95, 0.9, other=0.13),
        "1.6": row(0.9, 0.0, 1.0, 0.8),
    }
    assert strengths.best(rows) == 1.4


def test_where_none_pass_the_strongest_that_holds_age_and_people_is_taken_or_the_plain_one() -> None:
    rows = {"1.3": row(0.2, 0.1, 1.0, 1.0), "1.45": row(0.61, 1.0, 0.96, 0.7), "1.6": row(0.8, 3.0, 1.0, 1.0)}
    assert strengths.best(rows) == 1.45
    assert strengths.best({"1.6": rows["1.6"]}) == strengths.PLAIN == 1.0


@dataclass
class Person:
    """Somebody of a group, gender and age: the same waves as everybody, lighter or darker."""

    gender: str
    race: str
    age: str
    level: float
    landmarks: np.ndarray

    @property
    def picture(self) -> np.ndarray:
        down, across = np.indices((SIDE, SIDE)) / 9
        return np.repeat((self.level + 20 * np.sin(down) * np.cos(across))[:, :, None], 3, 2)


def test_ages_weigh_alike_in_every_mean_and_the_difference_of_ages_is_theirs() -> None:
    """Black women of 50 and more are rare here: theirs must not count more among them than among others."""
    people = [
        Person(gender, race, age, 100.0 + 40 * (race == "Black") + 20 * (age != "30-39"), MARKS)
        for gender in ("Female", "Male") for race in mean_faces.GROUPS for age in mean_faces.BANDS
        for _ in range(1 if (race, age) == ("Black", "50-59") else 3)
    ]  # fmt: skip
    faces = mean_faces.laid_faces(people, MARKS)  # type: ignore[arg-type]
    found = mean_faces.mean_faces(people, faces)  # type: ignore[arg-type]
    assert {round(float(found["Female", race].mean() - WAVES), 6) for race in ("White", "East Asian")} == {
        round(100 + 20 * 4 / 7, 6)  # 3, 3 and 1 of the three bands
    }
    assert np.allclose(found["Male", "Black"] - found["Male", "White"], 40)
    aged = mean_faces.age_difference(people, faces)  # type: ignore[arg-type]
    assert (aged.colour > 0).all() and np.abs(aged.flow).max() < 0.01


WAVES = Person("", "", "", 0.0, MARKS).picture.mean()


@pytest.fixture
def differences(tmp_path: Path) -> Path:
    """A file of differences without shape: .2 of log odds, and .1 of ages."""
    flow, colour = np.zeros((len(CUES), 2, SIDE, SIDE)), np.full((len(CUES), SIDE, SIDE, 3), 0.2)
    np.savez(
        tmp_path / "means.npz", flow=flow, colour=colour, landmarks=MARKS, strengths=np.ones(len(CUES)),
        age_flow=flow[0], age_colour=colour[0] / 2,
    )  # fmt: skip
    return tmp_path / "means.npz"


def test_as_much_of_age_is_taken_off_as_a_pair_moves_it(differences: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader says a year for every hundredth of log odds; the pair has twice what the difference of ages has."""
    monkeypatch.setattr(strengths, "moved", lambda means, _: means)
    monkeypatch.setattr(
        strengths, "drift", lambda means, asked, line: 100 * float(means.differences["race", line.poles].colour.mean())
    )
    people = [Person("Female", "White", "30-39", 100.0, MARKS)]
    share = strengths.steadying(people, differences, strengths.PAIRS["White to Black"])  # type: ignore[arg-type]
    assert share == pytest.approx(-2.0)
    steadied = strengths.steadied(differences, {"White to Black": share})
    assert np.allclose(steadied.differences["race", ("White", "Black")].colour, 0.0)
    assert np.allclose(steadied.differences["race", ("White", "East Asian")].colour, 0.2)


def test_age_is_steadied_by_the_reader_that_steers_and_not_by_who_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small reader sees 3 and 1 more years at the end than at the beginning, by its two readings of age."""
    monkeypatch.setattr("portrayal.pictures.faces.read_age", lambda *_: pytest.fail("a judge was asked"))
    monkeypatch.setattr(strengths, "read_faces", lambda pair: pair[:, 0, 0, :1] * told / 100)
    told = np.zeros(len(COLUMNS))
    told[places(AGES)] = 3.0, 1.0
    ends = [np.full((SIDE, SIDE, 3), level, np.uint8) for level in (0, 100)]
    asked = [Person("Female", "White", "30-39", 100.0, MARKS)] * 2
    found = strengths.drift(lambda *_: ends, asked, strengths.PAIRS["White to Black"])  # type: ignore[arg-type]
    assert found == pytest.approx(2.0)


def test_the_command_judges_once_keeps_rows_and_writes_differences_that_open(
    differences: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[float] = []
    for name in ("fit_judges", "people", "differing_adults"):
        monkeypatch.setattr(strengths, name, lambda *one, **_: one)
    monkeypatch.setattr(strengths, "steadying", lambda *_: -0.5)
    monkeypatch.setattr(strengths, "moved", lambda _, strength: strength)
    monkeypatch.setattr(
        strengths, "judge", lambda strength, *_: asked.append(strength) or row(strength / 2.3, 0.0, 1.0, 2 - strength)
    )  # fmt: skip
    local, out = differences.parent, differences.parent / "out.npz"
    told = [str(local), str(local), str(differences), str(out)]
    strengths.main([*told, "--pair", "White to Black"])
    assert asked == list(strengths.TRIED) and not out.exists()
    for _ in range(2):
        strengths.main(told)
        assert len(asked) == len(strengths.TRIED) * len(strengths.PAIRS)
    found = open_means(out)
    # 1.6 / 2.3 = .6957 is the first that passes with a tenth to spare.
    assert list(found.strengths.values()) == [1.0, 1.6, 1.6, 1.6]
    assert np.allclose(found.differences["race", ("White", "Black")].colour, 0.15, atol=1e-3)
    assert np.allclose(found.differences["gender", ()].colour, 0.2, atol=1e-3)
    assert capsys.readouterr().out.count("| kept |\n") >= 3

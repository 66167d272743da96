"""Pictures are judged as stored, by the landmarks that others find in the file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from drawn_studio import DrawnStudio
from portrayal.pictures.faces import Face
from portrayal_faces.generator import studio
from portrayal_faces.generator.series import person_series
from portrayal_faces.generator.steering import Effort
from portrayal_faces.generator.stored import as_stored, webp
from portrayal_faces.generator.studio import LANDMARKS, fewer_years, ready_compass

QUICK = Effort(rounds=1, shares=(-1.0, 1.0), tries=1, quiet_rounds=1, scales=(1.0,))


def test_pictures_are_seen_as_they_come_out_of_their_files() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    seen = as_stored(noise)
    assert np.array_equal(seen[1], np.asarray(Image.open(io.BytesIO(webp(noise[1]))).convert("RGB")))
    assert np.abs(seen.astype(int) - noise).mean() > 1  # of noise encoding leaves its mark


class Remembering(DrawnStudio):
    """Keeps what it was asked the years of."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[np.ndarray] = []

    def years(self, pictures: np.ndarray) -> np.ndarray:
        self.judged.append(pictures)
        return super().years(pictures)


def test_the_years_of_a_series_are_those_of_its_files() -> None:
    asked, compass = Remembering(), ready_compass()
    random = np.random.default_rng(0)
    first = next(person_series(asked, compass, compass.mean, ("gender",), 256, random, QUICK))
    assert np.array_equal(asked.judged[-1], as_stored(first.pictures))
    assert not np.array_equal(asked.judged[-1], first.pictures)


@pytest.mark.parametrize(("found", "years"), [([], [31, 31]), ([3.0], [24, 24]), ([-3.0], [31, 31])])
def test_the_fewer_years_count_of_two_landmarks(
    monkeypatch: pytest.MonkeyPatch, found: list[float], years: list[float]
) -> None:
    """By the generator's own landmarks faces are read as 31; by those found three pixels higher as 24, three lower as 38."""
    own, looked = LANDMARKS * 64, []
    faces = [Face((0, 0, 1, 1), 1.0, own - [0, off]) for off in found]
    monkeypatch.setattr(studio, "find_faces", lambda picture, smallest: looked.append(picture) or faces)
    monkeypatch.setattr(studio, "chips", lambda picture, marks, task: marks)

    def read(given: list[Any]) -> np.ndarray:
        return np.array([31 + 7 / 3 * (marks - own)[0, 1] for marks in given])

    monkeypatch.setattr(studio, "read_age", read)
    centre, step = (Image.new("RGB", (64, 64)) for _ in range(2))
    assert fewer_years([step, centre], centre) == pytest.approx(years)
    assert len(looked) == 1 and looked[0] is centre

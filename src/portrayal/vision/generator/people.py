"""Choosing people: adults by both readers of age, facing the camera, even over perceived gender, group and age band."""

from __future__ import annotations

import numpy as np

from portrayal.vision.generator.readings import COLUMNS, GROUPS

BANDS = ((33, 40), (40, 45), (45, 90))  # years, by the mean of the age reader and the readers' own
# Well above what every step must reach: a generated face read as 27 was seen to look like a child's.
YOUNGEST, YOUNGEST_AGAIN = 31, 33
SURE = np.log(0.4)  # the least probability of a group


def years(readings: np.ndarray, name: str) -> np.ndarray:
    """Return a reading of age in years."""
    return readings[:, COLUMNS.index(name)] * 15 + 40


def choose(
    readings: np.ndarray, age_read: np.ndarray, each: int, plain: np.ndarray | None = None
) -> np.ndarray:
    """Return who is taken (indices): up to `each` of every gender, group and age band, the plainest first.

    `plain` says of whom the parser sees an evenly lit face without a hat; everybody when left out.
    """
    able = suitable(readings, age_read) & (True if plain is None else plain)
    gender = readings[:, COLUMNS.index("gender")] > 0
    band = (age_read + (years(readings, "age") + years(readings, "age again")) / 2) / 2
    found: list[int] = []
    for group in GROUPS:
        sure = readings[:, COLUMNS.index(group)] > SURE
        for masculine in (False, True):
            for low, high in BANDS:
                cell = np.flatnonzero(able & sure & (gender == masculine) & (band >= low) & (band < high))
                found += cell[np.argsort(_plainness(readings)[cell], kind="stable")][:each].tolist()
    return np.array(found, dtype=int)


def likely(expected: np.ndarray, count: int) -> np.ndarray:
    """Return who is looked at (indices), by readings expected of styles: the older half, as many as likeliest to be of each group."""
    age = expected[:, COLUMNS.index("years")]
    older = age >= np.median(age)
    found: dict[int, None] = {}
    for group in GROUPS:
        order = np.argsort(-expected[:, COLUMNS.index(group)], kind="stable").tolist()
        new = [one for one in order if older[one] and one not in found][: count // len(GROUPS)]
        found |= dict.fromkeys(new)
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

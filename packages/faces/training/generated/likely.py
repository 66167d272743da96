"""Choice of styles to look at, by expected readings, evenly over age bands too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portrayal_faces.generator.people import BANDS
from portrayal_faces.generator.readings import COLUMNS, GROUPS

# Of everybody drawn are expected to be younger: where the bands of the older half begin.
AGE_SHARES = (0.5, 0.75, 0.92)


def likely(expected: np.ndarray, count: int, groups: Sequence[str] = GROUPS) -> np.ndarray:
    """Return indices of styles to look at: equally many of every cell, likeliest first.

    Expected readings have no zero of their own: genders are split at the median, ages at quantiles of the older half.
    """
    age, gender = expected[:, COLUMNS.index("years")], expected[:, COLUMNS.index("gender")]
    band = np.searchsorted(np.quantile(age, AGE_SHARES), age, side="right")
    masculine = gender > np.median(gender)
    cells = [(group, side, one + 1) for group in groups for side in (False, True) for one in range(len(BANDS))]
    indices: dict[int, None] = {}
    for group, side, one in cells:
        able = np.flatnonzero((band == one) & (masculine == side))
        order = able[np.argsort(-expected[able, COLUMNS.index(group)], kind="stable")].tolist()
        indices |= dict.fromkeys([each for each in order if each not in indices][: count // len(cells)])
    return np.array(sorted(indices), dtype=int)

"""Area under the receiver operating characteristic, of one set or over folds.

[1] DeLong, DeLong, Clarke-Pearson (1988), Comparing the areas under correlated ROC curves, Biometrics 44, 837-845.
[2] LeDell, Petersen, van der Laan (2015), Cross-validated area under the ROC curve, Electronic J. of Statistics 9, 1583-1607.
[3] Pepe (2003), The statistical evaluation of medical tests for classification and prediction, section 5.2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate

Fold = tuple[np.ndarray, np.ndarray]  # scores, and which of them have the outcome


class Auc(NamedTuple):
    """An area, and its variance with the scores taken as given."""

    value: float
    variance: float
    rarer: int  # cases of the rarer outcome


def auc_over_folds(folds: Sequence[Fold]) -> Auc:
    """Return the area of pairs within folds and its variance [1][2]."""
    own = np.concatenate([placements(scores[outcome], scores[~outcome]) for scores, outcome in folds])
    other = np.concatenate([placements(scores[~outcome], scores[outcome]) for scores, outcome in folds])
    variance = sum(float(np.var(side, ddof=1)) / len(side) for side in (own, other))
    return Auc(float(own.mean()), variance, min(len(own), len(other)))


def auc_interval(area: Auc, learning: float = 0.0, level: float = 0.95) -> Estimate:
    """Return the interval of an area, symmetric in its log odds [3]."""
    tail = 0.5 - level / 2
    undecided = min(2 * (1 - area.value), 1.0)
    error = np.sqrt(area.variance + learning * undecided**2)
    if area.value >= 1:
        return Estimate(area.value, tail ** (1 / area.rarer), area.value)
    if area.value <= 0:
        return Estimate(area.value, area.value, 1 - tail ** (1 / area.rarer))
    middle = scipy.special.logit(area.value)
    half = scipy.special.ndtri(1 - tail) * error / (area.value * (1 - area.value))
    return Estimate(area.value, float(scipy.special.expit(middle - half)), float(scipy.special.expit(middle + half)))


def placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each score the share of the others it lies above; ties count half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return below / (2 * len(others))

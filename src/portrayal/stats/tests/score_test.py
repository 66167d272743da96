"""Rao's score test of a group in a penalised logistic regression.

A coefficient over its error goes wrong where an outcome is rare: four images that all belong to one group give a large
coefficient that hardly varies. The score does not.
[1] Rao (1948), Large sample tests of statistical hypotheses, Proc. of the Cambridge Philosophical Society 44, 50-57.
[2] Tarone (1990), A modified Bonferroni method for discrete data, Biometrics 46, 515-522.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.models.logistic import fit, rotate

REACH = 0.05  # a test that could not come below this whatever the groups is none
SMALL = 10  # images of a group with an outcome below which half an image is taken off, as Yates does


def group_score_p(covariates: np.ndarray, group: np.ndarray, outcome: np.ndarray, C: float = 1.0) -> float:
    """Return the two-sided p of a group's effect; NaN where no division could alarm [2]."""
    chance = scipy.special.expit(fit(covariates, outcome, np.ones((len(outcome), 1)), C).margins[:, 0])
    curve = chance * (1 - chance)
    rest = group - _explained(covariates, group, curve, C)
    error = np.sqrt(curve @ rest**2)
    taken_off = 0.5 if _smallest_cell(group, outcome) < SMALL else 0.0
    if error == 0 or _p(_largest_score(rest, chance, outcome) - taken_off, error) >= REACH:
        return float("nan")
    return _p(abs(rest @ (outcome - chance)) - taken_off, error)


def _p(score: float, error: float) -> float:
    return float(2 * scipy.special.ndtr(-max(score, 0.0) / error))


def _largest_score(rest: np.ndarray, chance: np.ndarray, outcome: np.ndarray) -> float:
    """Return the largest score that as many outcomes could give, on either side."""
    ordered, number = np.sort(rest), int(outcome.sum())
    ends = ordered[:number].sum(), ordered[len(ordered) - number :].sum()
    return float(max(abs(end - rest @ chance) for end in ends))


def _explained(covariates: np.ndarray, group: np.ndarray, curve: np.ndarray, C: float) -> np.ndarray:
    """Return the group as covariates and intercept explain it, weighed and penalised."""
    rotated = rotate(np.asarray(covariates, dtype=float))[0]
    design = np.hstack([rotated, np.ones((len(group), 1))])
    weighted = design * curve[:, None]
    penalty = np.append(np.full(rotated.shape[1], 1 / C), 1e-9)  # the intercept is free
    return design @ np.linalg.solve(weighted.T @ design + np.diag(penalty), weighted.T @ group)


def _smallest_cell(group: np.ndarray, outcome: np.ndarray) -> int:
    return min(int(((group == g) & (outcome == y)).sum()) for g in (0, 1) for y in (False, True))

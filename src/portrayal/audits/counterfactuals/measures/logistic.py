"""Conditional logistic slope: change of a label's odds per unit of the value.

Breslow, Day (1980), Statistical methods in cancer research 1, chapter 7; errors as in Cameron, Miller (2015), A
practitioner's guide to cluster-robust inference, Journal of Human Resources 50.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np


class LogisticSlopes(NamedTuple):
    """One entry per label; NaN where no image changes, infinite at an edge."""

    slope: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray  # images that change


def conditional_logistic(
    present: np.ndarray, values: np.ndarray, clusters: list[str] | np.ndarray, level: float = 0.95
) -> LogisticSlopes:
    """Return the conditional maximum-likelihood slope of every label."""
    given = present >= 0.5
    carried = given.sum(axis=1)
    changes = (carried > 0) & (carried < len(values))
    totals = np.einsum("k,nkl->nl", values, given)
    sums = _sums_by_size(values)
    ends = _extremes(sums)
    room = np.where(changes, ends[carried], 0.0).sum(axis=0)
    observed = np.where(changes, totals, 0.0).sum(axis=0)
    slope = _solve(carried, changes, observed, sums, room)
    low, high = _interval(slope, carried, changes, totals, sums, clusters, level)
    return LogisticSlopes(slope, low, high, changes.sum(axis=0))


def _solve(
    carried: np.ndarray, changes: np.ndarray, observed: np.ndarray, sums: list[np.ndarray], room: np.ndarray
) -> np.ndarray:
    """Return the slopes of all labels by Newton's steps; infinite at an edge."""
    slope = np.zeros(len(observed))
    for _ in range(60):
        mean, spread = _moments(slope, sums)
        expected = np.where(changes, np.take_along_axis(mean, carried, axis=0), 0.0).sum(axis=0)
        weight = np.where(changes, np.take_along_axis(spread, carried, axis=0), 0.0).sum(axis=0)
        step = np.divide(observed - expected, weight, out=np.zeros_like(slope), where=weight > 0)
        slope = np.clip(slope + np.clip(step, -1.0, 1.0), -30, 30)
        if np.all(np.abs(step) < 1e-10):
            break
    edge = np.isclose(np.abs(observed), room) & (room > 0)
    slope = np.where(edge, np.where(observed > 0, np.inf, -np.inf), slope)
    return np.where(changes.any(axis=0), slope, np.nan)


def _interval(
    slope: np.ndarray,
    carried: np.ndarray,
    changes: np.ndarray,
    totals: np.ndarray,
    sums: list[np.ndarray],
    clusters: list[str] | np.ndarray,
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    from scipy import stats

    finite = np.where(np.isfinite(slope), slope, 0.0)
    mean, spread = _moments(finite, sums)
    residual = np.where(changes, totals - np.take_along_axis(mean, carried, axis=0), 0.0)
    weight = np.where(changes, np.take_along_axis(spread, carried, axis=0), 0.0).sum(axis=0)
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    by_cluster = np.zeros((codes.max(initial=-1) + 1, len(slope)))
    np.add.at(by_cluster, codes, residual)
    moving = np.zeros_like(by_cluster)
    np.add.at(moving, codes, changes)
    count = (moving > 0).sum(axis=0)
    known = np.isfinite(slope) & (count > 1) & (weight > 0)
    small = np.divide(count, count - 1, out=np.ones(len(slope)), where=count > 1)
    error = np.sqrt(small * np.sum(by_cluster**2, axis=0)) / np.where(known, weight, 1.0)
    half = np.where(known, stats.t.ppf(0.5 + level / 2, np.maximum(count - 1, 1)) * error, np.nan)
    return finite - half, finite + half


def _sums_by_size(values: np.ndarray) -> list[np.ndarray]:
    """Return, for m = 0 ... K, the sums of all choices of m values."""
    steps = len(values)
    return [np.array([sum(chosen) for chosen in combinations(values, size)]) for size in range(steps + 1)]


def _extremes(sums: list[np.ndarray]) -> np.ndarray:
    """Return the largest sum of each size; the smallest is its negative."""
    return np.array([each.max() for each in sums])


def _moments(slope: np.ndarray, sums: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the sum given its size, sizes x labels."""
    means, spreads = [], []
    for each in sums:
        power = np.outer(slope, each)
        weight = np.exp(power - power.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        mean = weight @ each
        means.append(mean)
        spreads.append(np.maximum(weight @ each**2 - mean**2, 0.0))
    return np.stack(means), np.stack(spreads)

"""Interval for d: symmetric studentised bootstrap on a scale of nearly constant error.

Estimand: (mu_X - mu_Y) / sigma of the population the targets were drawn from, where sigma is the deviation of X and Y mixed in
the sample's shares p, q; the attributes are fixed. d cannot pass 1 / sqrt(pq) and is skewed near that bound, so:

1. With c = d / sqrt(1 - pq d^2), over the deviation *within* groups, var(c) is about (1 + pq c^2 / 2) / (N pq) [1]_, so
   h = asinh(c sqrt(pq / 2)) has a constant error.
2. The error of d comes from its influence function, psi_x = u (1 - pq d^2) / sigma - d p (u^2 - var_x) / (2 sigma^2) with
   u = x - mean(x), likewise for y with the first sign turned; summed inside a person where people repeat.
3. Targets (or people) are resampled inside X and inside Y, h is studentised, and the 95% quantile of |t| gives the
   half-width [2]_. The centre takes the within-group variance on N - 1 degrees of freedom.

References
----------
.. [1] Hedges, Olkin (1985), Statistical methods for meta-analysis, chapter 5.
.. [2] Hall (1988), On symmetric bootstrap confidence intervals, Journal of the Royal Statistical Society B 50, 35-45.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.associations.measures.effect import is_constant
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import resample_counts

DRAWS = 1999


class _Moments(NamedTuple):
    """Count, sum and sum of squares of each cluster on x, then y."""

    sums: np.ndarray  # (clusters, 6)
    stretch: np.ndarray  # n / (n - 1) of each cluster's stratum, against small-sample bias
    share: float  # p: the share of side x


def effect_interval(
    x: np.ndarray, y: np.ndarray, *, clusters: Any = None, draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Return d (ddof 0) and its interval."""
    if np.mean(x) < np.mean(y):  # one draw for both ways of naming the sides, so that swapping them only turns the sign
        people = None if clusters is None else np.roll(np.asarray(clusters), len(y))
        d, low, high = effect_interval(y, x, clusters=people, draws=draws, seed=seed, level=level)
        return Estimate(-d, -high, -low)
    pooled = np.concatenate([x, y])
    spread = pooled.std()
    if is_constant(x, y):
        return Estimate()
    standard = (pooled - pooled.mean()) / spread
    codes = np.arange(len(pooled)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    in_x = np.arange(len(pooled)) < len(x)
    # 1: stands in X only, 2: in Y only, 3: in both. The sizes of X and Y are part of the design.
    strata = (np.bincount(codes, in_x) > 0) + 2 * (np.bincount(codes, ~in_x) > 0)
    moments = _moments(standard, in_x, codes, strata, len(x) / len(pooled))
    order = np.lexsort((*moments.sums.T, strata))  # so that the rows' order does not matter
    moments = moments._replace(sums=moments.sums[order], stretch=moments.stretch[order])
    return _ends(moments, resample_counts(strata[order], draws, seed), level)


def _moments(values: np.ndarray, in_x: np.ndarray, codes: np.ndarray, strata: np.ndarray, share: float) -> _Moments:
    powers = [np.ones_like(values), values, values**2]
    columns = [np.bincount(codes, side * power) for side in (in_x, ~in_x) for power in powers]
    sizes = np.bincount(strata)[strata]
    return _Moments(np.stack(columns, axis=1), sizes / np.maximum(sizes - 1, 1), share)


def _ends(moments: _Moments, counts: np.ndarray, level: float) -> Estimate:
    d, within, error = (part[0] for part in _estimates(moments, np.ones((1, len(moments.stretch)))))
    _, within_drawn, error_drawn = _estimates(moments, counts)
    pq, scale = moments.share * (1 - moments.share), np.sqrt(moments.share * (1 - moments.share) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.abs(np.arcsinh(scale * within_drawn) - np.arcsinh(scale * within))
        t = np.where(error_drawn > 0, shift / (error_drawn * _slope(within_drawn, pq)), np.inf)
    t = np.where(np.isnan(t), np.inf, t)  # samples of one value only: as extreme as can be
    half = float(np.quantile(t, level, method="higher")) * error * _slope(within, pq)
    n = moments.sums[:, [0, 3]].sum()
    centre = np.arcsinh(scale * within * np.sqrt((n - 1) / n))
    return Estimate(float(d), _back(centre - half, scale, pq), _back(centre + half, scale, pq))


def _estimates(moments: _Moments, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return d, c (within-group deviation) and the error of d, per row of `counts`."""
    p, q = moments.share, 1 - moments.share
    nx, sx, qx, ny, sy, qy = (counts @ moments.sums).T
    mx, my = sx / nx, sy / ny
    vx, vy = np.maximum(qx / nx - mx**2, 0), np.maximum(qy / ny - my**2, 0)
    within = p * vx + q * vy
    total = within + p * q * (mx - my) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        d, c = (mx - my) / np.sqrt(total), (mx - my) / np.sqrt(within)
        a, bx, by = (1 - p * q * d**2) / np.sqrt(total), d * p / (2 * total), d * q / (2 * total)
        on_x = [-a * mx - bx * (mx**2 - vx), a + 2 * bx * mx, -bx]
        on_y = [a * my - by * (my**2 - vy), -a + 2 * by * my, -by]
        pull = np.stack([*(term / nx for term in on_x), *(term / ny for term in on_y)], axis=1)
    influence = pull @ moments.sums.T  # one a sample and cluster
    return d, c, np.sqrt(np.sum(counts * moments.stretch * influence**2, axis=1))


def _slope(c: np.ndarray, pq: float) -> np.ndarray:
    """Return dh/dd, with c the difference over the within-group deviation."""
    return np.sqrt(pq / 2) * (1 + pq * c**2) ** 1.5 / np.sqrt(1 + pq * c**2 / 2)


def _back(h: float, scale: float, pq: float) -> float:
    """Return d from h; where sinh overflows, d is at its bound."""
    if abs(h) > 300:
        return float(np.sign(h) / np.sqrt(pq))
    c = np.sinh(h) / scale
    return float(c / np.sqrt(1 + pq * c**2))

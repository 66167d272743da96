"""Shares and their changes when the same people are seen several times.

[1] Korn, Graubard (1998), Confidence intervals for proportions estimated from survey data, Survey Methodology 24, 193-201.
[2] Zou, Donner (2008), Confidence limits about effect measures, Statistics in Medicine 27, 1693-1702.
[3] Bonett, Price (2012), Adjusted Wald confidence interval, Journal of Educational and Behavioral Statistics 37, 479-488.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_quantile, wilson_ends


@dataclass(frozen=True, eq=False)
class Share(Estimate):
    """A ratio of sums over people, with what each person contributes to its error."""

    influence: np.ndarray = field(default_factory=lambda: np.zeros(0))  # one per person; its sum is zero


def clustered_share(hits: np.ndarray, totals: np.ndarray, level: float = 0.95) -> Share:
    """Return sum(hits) / sum(totals), one pair per person, with a Wilson interval.

    Its n is the effective one: at which simple sampling would have the variance that the people show [1].
    """
    hits, totals = np.asarray(hits, dtype=float), np.asarray(totals, dtype=float)
    total = totals.sum()
    people = int(np.count_nonzero(totals))
    if total == 0:
        return Share(n=0, influence=np.zeros(len(hits)))
    value = float(hits.sum() / total)
    influence = (hits - value * totals) / total
    if people < 2:
        return Share(value, 0.0, 1.0, n=int(total), influence=influence)
    ends = wilson_ends(value, _effective(value, influence, people), t_quantile(people - 1, level))
    return Share(value, *ends, n=int(total), influence=influence)


def share_over(hits: np.ndarray, totals: np.ndarray, tolerance: float) -> Estimate:
    """Return sum(hits) / sum(totals), its interval and the p of exceeding a tolerance [1]."""
    share, people = clustered_share(hits, totals), int(np.count_nonzero(totals))
    if people < 2:
        return Estimate(share.value, n=share.n, null=tolerance)
    shrunk = (t_quantile(10**6) / t_quantile(people - 1)) ** 2
    n = min(_effective(share.value, share.influence, people), float(np.sum(totals))) * shrunk
    h, beta = share.value * n, scipy.special
    low = float(beta.betaincinv(h, n - h + 1, 0.025)) if h > 0 else 0.0
    high = float(beta.betaincinv(h + 1, n - h, 0.975)) if h < n else 1.0
    p = float(beta.betainc(h, n - h + 1, tolerance)) if h > 0 else 1.0
    return Estimate(share.value, low, high, p, share.n, null=tolerance)


def change(after: Share, before: Share) -> Estimate:
    """Return `after` minus `before` for shares of the same people [2]."""
    value = after.value - before.value
    correlation = _correlation(after.influence, before.influence)
    low = _recovered(after.value - after.low, before.high - before.value, correlation)
    high = _recovered(after.high - after.value, before.value - before.low, correlation)
    return Estimate(value, value - low, value + high)


def with_missing(gap: Estimate, first: np.ndarray, second: np.ndarray, missing: tuple[int, int]) -> Estimate:
    """Return a difference with its values had all missing units done so, or none."""
    if not any(missing) or not len(first) or not len(second):
        return gap
    sums, sizes = np.array([first.sum(), second.sum()]), np.array([len(first), len(second)]) + missing
    ends = [(sums + np.array(missing) * way) / sizes for way in (1.0, 0.0)]
    return replace(gap, value_if_all=float(ends[0][0] - ends[0][1]), value_if_none=float(ends[1][0] - ends[1][1]))


def bounded_mean(values: np.ndarray, pictures: int = 1, level: float = 0.95) -> Estimate:
    """Return the mean of values from -1 to 1, with an interval of some width.

    The t interval over people, or, where wider, that with two made-up people one picture's step above and below the mean [3].
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    mean = float(values.mean()) if n else np.nan
    if n < 2:
        return Estimate(mean, n=n)
    step = 1.0 if np.ptp(values) < 1e-12 else 1.0 / max(pictures, 1)
    padded = np.append(values, [mean + step, mean - step]).std() / np.sqrt(n + 2)
    half = t_quantile(n - 1, level) * max(values.std(ddof=1) / np.sqrt(n), padded)
    return Estimate(mean, float(max(mean - half, -1.0)), float(min(mean + half, 1.0)), n=n)


def _effective(value: float, influence: np.ndarray, people: int) -> float:
    """Return how many independent observations would have this variance."""
    variance = people / (people - 1) * np.sum(influence**2)
    return float(value * (1 - value) / variance) if variance > 1e-15 and 0 < value < 1 else float(people)


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    scale = np.sqrt(np.sum(first**2) * np.sum(second**2))
    return float(np.clip(np.sum(first * second) / scale, -1, 1)) if scale > 1e-15 else 0.0


def _recovered(one: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0)))

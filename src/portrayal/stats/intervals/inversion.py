"""Intervals that say of the null what their own test says.

They hold the values that the test would not reject. Signs of whole people are flipped for every value at once: a sum of flipped
values reaches the observed one just where the mean of the people flipped lies beyond the value (Hartigan 1969, Using subsample
values as typical values, Journal of the American Statistical Association 64, 1303-1317).
"""

from __future__ import annotations

import numpy as np

from portrayal.stats import scipy

ROUNDING = 1e-9  # of a count of patterns


def flip_interval(
    differences: np.ndarray, flips: np.ndarray, level: float, one_sided: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of each column's mean (people x tests).

    A person without a value is NaN. `flips` are the patterns of the test (patterns x people), True where a sign is turned; a
    two-sided test may leave out those that turn all others. An end is infinite where so few people cannot rule out any value.
    """
    table = np.asarray(differences, dtype=float)
    there, values = (~np.isnan(table)).astype(float), np.nan_to_num(table)
    pool = np.concatenate([_means(side, values, there) for side in ([flips] if one_sided else [flips, ~flips])])
    empty = np.isnan(pool)
    shares = (level, level / 2) if one_sided else (level, level)
    ends = []
    for sign, share in zip((1.0, -1.0), shares, strict=True):
        rank = int(np.ceil(share * len(flips) - ROUNDING)) - 1
        ends.append(sign * np.partition(np.where(empty, -np.inf, sign * pool), rank, axis=0)[rank])
    return ends[0], ends[1]


def _means(flips: np.ndarray, values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the mean of the people turned in each pattern; NaN where there is nobody."""
    sums, counts = flips.astype(float) @ values, flips.astype(float) @ there
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def agreeing_ends(
    value: float, low: float, high: float, p: float, null: float, level: float, near: tuple[float, float]
) -> tuple[float, float]:
    """Return an interval that leaves out the null exactly where p is under the level.

    The ends of an inverted test (`near`, NaN without one) are widened to those given: nine people who all answer alike are no
    certainty about a tenth. An end that still says of the null what the test does not is moved to that of the inverted test,
    else to where a normal statistic of the same p has it; to the null of a level, of which only the other side was
    tested (p over a half).
    """
    low, high = float(np.fmin(low, near[0])), float(np.fmax(high, near[1]))
    rejects, above = p < level, value > null
    if np.isnan(p) or value == null or (low > null or high < null) == rejects:
        return low, high
    end = near[0] if above else near[1]
    if not np.isfinite(end) or ((end > null) if above else (end < null)) != rejects:
        end = null + (value - null) * (1 - _normal_reach(p, level)) if p <= 0.5 or not null else null
    return (end, high) if above else (low, end)


def beyond_estimate(value: float, low: float, high: float, p: float, null: float, level: float) -> tuple[float, float]:
    """Return an interval that goes beyond its own estimate on both sides.

    A side without length that faces the null is that of a normal statistic of the same p; another gets the other side's.
    """
    below, above = value - low, high - value
    longest, reach = max(below, above), abs(value - null) * _normal_reach(p, level)
    if np.isnan(p) or min(below, above) > ROUNDING:
        return low, high
    if below <= ROUNDING:
        low = value - (reach if value > null or longest <= ROUNDING else longest)
    if above <= ROUNDING:
        high = value + (reach if value < null or longest <= ROUNDING else longest)
    return low, high


def _normal_reach(p: float, level: float) -> float:
    """Return half a normal interval of this p, in distances to the null."""
    return float(scipy.special.ndtri(1 - level / 2)) / max(float(scipy.special.ndtri(1 - max(p, 1e-16) / 2)), 1.0)

"""Share of items that raters affirm, with the raters' variance in its interval.

A model of raters (Dawid, Skene 1979, Applied Statistics 28, 20-28) needs several judgments of most items; here most have one, and a fifth
several by design. So raters' own levels are compared where they judged the same, and added to the variance of the items, with
Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2, 110-114): of two raters who say always and never, nothing is known.
"""

from __future__ import annotations

import numpy as np

from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson_ends


def rated_share(ratings: np.ndarray) -> Estimate:
    """Return the share that an average rater affirms, of items x raters."""
    ratings = np.asarray(ratings, dtype=float)
    ratings = ratings[~np.isnan(ratings).all(axis=1)][:, ~np.isnan(ratings).all(axis=0)]
    items = len(ratings)
    if not items:
        return Estimate(n=0)
    each = np.nanmean(ratings, axis=1)
    share = float(each.mean())
    of_items, of_raters = share * (1 - share) / items, _rater_variance(ratings, each)
    total, size, quantile = of_items + of_raters, float(items), float(scipy.special.ndtri(0.975))
    if of_items > 0 and of_raters > 0:
        size = share * (1 - share) / total
        quantile = float(scipy.stats.t.ppf(0.975, (total / of_raters) ** 2 * (ratings.shape[1] - 1)))
    return Estimate(share, *wilson_ends(share, size, quantile), n=items)


def _rater_variance(ratings: np.ndarray, each: np.ndarray) -> float:
    """Return the variance that raters' levels add to a share."""
    several = (~np.isnan(ratings)).sum(axis=1) > 1
    apart = ratings[several] - each[several, None] if several.any() else ratings - each.mean()
    known = ~np.isnan(apart).all(axis=0)
    if known.sum() < 2:
        return 0.0
    return float(np.nanmean(apart[:, known], axis=0).var(ddof=1) / known.sum())


def scaled(whole: Estimate, part: Estimate) -> Estimate:
    """Return the product of two shares with its interval (Zou, Donner 2008)."""
    value = whole.value * part.value
    below = np.hypot(whole.value * (part.value - part.low), part.value * (whole.value - whole.low))
    above = np.hypot(whole.value * (part.high - part.value), part.value * (whole.high - whole.value))
    return Estimate(value, max(0.0, float(value - below)), min(1.0, float(value + above)), n=part.n)

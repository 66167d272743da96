"""The normalised slope of a label, the paper's p-value, and an interval by source images.

With y_k the share of source images that carry the label at step k and c the centre, z_k = y_k / y_c, and the slope b
is that of the least-squares line of z on the attribute value a_k [1]_. Since z is linear in the y's given y_c,

    b = sum_k w_k y_k / y_c,   w_k = (a_k - mean a) / sum_k (a_k - mean a)^2,

a ratio of two means over source images. Drawing source images (or people) with replacement gives its interval; the
percentile ends are widened by t quantiles where clusters are few [2]_.

References
----------
.. [1] Joo, Kaerkkaeinen (2020), Gender slopes: counterfactual fairness for computer vision models by attribute
   manipulation, FATE/MM workshop.
.. [2] Hesterberg (2015), What teachers should know about the bootstrap, American Statistician 69, 371-386: the
   expanded percentile interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST = 10  # source images that carry a label at the centre, under which its slope gets no interval
DRAWS = 1999


class Slopes(NamedTuple):
    """One entry per label. NaN where a label is absent at the centre; ends NaN where it is rare there or never changes."""

    slope: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_paper: np.ndarray  # least squares over the K normalised shares, as published
    at_centre: np.ndarray  # source images that carry the label at the centre


def normalised(shares: np.ndarray, centre: int) -> np.ndarray:
    """Return z = y / y_c, steps x labels; NaN where the label is absent at the centre."""
    base = shares[centre]
    return np.divide(shares, base, out=np.full(shares.shape, np.nan), where=base > 0)


def slope_weights(values: np.ndarray) -> np.ndarray:
    """Return w so that the least-squares slope of y on the values is the sum of w times y."""
    away = values - values.mean()
    return away / np.sum(away**2)


def line(values: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and two-sided p of the least-squares line of each column of z, K - 2 degrees of freedom.

    A perfect line has p = 0; a constant one slope 0 and p = 1, where a t statistic would be 0 / 0.
    """
    from scipy import stats

    slope = slope_weights(values) @ z
    away = values - values.mean()
    residual = z - z.mean(axis=0) - np.outer(away, slope)
    freedom = len(values) - 2
    error = np.sqrt(np.sum(residual**2, axis=0) / freedom / np.sum(away**2))
    flat = np.ptp(z, axis=0) == 0
    slope = np.where(flat, 0.0, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(flat, 0.0, slope / error)
    return slope, np.where(np.isnan(slope), np.nan, 2 * stats.t.sf(np.abs(t), freedom))


def normalised_slopes(
    present: np.ndarray,
    values: np.ndarray,
    clusters: list[str] | np.ndarray,
    draws: int = DRAWS,
    seed: int = 0,
    least: int = LEAST,
) -> Slopes:
    """Return slope, interval and the paper's p for every label.

    Parameters
    ----------
    present
        Source x step x label, shares between 0 and 1 (or scores).
    values
        The attribute value of each step; one of them is 0.
    clusters
        Who or what answers repeat over: one name per source image.
    draws, seed
        Bootstrap samples and their seed.
    least
        Source images a label needs at the centre for an interval.
    """
    centre = int(np.flatnonzero(values == 0)[0])
    shares = present.mean(axis=0) if len(present) else np.full(present.shape[1:], np.nan)
    slope, p_paper = line(values, normalised(shares, centre))
    at_centre = (present[:, centre] > 0).sum(axis=0)
    rise, base = cluster_sums(present, values, clusters)
    low, high = ratio_interval(rise, base, draws, seed)
    # Where no image changes, every draw gives the same slope: that is no certainty, so there is no interval.
    silent = (at_centre < least) | (np.ptp(present, axis=1).max(axis=0, initial=0.0) == 0)
    low, high = np.where(silent, np.nan, low), np.where(silent, np.nan, high)
    return Slopes(slope, low, high, p_paper, at_centre)


def cluster_sums(
    present: np.ndarray, values: np.ndarray, clusters: list[str] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, per cluster and label, the sums of w . y and of y at the centre: the slope is their ratio."""
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sizes = (codes.max(initial=-1) + 1, present.shape[2])
    rise, base = np.zeros(sizes), np.zeros(sizes)
    np.add.at(rise, codes, np.einsum("k,nkl->nl", slope_weights(values), present))
    np.add.at(base, codes, present[:, int(np.flatnonzero(values == 0)[0])])
    return rise, base


def ratio_interval(
    top: np.ndarray, bottom: np.ndarray, draws: int = DRAWS, seed: int = 0, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the expanded percentile interval of sum(top) / sum(bottom), clusters drawn whole.

    Draws in which a label vanishes from the centre have no slope; they are left out.
    """
    from scipy import stats

    clusters = len(top)
    if clusters < 2:
        return np.full(top.shape[1], np.nan), np.full(top.shape[1], np.nan)
    tail = stats.norm.cdf(np.sqrt(clusters / (clusters - 1)) * stats.t.ppf(0.5 - level / 2, clusters - 1))
    counts = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=draws)
    above, below = counts @ top, counts @ bottom
    ratio = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    low, high = _quantiles(ratio, np.array([tail, 1 - tail]))
    return low, high


def reversal_scores(present: np.ndarray, clusters: list[str] | np.ndarray, repeats: int = 1) -> np.ndarray:
    """Return what the reversal test flips: whole numbers, clusters x labels.

    A cluster's score is the sum over its steps of (place from the centre) x (label given). Read forwards or backwards a
    series is as likely under no effect, so the sign of each score is a fair coin, whatever the dependence between
    the steps of one image: `portrayal.stats.permutation.sign_flip_columns` gives the p.

    Parameters
    ----------
    present
        Source x step x label; with repeats, shares in steps of 1 / repeats.
    clusters
        One name per source image.
    repeats
        How often each picture was asked, which makes the shares whole again.
    """
    steps = present.shape[1]
    places = np.arange(steps) * 2 - (steps - 1)
    places = places // 2 if steps % 2 else places
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    scores = np.zeros((codes.max(initial=-1) + 1, present.shape[2]))
    np.add.at(scores, codes, np.einsum("k,nkl->nl", places, present) * repeats)
    return np.rint(scores)


def _quantiles(drawn: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Quantiles of each column over its finite entries, shares x columns; NaN where there are none."""
    ordered = np.sort(drawn, axis=0)  # NaN goes last
    count = np.isfinite(drawn).sum(axis=0)
    places = shares[:, None] * np.maximum(count - 1, 0)
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    low, high = (np.take_along_axis(ordered, at, axis=0) for at in (below, above))
    return low + (places - below) * (high - low)

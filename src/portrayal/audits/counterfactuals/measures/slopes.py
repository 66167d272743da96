"""The normalised slope of a label, the paper's p-value, and an interval by people.

With y_k the share of people who get the label at step k (a person with several pictures counts once, by the mean over
them) and c the centre, z_k = y_k / y_c, and the slope b is that of the least-squares line of z on the attribute value
a_k [1]_. Since z is linear in the y's given y_c,

    b = sum_k w_k y_k / y_c,   w_k = (a_k - mean a) / sum_k (a_k - mean a)^2,

a ratio of two means over people, with the interval of such a ratio (`portrayal.stats.intervals.intervals.ratio_interval`).

References
----------
.. [1] Joo, Kaerkkaeinen (2020), Gender slopes: counterfactual fairness for computer vision models by attribute
   manipulation, FATE/MM workshop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portrayal.stats.intervals.intervals import ratio_interval

DUST = 1e-12  # what adding and taking away leaves of zero


class Slopes(NamedTuple):
    """One entry per label. NaN where a label is absent at the centre; ends NaN where nobody or one person gets it, or nobody changes."""

    slope: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_paper: np.ndarray  # least squares over the K normalised shares, as published
    at_centre: np.ndarray  # people who get the label at the centre


def by_person(present: np.ndarray, people: list[str] | np.ndarray) -> np.ndarray:
    """Return the mean over each person's pictures, people in the order of their names."""
    codes = np.unique(np.asarray(people, dtype=object), return_inverse=True)[1]
    sums = np.zeros((codes.max(initial=-1) + 1, *present.shape[1:]))
    np.add.at(sums, codes, present)
    return sums / np.bincount(codes).reshape(-1, *[1] * (present.ndim - 1)) if len(codes) else sums


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
    flat = np.ptp(z, axis=0) <= DUST
    slope = np.where(np.abs(slope) <= DUST, 0.0, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(flat, 0.0, slope / error)
    return slope, np.where(np.isnan(slope), np.nan, 2 * stats.t.sf(np.abs(t), freedom))


def normalised_slopes(present: np.ndarray, values: np.ndarray, people: list[str] | np.ndarray) -> Slopes:
    """Return slope, interval and the paper's p for every label."""
    centre = int(np.flatnonzero(values == 0)[0])
    each = by_person(present, people)
    shares = each.mean(axis=0) if len(each) else np.full(present.shape[1:], np.nan)
    slope, p_paper = line(values, normalised(shares, centre))
    low, high = ratio_interval(rises(each, values), each[:, centre])
    return Slopes(slope, low, high, p_paper, (each[:, centre] > 0).sum(axis=0))


def raw_slopes(present: np.ndarray, values: np.ndarray, people: list[str] | np.ndarray) -> Slopes:
    """Return the slopes of the shares themselves, for labels that nobody gets at the centre."""
    each = by_person(present, people)
    rise = rises(each, values)
    slope = rise.mean(axis=0) if len(each) else np.full(present.shape[2], np.nan)
    low, high = ratio_interval(rise, np.ones(rise.shape))
    return Slopes(slope, low, high, np.full(len(slope), np.nan), np.zeros(len(slope), dtype=int))


def rises(each: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return each person's own least-squares slope, people x labels; what is only rounding is 0."""
    rise = np.einsum("k,nkl->nl", slope_weights(values), each)
    return np.where(np.abs(rise) < DUST, 0.0, rise)


def reversal_scores(present: np.ndarray, people: list[str] | np.ndarray, repeats: int = 1) -> np.ndarray:
    """Return what the reversal test flips: whole numbers, people x labels.

    A person's score is the mean over the pictures of the sum over steps of (place from the centre) x (label given), on a
    common denominator. Read forwards or backwards a series is as likely under no effect, so the sign of each score is a fair
    coin, whatever the dependence between the steps and pictures of one person:
    `portrayal.stats.tests.permutation.sign_flip_columns` gives the p, `portrayal.stats.tests.max_t` that of all labels together.
    """
    steps = present.shape[1]
    places = np.arange(steps) * 2 - (steps - 1)
    places = places // 2 if steps % 2 else places
    codes = np.unique(np.asarray(people, dtype=object), return_inverse=True)[1]
    pictures = np.bincount(codes)
    scores = np.zeros((len(pictures), present.shape[2]))
    np.add.at(scores, codes, np.einsum("k,nkl->nl", places, present) * repeats)
    common = np.lcm.reduce(pictures) if len(pictures) else 1
    return np.rint(scores) * (common // np.maximum(pictures, 1))[:, None]

"""Normalised slope of a label, the paper's p-value, and an interval over people.

Joo, Kaerkkaeinen (2020), Gender slopes: counterfactual fairness for computer vision models by attribute manipulation,
FATE/MM workshop, section Results. With shares y_k at values a_k and centre c, the slope of y_k / y_c on a_k is a ratio of
two means over people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from portrayal.stats.intervals.intervals import ratio_ends

DUST = 1e-12  # what adding and taking away leaves of zero


class Slopes(NamedTuple):
    """One entry per label; NaN where the label gives none."""

    slope: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_paper: np.ndarray  # least squares over the K normalised shares, as published
    at_centre: np.ndarray  # people who get the label at the centre


def by_person(present: np.ndarray, people: Sequence[str] | np.ndarray) -> np.ndarray:
    """Return the mean over each person's pictures, people in the order of their names."""
    codes = np.unique(np.asarray(people, dtype=object), return_inverse=True)[1]
    sums = np.zeros((codes.max(initial=-1) + 1, *present.shape[1:]))
    np.add.at(sums, codes, present)
    return sums / np.bincount(codes).reshape(-1, *[1] * (present.ndim - 1)) if len(codes) else sums


def normalised(shares: np.ndarray, centre: int) -> np.ndarray:
    """Return z = y / y_c; NaN where the label is absent at the centre."""
    base = shares[centre]
    return np.divide(shares, base, out=np.full(shares.shape, np.nan), where=base > 0)


def slope_weights(values: np.ndarray) -> np.ndarray:
    """Return w so that the least-squares slope of y is sum(w y)."""
    away = values - values.mean()
    return away / np.sum(away**2)


def line(values: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and two-sided p of each column's least-squares line."""
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


def normalised_slopes(present: np.ndarray, values: np.ndarray, people: Sequence[str] | np.ndarray) -> Slopes:
    """Return slope, interval and the paper's p for every label."""
    each = by_person(present, people)
    return slopes_of(slope_sums(each, values), values, len(each))


def slope_sums(each: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return sums over people, a column for each label; those of parts add up.

    The steps; then the rise, its square and its product with the centre; the centre and its square; how many people have
    either, and how many the centre.
    """
    centre, rise = each[:, centre_of(values)], rises(each, values)
    parts = [rise, rise**2, rise * centre, centre, centre**2, (rise != 0) | (centre != 0), centre > 0]
    return np.vstack([each.sum(axis=0), *(part.sum(axis=0) for part in parts)])


def slopes_of(sums: np.ndarray, values: np.ndarray, people: int) -> Slopes:
    """Return the normalised slopes from sums over so many people."""
    steps = len(values)
    rise, squares, cross, centre, centres, moved, at_centre = sums[steps:]
    shares = sums[:steps] / people if people else np.full((steps, sums.shape[1]), np.nan)
    slope, p_paper = line(values, normalised(shares, centre_of(values)))
    low, high = ratio_ends(rise, centre, squares, cross, centres, moved)
    return Slopes(slope, low, high, p_paper, at_centre.astype(int))


def raw_slopes_of(sums: np.ndarray, values: np.ndarray, people: int) -> Slopes:
    """Return the slopes of the shares themselves, for labels that nobody gets at the centre."""
    rise, squares = sums[len(values) : len(values) + 2]
    nothing, everybody = np.full(len(rise), np.nan), np.full(len(rise), float(people))
    low, high = ratio_ends(rise, everybody, squares, rise, everybody, everybody)
    return Slopes(rise / people if people else nothing, low, high, nothing, np.zeros(len(rise), dtype=int))


def centre_of(values: np.ndarray) -> int:
    """Return the place of the neutral step."""
    return int(np.flatnonzero(values == 0)[0])


def rises(each: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return each person's own least-squares slope, people x labels; what is only rounding is 0."""
    rise = np.einsum("k,nkl->nl", slope_weights(values), each)
    return np.where(np.abs(rise) < DUST, 0.0, rise)


def reversal_scores(present: np.ndarray, people: Sequence[str] | np.ndarray, repeats: int = 1) -> np.ndarray:
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

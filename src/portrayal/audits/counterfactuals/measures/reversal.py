"""An exact test of a slope: the series of a source image, read forwards or backwards, is as likely under no effect.

Each cluster's score is the sum over its steps of (place from the centre) x (label given), a whole number. Under no
effect the sign of every cluster's score is a fair coin, whatever the dependence between the steps of one image, so the
p-value is the share of all 2^m sign patterns that reach the observed sum. The distribution of the sum is the product
of the clusters' characteristic functions cos(t s), inverted exactly by a discrete Fourier transform: nothing is drawn.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-14  # what the transform's rounding leaves of a p-value; smaller ones are reported as this


def reversal_p(scores: np.ndarray) -> np.ndarray:
    """Return the two-sided exact p of each column of whole-number scores (clusters x labels).

    A label that never moves has p = 1.

    Examples
    --------
    >>> reversal_p(np.array([[3], [3], [3]])).tolist()  # of the eight patterns +++ and --- reach 9
    [0.25]
    """
    sizes = np.abs(np.rint(scores)).astype(int)
    observed = np.abs(np.rint(scores).astype(int).sum(axis=0))
    largest = sizes.sum(axis=0).max(initial=0)
    p = np.ones(sizes.shape[1])
    moving = np.flatnonzero(sizes.any(axis=0))
    if len(moving):
        p[moving] = _tails(sizes[:, moving], observed[moving], int(largest))
    return p


def place_scores(present: np.ndarray, clusters: list[str] | np.ndarray, repeats: int = 1) -> np.ndarray:
    """Return whole-number scores, clusters x labels: steps are counted from the centre.

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


def _tails(sizes: np.ndarray, observed: np.ndarray, largest: int) -> np.ndarray:
    """Share of sign patterns whose sum reaches the observed one in size."""
    length = 1 << int(2 * largest + 1).bit_length()
    steps = np.arange(1, sizes.max() + 1)
    counts = np.stack([(sizes == size).sum(axis=0) for size in steps], axis=1).astype(float)
    cosines = np.cos(2 * np.pi * np.outer(steps, np.arange(length // 2 + 1)) / length)
    # The product of powers of cosines, as sizes and signs apart: one matrix product each.
    size = np.exp(counts @ np.log(np.maximum(np.abs(cosines), 1e-300)))
    wave = np.where((counts @ (cosines < 0)) % 2 == 1, -size, size)
    chances = np.fft.irfft(wave, n=length, axis=1)
    sums = np.fft.fftfreq(length, 1 / length)
    reached = np.abs(sums)[None] >= observed[:, None]
    return np.clip((chances * reached).sum(axis=1), FLOOR, 1.0)

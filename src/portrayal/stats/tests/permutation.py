"""Permutation tests of a mean: exact where they can be, else sampled and seeded.

Ties within 1e-12 of the values' scale count. Two-sided means |centred statistic| >= |observed|. A sampled p is (k + 1) / (n + 1)
[1]. Sums are counted without listing them: meet in the middle [2].
[1] Phipson, Smyth (2010), Permutation p-values should never be zero, Stat. Appl. in Genetics and Molecular Biology 9, 39.
[2] Horowitz, Sahni (1974), Computing partitions with applications to the knapsack problem, Journal of the ACM 21, 277-292.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import NamedTuple

import numpy as np

from portrayal.errors import PortrayalError, check_name

# What must be large, in each alternative, for an arrangement to count as extreme.
FOLDS = {"greater": np.positive, "less": np.negative, "two-sided": np.abs}
ALTERNATIVES = tuple(FOLDS)
EXACT_UP_TO = 40  # values on both sides together
SAMPLES = 100_000
TIE = 1e-12  # of scale
DENOMINATORS = np.array([*range(1, 65), 2520])  # of differences counted as whole numbers; 2520 fits means of up to 10
MOST_STEPS = 1_000_000  # of such a whole-number sum
SMALLEST = 1e-14  # what a Fourier transform's rounding leaves of a p-value; smaller ones are given as this
CHUNK = 4096  # arrangements drawn at a time, so that the pool stays in the processor's cache

Numbers = Sequence[float] | np.ndarray
Count = Callable[..., int]  # arrangements of values that reach a threshold


class Permutation(NamedTuple):
    """A p-value and how it was found."""

    p: float
    method: str  # "exact" or "sampled"
    arrangements: int  # counted (exact) or drawn (sampled)


def two_sample(
    x: Numbers, y: Numbers, *, alternative: str = "greater", permutations: int | None = None, seed: int = 0
) -> Permutation:
    """Test the mean of x against that of y, over all divisions into such sides."""
    check_name(alternative, FOLDS, "alternative")
    x, y = _values(x, "x"), _values(y, "y")
    pooled = np.concatenate([x, y])
    centred, tie = pooled - pooled.mean(), TIE * np.abs(pooled).max()
    observed = float(centred[: len(x)].sum())
    if len(pooled) <= EXACT_UP_TO:
        count, total = partial(count_subsets, size=len(x)), comb(len(pooled), len(x))
        return _exact(count, centred, observed, tie, total, alternative, mirrored=len(x) == len(y))
    sums = _sampled_sums(centred, len(x), permutations or SAMPLES, np.random.default_rng(seed))
    return _sampled(sums, observed, tie, alternative)


def sign_flip(
    differences: Numbers, *, alternative: str = "greater", permutations: int | None = None, seed: int = 0
) -> Permutation:
    """Test whether the differences tend above zero, over all ways to choose their signs.

    Exact up to 42 differences, and for any number that are multiples of a common fraction, as means over a few pictures are.
    """
    check_name(alternative, FOLDS, "alternative")
    differences = _values(differences, "differences")
    if (steps := _whole_steps(differences)) is not None:
        return _whole_flips(steps, alternative)
    observed, tie = float(differences.sum()), TIE * float(np.abs(differences).max())
    if len(differences) <= SIGNED:
        return _exact(count_signs, differences, observed, tie, 2 ** len(differences), alternative)
    rng, sums = np.random.default_rng(seed), np.zeros(permutations or SAMPLES)
    for size in sorted(np.abs(differences), reverse=True):  # so that their order does not matter to what is drawn
        sums += np.array([-size, size])[rng.integers(2, size=len(sums))]
    return _sampled(sums, observed, tie, alternative)


def sign_flip_columns(scores: np.ndarray) -> np.ndarray:
    """Return the two-sided exact p of each column of whole numbers (differences x series)."""
    sizes = np.abs(np.rint(scores)).astype(int)
    observed = np.abs(np.rint(scores).astype(int).sum(axis=0))
    p = np.ones(sizes.shape[1])
    moving = np.flatnonzero(sizes.any(axis=0))
    if len(moving):
        p[moving] = _fourier_tails(sizes[:, moving], observed[moving])
    return p


def _whole_steps(differences: np.ndarray) -> np.ndarray | None:
    """Return whole numbers proportional to the differences, where a known denominator fits."""
    scaled = np.outer(DENOMINATORS, differences)
    whole = np.rint(scaled)
    fits = np.abs(scaled - whole).max(axis=1) <= TIE * np.abs(scaled).max(axis=1)
    fits &= np.abs(whole).sum(axis=1) <= MOST_STEPS
    return whole[np.argmax(fits)].astype(int) if fits.any() else None


def _whole_flips(steps: np.ndarray, alternative: str) -> Permutation:
    """Convolve the differences into the distribution of the sum of the positive ones."""
    sizes = np.abs(steps[steps != 0]).tolist()
    chance, reached = np.zeros(sum(sizes) + 1), 1
    chance[0] = 1.0
    for size in sizes:
        chance[size : size + reached] += chance[:reached].copy()
        reached += size
        chance[:reached] *= 0.5
    sums, fold = 2 * np.arange(len(chance)) - (len(chance) - 1), FOLDS[alternative]
    p = chance[fold(sums) >= fold(steps.sum())].sum()
    return Permutation(min(1.0, float(p)), "exact", 2 ** len(steps))


def _fourier_tails(sizes: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the share of sign patterns whose sum reaches the observed one in size."""
    length = 1 << int(2 * sizes.sum(axis=0).max() + 1).bit_length()
    steps = np.arange(1, sizes.max() + 1)
    counts = np.stack([(sizes == size).sum(axis=0) for size in steps], axis=1).astype(float)
    cosines = np.cos(2 * np.pi * np.outer(steps, np.arange(length // 2 + 1)) / length)
    # The product of powers of cosines, as sizes and signs apart: one matrix product each.
    size = np.exp(counts @ np.log(np.maximum(np.abs(cosines), 1e-300)))
    wave = np.where((counts @ (cosines < 0)) % 2 == 1, -size, size)
    chances = np.fft.irfft(wave, n=length, axis=1)
    sums = np.fft.fftfreq(length, 1 / length)
    reached = np.abs(sums)[None] >= observed[:, None]
    return np.clip((chances * reached).sum(axis=1), SMALLEST, 1.0)


def _exact(
    count: Count, values: np.ndarray, observed: float, tie: float, total: int, alternative: str, mirrored: bool = False
) -> Permutation:
    """Count one tail, or both, which are equal where sums come in opposite pairs (`mirrored`)."""
    if alternative == "two-sided":
        reach = abs(observed) - tie
        upper = total if reach <= 0 else count(values, threshold=reach)
        both = upper if reach <= 0 else upper + (upper if mirrored else count(-values, threshold=reach))
        return Permutation(both / total, "exact", total)
    sign = 1.0 if alternative == "greater" else -1.0
    return Permutation(count(sign * values, threshold=sign * observed - tie) / total, "exact", total)


def _sampled(sums: np.ndarray, observed: float, tie: float, alternative: str) -> Permutation:
    fold = FOLDS[alternative]
    extreme = int(np.count_nonzero(fold(sums) >= fold(observed) - tie))
    return Permutation((extreme + 1) / (len(sums) + 1), "sampled", len(sums))


def _sampled_sums(values: np.ndarray, size: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return sums of random subsets of this size of centred values, whatever their order."""
    values = np.sort(values)
    smaller = min(size, len(values) - size)
    sign = 1.0 if smaller == size else -1.0
    chunks = [min(CHUNK, draws - start) for start in range(0, draws, CHUNK)]
    return sign * np.concatenate([_shuffled_sums(values, smaller, chunk, rng) for chunk in chunks])


def _shuffled_sums(values: np.ndarray, size: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    pool = np.repeat(values[:, None], draws, axis=1)
    flat, column = pool.ravel(), np.arange(draws)
    sums = np.zeros(draws)
    for place in range(size):
        chosen = rng.integers(place, len(values), size=draws, dtype=np.int32) * np.int64(draws) + column
        sums += flat[chosen]
        flat[chosen] = pool[place]
    return sums


def _values(values: Numbers, name: str) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not len(array):
        raise PortrayalError(f"{name} has shape {array.shape}. Expected a list of at least one number.")
    if not np.isfinite(array).all():
        raise PortrayalError(f"{name} holds a value that is not a number. Leave missing values out first.")
    return array


SIGNED = 42  # values whose signs can be counted: 2^21 sums of a half are 16 MB and sort in a tenth of a second


def sums_by_size(values: np.ndarray, largest: int | None = None) -> list[np.ndarray]:
    """Return, for every size up to `largest` (all), the sorted sums of all such subsets."""
    sums = [np.zeros(1)]
    for value in values:
        grown = [sums[0]]
        for size in range(1, len(sums)):
            # Two sorted runs: the stable sort merges them in linear time.
            grown.append(np.sort(np.concatenate([sums[size], sums[size - 1] + value]), kind="stable"))
        grown.append(sums[-1] + value)
        sums = grown if largest is None else grown[: largest + 1]
    return sums


def count_subsets(values: np.ndarray, size: int, threshold: float) -> int:
    """Count the subsets of this size whose sum is at least `threshold`."""
    middle = len(values) // 2
    left, right = sums_by_size(values[:middle], size), sums_by_size(values[middle:], size)
    sizes = range(max(0, size + 1 - len(right)), min(len(left), size + 1))
    return sum(_pairs(left[each], right[size - each], threshold) for each in sizes)


def count_signs(values: np.ndarray, threshold: float) -> int:
    """Count the ways to sign the values so that their sum is at least `threshold`."""
    left, right = (_signed_sums(values[half::2]) for half in (0, 1))
    return _pairs(left, np.sort(right), threshold)


def _pairs(left: np.ndarray, right: np.ndarray, threshold: float) -> int:
    """Count the pairs with left + right >= threshold; `right` is sorted."""
    below = np.searchsorted(right, threshold - left, side="left")
    return len(left) * len(right) - int(below.sum())


def _signed_sums(values: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums

"""Many paired tests of the same people at once: sign flips of whole people, corrected by step-down max-T.

Under no effect a person's differences may all change sign together. Flipping whole people keeps what ties the tests to
one another, so with eight people the smallest corrected p is 2 in 256 however many tests there are; Holm over twenty
tests could never get there [1]_.

References
----------
.. [1] Westfall, Young (1993), Resampling-based multiple testing, Wiley, algorithm 2.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

EXACT = 14  # people up to whom every pattern of signs is counted
DRAWS = 9_999
AT_ONCE = 4_000_000  # numbers held in memory together
KEPT = 4_000_000  # numbers of a sample that is kept for the next test
SAME = 1e-9  # of a statistic: the same numbers added in another order


@dataclass(frozen=True, eq=False)
class JointFlips:
    """For each test its p, its p corrected over all of them, and the smallest p it could have had."""

    p: np.ndarray
    adjusted: np.ndarray
    floor: np.ndarray
    critical: float  # the statistic that no test passes in 95 of 100 patterns; on the scale of z


def flip_jointly(differences: np.ndarray, seed: int = 0, level: float = 0.05, one_sided: bool = False) -> JointFlips:
    """Test every column of differences (people x tests, NaN where a person lacks one) against 0.

    Examples
    --------
    >>> eight = flip_jointly(np.ones((8, 1)))
    >>> float(eight.p[0]) == float(eight.adjusted[0]) == 2 / 256
    True
    """
    table = np.nan_to_num(np.asarray(differences, dtype=float))
    # The sum of squares stays the same whatever is flipped, so this rises with t and needs no second pass.
    scale = np.sqrt((table**2).sum(axis=0))
    tested = np.flatnonzero(scale > 0)
    columns = table[:, tested] / scale[tested]
    fold = np.positive if one_sided else np.abs
    observed = fold(columns.sum(axis=0))
    order = np.argsort(-observed, kind="stable")
    p, adjusted, critical = _count(columns[:, order], observed[order], seed, level, one_sided)
    floor = (1.0 if one_sided else 2.0) * 2.0 ** -np.count_nonzero(table[:, tested], axis=0).astype(float)
    return JointFlips(
        _spread(p, tested[order], len(scale)), _spread(adjusted, tested[order], len(scale)),
        _spread(floor, tested, len(scale)), critical,
    )  # fmt: skip


def _count(
    columns: np.ndarray, observed: np.ndarray, seed: int, level: float, one_sided: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return p, step-down p and the critical value; the columns come by falling statistic."""
    if not len(observed):
        return np.zeros(0), np.zeros(0), np.inf
    fold = np.positive if one_sided else np.abs
    alone, together, largest, patterns = np.zeros(len(observed)), np.zeros(len(observed)), [], 0
    needed = observed - SAME * np.abs(observed)
    for signs in _patterns(len(columns), len(observed), seed, whole=one_sided):
        flipped = fold(signs @ columns)
        beside = np.maximum.accumulate(flipped[:, ::-1], axis=1)[:, ::-1]  # the largest of this and all weaker tests
        alone += (flipped >= needed).sum(axis=0)
        together += (beside >= needed).sum(axis=0)
        largest.append(beside[:, 0])
        patterns += len(signs)
    adjusted = np.maximum.accumulate(together / patterns)
    return alone / patterns, adjusted, float(np.quantile(np.concatenate(largest), 1 - level, method="higher"))


def _patterns(people: int, tests: int, seed: int, whole: bool = False) -> Iterator[np.ndarray]:
    """Yield patterns of signs in blocks: all of them, or the observed one and a sample.

    Two-sided, patterns that differ only by the sign of the whole count once (not `whole`).
    """
    block = max(1, AT_ONCE // max(tests, people))
    if people <= EXACT:
        numbers = np.arange(2 ** (people if whole else max(people - 1, 0)))
        for first in range(0, len(numbers), block):
            bits = numbers[first : first + block, None] >> np.arange(people) & 1
            yield 1.0 - 2.0 * bits
        return
    if (DRAWS + 1) * people <= KEPT and block > DRAWS:
        yield _kept(people, seed)
        return
    yield np.ones((1, people))
    rng = np.random.default_rng(seed)
    for first in range(0, DRAWS, block):
        yield _drawn(rng, min(block, DRAWS - first), people)


@lru_cache(maxsize=2)
def _kept(people: int, seed: int) -> np.ndarray:
    """Return the observed pattern and the sample in one block: the tests of an audit ask for the same again and again."""
    return np.vstack([np.ones((1, people)), _drawn(np.random.default_rng(seed), DRAWS, people)])


def _drawn(rng: np.random.Generator, patterns: int, people: int) -> np.ndarray:
    return rng.integers(0, 2, (patterns, people)) * 2.0 - 1.0


def _spread(values: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    whole = np.full(size, np.nan)
    whole[places] = values
    return whole

"""Comparison of groups: analysis of variance (type II), pairs, Welch's and the paired t.

[1] Langsrud (2003), ANOVA for unbalanced data: use type II, Statistics and Computing 13, 163-167.
[2] Welch (1947), The generalization of "Student's" problem, Biometrika 34, 28-35.
[3] Pustejovsky, Tipton (2018), Small-sample methods for cluster-robust variance estimation, J. of Business & Economic Stat. 36, 672-683.
[4] Tamhane (1977), Multiple comparisons in model I one-way ANOVA with unequal variances, Communications in Stat. 6, 15-32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import DRAWS, NEAR, SAME, Permuted, one_over_ways

# A residual this small a share of all variation is rounding, not variation; so is a spread this small of the values, or of 1
# where they are smaller: shares and distances that differ by less were made equal and added in another order.
DUST = 1e-12
PERMUTED = 1_000  # people who are permuted
LEAST = 3  # people of a group that is compared
LARGE, ALIKE = 12, 1.5  # people of the smallest cell whose power is known, and times as many of the largest
BLOCKS = 10  # of `DRAWS` orders: after the first, for terms whose statistic fewer than `NEAR` reached

Compared = tuple[str, np.ndarray, np.ndarray, int]  # a term's name, both models and its degrees of freedom


@dataclass(frozen=True)
class Term(Estimate):
    """One line of an analysis of variance; the value is partial eta squared."""

    name: str = ""
    sum_of_squares: float = np.nan
    df: int = 0
    f: float = np.nan


@dataclass(frozen=True)
class Anova:
    """The terms, and the residual's degrees of freedom."""

    terms: tuple[Term, ...]
    residual_df: int
    n: int


@dataclass(frozen=True)
class Difference(Estimate):
    """A difference of two group means; the note says why there is none."""

    first: str = ""
    second: str = ""
    statistic: float = np.nan  # t
    df: float = np.nan


def anova(values: np.ndarray, factors: Mapping[str, np.ndarray]) -> Anova:
    """Return the type II analysis of variance for one factor, or two with their interaction."""
    if not 1 <= len(factors) <= 2:
        raise PortrayalError(f"anova got {len(factors)} factors ({', '.join(factors)}). Expected one or two.")
    values = np.asarray(values, dtype=float)
    compared, full = _models(factors)
    values = np.full(len(values), values.mean()) if is_constant(values) else values
    residual, rank = _fit(values, full)
    residual_df = len(values) - rank
    if is_constant(values) or residual <= DUST * np.sum((values - values.mean()) ** 2):
        residual = 0.0
    variance = residual / residual_df if residual_df > 0 else np.nan
    terms = tuple(_term(values, each, variance, residual_df) for each in compared)
    return Anova(terms, residual_df, len(values))


def permute_terms(values: np.ndarray, factors: Mapping[str, np.ndarray], seed: int = 0) -> Permuted | None:
    """Return the larger p of every term, permuted or robust; None for constants.

    Permuted people make few in a cell, who may have the same number by chance, no certainty; the robust test [3] allows groups to
    spread differently. A term with fewer than `LEAST` people in a group has neither.
    """
    values = np.asarray(values, dtype=float)
    if is_constant(values):
        return None
    compared, full = _models(factors)
    centred, everything, terms, p = values - values.mean(), _basis(full), {}, {}
    for name, smaller, larger, _ in compared:
        known = _basis(smaller)
        beyond = _basis(larger - known @ (known.T @ larger))  # what the larger model can do and the smaller cannot
        if beyond.shape[1] and not small_groups(factors, name):
            terms[name], p[name] = beyond, _robust_p(centred, np.hstack([known, beyond]), beyond)
    if len(values) <= PERMUTED:
        permuted = _permuted_p(centred, terms, everything, seed)
        p = {name: max(p[name], permuted[name]) for name in terms}
    _, sizes = np.unique(cells_of(factors), return_counts=True)
    return Permuted(p, one_over_ways(sizes))


def small_groups(factors: Mapping[str, np.ndarray], term: str) -> list[str]:
    """Return the groups of a term with fewer than `LEAST` people."""
    levels = factors[term] if term in factors else cells_of(factors)
    names, sizes = np.unique(np.asarray(levels).astype(str), return_counts=True)
    return [str(name) for name in names[sizes < LEAST]]


def has_known_power(factors: Mapping[str, np.ndarray]) -> bool:
    """Tell whether cells are so large and alike that the noncentral F is their power."""
    sizes = np.unique(cells_of(factors), return_counts=True)[1]
    return bool(sizes.min() >= LARGE and sizes.max() <= ALIKE * sizes.min())


def cells_of(factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the name of each person's cell: the levels joined by commas."""
    first, *others = (np.asarray(levels).astype(str) for levels in factors.values())
    for levels in others:
        first = np.char.add(np.char.add(first, ", "), levels)
    return first


def _robust_p(values: np.ndarray, model: np.ndarray, term: np.ndarray) -> float:
    """Return the p of a term by its HC2 variance [3]; columns are orthonormal."""
    leverage = np.minimum((model**2).sum(axis=1), 1 - SAME)
    residual = values - model @ (model.T @ values)
    inflated, width = 1 / (1 - leverage), term.shape[1]
    variance = (term * (residual**2 * inflated)[:, None]).T @ term
    effect, total = term.T @ values, float((values**2).sum())
    # A group without any spread gives the variance no direction; then permutation decides.
    q = effect @ np.linalg.solve(variance + SAME * total / len(values) * np.eye(width), effect)
    if len(values) > PERMUTED:
        return float(scipy.special.chdtrc(width, q))
    rest = np.eye(len(values)) - model @ model.T
    spread = ((term @ term.T * rest) ** 2 * np.multiply.outer(inflated, inflated)).sum()
    freedom = width * (width + 1) / (2 * spread)
    free = freedom - width + 1
    return float(scipy.special.fdtrc(width, free, free / (freedom * width) * q)) if free > 0 else 1.0


def _permuted_p(values: np.ndarray, terms: Mapping[str, np.ndarray], full: np.ndarray, seed: int) -> dict[str, float]:
    """Return of each term the share of orders whose statistic reaches its own."""
    needed = {name: own[0] - SAME for name, own in _statistics(values[None], terms, full).items()}
    reached, drawn = dict.fromkeys(terms, 0), dict.fromkeys(terms, 0)
    for block in range(BLOCKS):
        undecided = {name: basis for name, basis in terms.items() if not block or reached[name] < NEAR}
        if not undecided:
            break
        orders = _orders(len(values), seed + 1_000_003 * block)
        for name, shares in _statistics(values[orders], undecided, full).items():
            reached[name] += int((shares >= needed[name]).sum())
            drawn[name] += len(orders)
    return {name: (reached[name] + 1) / (drawn[name] + 1) for name in terms}


def _statistics(rows: np.ndarray, terms: Mapping[str, np.ndarray], full: np.ndarray) -> dict[str, np.ndarray]:
    """Return each term's partial eta squared for every row: an order of the values."""
    total = float((rows[0] ** 2).sum())
    along = (rows @ np.hstack([full, *terms.values()])) ** 2
    residual = np.maximum(total - along[:, : full.shape[1]].sum(axis=1), 0.0)
    shares, start = {}, full.shape[1]
    for name, basis in terms.items():
        squares = along[:, start : start + basis.shape[1]].sum(axis=1)
        start += basis.shape[1]
        whole = squares + residual
        shares[name] = np.divide(squares, whole, out=np.zeros(len(rows)), where=whole > SAME * total)
    return shares


@lru_cache(maxsize=16)
def _orders(people: int, seed: int) -> np.ndarray:
    """Return permutations of so many people; the places of a study share them."""
    keys = np.random.default_rng(seed).random((DRAWS, people), dtype=np.float32)
    return np.argsort(keys, axis=1).astype(np.int16)


def _basis(columns: np.ndarray) -> np.ndarray:
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return vectors[:, sizes > SAME * max(1.0, sizes.max(initial=0.0))]


def compare_pairs(values: np.ndarray, groups: np.ndarray, least: int = LEAST) -> list[Difference]:
    """Return Welch's differences of all pairs of groups, corrected over the pairs [4]."""
    values, groups = np.asarray(values, dtype=float), np.asarray(groups)
    parts = {name: values[groups == name] for name in sorted(set(groups.tolist()))}
    tests, pairs = max(comb(sum(len(part) >= least for part in parts.values()), 2), 1), []
    for first, second in combinations(parts, 2):
        n = len(parts[first]) + len(parts[second])
        if small := [f"{name} has {len(parts[name])}" for name in (first, second) if len(parts[name]) < least]:
            reason = f"a group under {least} people is not compared: {', '.join(small)}"
            pairs.append(Difference(n=n, note=reason, first=first, second=second))
            continue
        gap = welch(parts[first], parts[second], 0.95 ** (1 / tests))
        note = "nothing varies in them" if np.isnan(gap.p) else ""
        p = -np.expm1(tests * np.log1p(-min(gap.p, 1 - SAME))) if not note else np.nan
        pairs.append(replace(gap, p=float(p), note=note, first=first, second=second))
    return pairs


def welch(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Difference:
    """Return the difference of means by Welch's test [2]; NaN where nothing can be tested."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n = len(first) + len(second)
    gap = float(first.mean() - second.mean()) if len(first) and len(second) else np.nan
    if min(len(first), len(second)) < 2 or (is_constant(first) and is_constant(second)):
        return Difference(gap, n=n)
    parts = np.array([side.var(ddof=1) / len(side) for side in (first, second)])
    error = float(np.sqrt(parts.sum()))
    df = float(parts.sum() ** 2 / (parts**2 / [len(first) - 1, len(second) - 1]).sum())
    half, t = float(scipy.special.stdtrit(df, (1 + level) / 2)) * error, gap / error
    p = float(2 * scipy.special.stdtr(df, -abs(t)))
    return Difference(gap, gap - half, gap + half, p, n, statistic=t, df=df)


def paired_t(differences: np.ndarray) -> Estimate:
    """Return the mean of differences by Student's t; without any change p is 1."""
    mean = clustered_mean(differences)
    if len(differences) < 2 or np.ptp(differences) == 0:
        return replace(mean, p=1.0 if len(differences) > 1 and not np.any(differences) else np.nan)
    return replace(mean, p=float(scipy.stats.ttest_1samp(differences, 0.0).pvalue))


def is_constant(values: np.ndarray) -> bool:
    """Tell whether the values are all the same but for rounding."""
    values = np.asarray(values, dtype=float)
    return len(values) == 0 or bool(np.ptp(values) <= DUST * max(1.0, np.abs(values).max()))


def _dummies(levels: np.ndarray) -> np.ndarray:
    """Return indicator columns of all levels but the first."""
    names = np.unique(levels)
    return (levels[:, None] == names[None, 1:]).astype(float)


def _fit(values: np.ndarray, design: np.ndarray) -> tuple[float, int]:
    """Return residual sum of squares and rank of a least-squares fit."""
    solution, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    return float(np.sum((values - design @ solution) ** 2)), int(rank)


def _models(factors: Mapping[str, np.ndarray]) -> tuple[list[Compared], np.ndarray]:
    """Return each term's name, two models and degrees of freedom [1]; and the full model."""
    names, columns = list(factors), [_dummies(np.asarray(levels)) for levels in factors.values()]
    intercept = np.ones((len(columns[0]), 1))
    full = np.hstack([intercept, *columns])
    if len(names) == 1:
        return [(names[0], intercept, full, columns[0].shape[1])], full
    product = (columns[0][:, :, None] * columns[1][:, None, :]).reshape(len(intercept), -1)
    whole = np.hstack([full, product])
    terms = [
        (names[place], np.hstack([intercept, columns[1 - place]]), full, columns[place].shape[1]) for place in (0, 1)
    ]
    return [*terms, (f"{names[0]} x {names[1]}", full, whole, product.shape[1])], whole


def _term(values: np.ndarray, compared: Compared, variance: float, residual_df: int) -> Term:
    name, smaller, larger, expected = compared
    before, rank_before = _fit(values, smaller)
    after, rank_after = _fit(values, larger)
    df, squares = rank_after - rank_before, max(before - after, 0.0)
    if reason := _why_not(df, expected, variance, residual_df):
        return Term(n=len(values), note=reason, name=name, df=df)
    f = squares / df / variance
    share = squares / (squares + variance * residual_df)
    p, ends = float(scipy.special.fdtrc(df, residual_df, f)), share_interval(f, df, residual_df)
    # With an F far below 1 no noncentrality fits and both ends are 0; the interval still holds its estimate.
    low, high = ends[0], max(ends[1], share)
    return Term(share, low, high, p, len(values), name=name, sum_of_squares=squares, df=df, f=f)


def _why_not(df: int, expected: int, variance: float, residual_df: int) -> str:
    if expected == 0:
        return "a factor has a single level here"
    if df < expected:
        return f"the design estimates {df} of {expected} degrees of freedom: some cells have nobody in them"
    if residual_df < 1:
        return "no degrees of freedom are left for the residual"
    return "" if variance > 0 else "nothing varies within the cells"


def share_interval(f: float, df: int, residual_df: int, level: float = 0.95) -> tuple[float, float]:
    """Return the ends for partial eta squared, by inverting the noncentral F distribution."""
    ends = [_noncentrality(f, df, residual_df, (1 + level) / 2), _noncentrality(f, df, residual_df, (1 - level) / 2)]
    low, high = (end / (end + df + residual_df + 1) for end in ends)
    return low, high


def _noncentrality(f: float, df: int, residual_df: int, below: float) -> float:
    """Return the noncentrality with a share `below` of F values under `f`, or zero."""
    if scipy.special.fdtr(df, residual_df, f) <= below:
        return 0.0
    if f > 1e5:
        return np.nan  # beyond what the noncentral distribution is computed for
    highest = 10.0 + 4 * f * df
    while scipy.special.ncfdtr(df, residual_df, highest, f) > below:
        highest *= 2
    return float(scipy.optimize.brentq(lambda at: scipy.special.ncfdtr(df, residual_df, at, f) - below, 1e-12, highest))

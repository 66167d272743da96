"""Comparison of groups: analysis of variance (type II), Tukey's HSD, Welch's and the paired t.

[1] Langsrud (2003), ANOVA for unbalanced data: use type II, Statistics and Computing 13, 163-167.
[2] Kramer (1956), Multiple range tests with unequal numbers of replications, Biometrics 12, 307-310.
[3] Welch (1947), The generalization of "Student's" problem, Biometrika 34, 28-35.
[4] Lund, Lund (1983), Algorithm AS 190, Applied Statistics 32, 204-210: the studentised range, by Gauss-Legendre quadrature of
    P(q) = integral over s of f(s; df) * W(q s),   W(w) = k * integral over z of phi(z) [Phi(z) - Phi(z - w)]^(k - 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.permuted import DRAWS, NEAR, SAME, Permuted, one_over_ways

# A residual this small a share of all variation is rounding, not variation; so is a spread this small of the values, or of 1
# where they are smaller: shares and distances that differ by less were made equal and added in another order.
DUST = 1e-12
PERMUTED = 1_000  # people who are permuted; of more the F distribution is as good
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
    """The terms, and the residual variance that Tukey's test borrows."""

    terms: tuple[Term, ...]
    residual_variance: float
    residual_df: int
    n: int


@dataclass(frozen=True)
class Difference(Estimate):
    """A difference of two group means; the note says why there is none."""

    first: str = ""
    second: str = ""
    statistic: float = np.nan  # t, or the studentised range
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
    return Anova(terms, variance, residual_df, len(values))


def permute_terms(values: np.ndarray, factors: Mapping[str, np.ndarray], seed: int = 0) -> Permuted | None:
    """Return the p of every term, whole people permuted; None for constants or many people.

    With two or three people in a cell everybody of a cell may have the same number by chance: the F distribution takes that for
    certainty. The statistic is partial eta squared.
    """
    values = np.asarray(values, dtype=float)
    if len(values) > PERMUTED or is_constant(values):
        return None
    compared, full = _models(factors)
    centred, everything, terms = values - values.mean(), _basis(full), {}
    for name, smaller, larger, _ in compared:
        known = _basis(smaller)
        beyond = _basis(larger - known @ (known.T @ larger))  # what the larger model can do and the smaller cannot
        if beyond.shape[1]:
            terms[name] = beyond
    cells = np.stack([np.asarray(levels).astype(str) for levels in factors.values()], axis=1)
    _, sizes = np.unique(cells, axis=0, return_counts=True)
    return Permuted(_permuted_p(centred, terms, everything, seed), one_over_ways(sizes))


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


def tukey(values: np.ndarray, groups: np.ndarray, variance: float, df: float, least: int = 3) -> list[Difference]:
    """Return Tukey-Kramer differences [2] of all pairs of groups of `least` people."""
    values, groups = np.asarray(values, dtype=float), np.asarray(groups)
    names = sorted(set(groups.tolist()))
    parts = {name: values[groups == name] for name in names}
    large = [name for name in names if len(parts[name]) >= least]
    comparable = len(large) > 1 and df > 0 and variance > 0
    compared = _tukey_pairs(parts, large, variance, df) if comparable else {}
    reason = "the residual variance is zero or has no degrees of freedom"
    return [compared.get(pair) or _not_compared(*pair, parts, least, reason) for pair in combinations(names, 2)]


def welch(first: np.ndarray, second: np.ndarray, level: float = 0.95) -> Difference:
    """Return the difference of means by Welch's test [3]; NaN where nothing can be tested."""
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


def _tukey_pairs(
    parts: Mapping[str, np.ndarray], large: list[str], variance: float, df: float
) -> dict[tuple[str, str], Difference]:
    pairs = list(combinations(large, 2))
    gaps = np.array([parts[a].mean() - parts[b].mean() for a, b in pairs])
    errors = np.array([np.sqrt(variance / 2 * (1 / len(parts[a]) + 1 / len(parts[b]))) for a, b in pairs])
    q = np.abs(gaps) / errors
    p, half = survival(q, len(large), df), critical(len(large), float(df)) * errors
    columns = (column.tolist() for column in (gaps, half, p, q))
    return {
        (a, b): Difference(gap, gap - reach, gap + reach, chance, len(parts[a]) + len(parts[b]), first=a, second=b,
                           statistic=statistic, df=df)
        for (a, b), gap, reach, chance, statistic in zip(pairs, *columns, strict=True)
    }  # fmt: skip


def _not_compared(first: str, second: str, parts: Mapping[str, np.ndarray], least: int, reason: str) -> Difference:
    small = [f"{name} has {len(parts[name])}" for name in (first, second) if len(parts[name]) < least]
    if small:
        reason = f"a group under {least} people is not compared: {', '.join(small)}"
    n = len(parts[first]) + len(parts[second])
    return Difference(n=n, note=reason, first=first, second=second)


NODES = 96  # per axis; 1e-10 against scipy over the range tests use
WIDEST = 17.0  # a range of normals that is never exceeded: W is 1 to the last digit
SMOOTH, DEGREE = 12, 80  # up to so many groups a series of this degree is W within 1e-12
TAIL = 1e-14  # what is left out at either end of the scale's distribution


def survival(q: np.ndarray | float, groups: int, df: float) -> np.ndarray:
    """Return the chance that the studentised range exceeds `q` [4]."""
    q = np.atleast_1d(np.asarray(q, dtype=float))
    scale, weight = _scale_nodes(float(df))
    width = np.multiply.outer(np.nan_to_num(q), scale)
    below = (_interpolated(width, groups) if groups <= SMOOTH else _normal_range(width, groups)) @ weight
    return np.where(np.isnan(q), np.nan, np.clip(1.0 - below, 0.0, 1.0))


@lru_cache(maxsize=256)
def critical(groups: int, df: float, level: float = 0.95) -> float:
    """Return the studentised range that is exceeded with a chance of `1 - level`."""
    return float(scipy.optimize.brentq(lambda q: survival(q, groups, df)[0] - (1 - level), 0.0, 2000.0, xtol=1e-10))


@lru_cache(maxsize=1)
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(NODES)


@lru_cache(maxsize=64)
def _scale_nodes(df: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes for s = sqrt(chi-squared / df), and quadrature weights times its density."""
    low, high = np.sqrt(scipy.stats.chi2.ppf([TAIL, 1 - TAIL], df) / df)
    nodes, weights = _legendre()
    scale = low + (high - low) * (nodes + 1) / 2
    density = 2 * scale * df * scipy.stats.chi2.pdf(df * scale**2, df)
    return scale, weights * density * (high - low) / 2


def _interpolated(width: np.ndarray, groups: int) -> np.ndarray:
    """W(w) from its Chebyshev series, within 1e-12: every test of so many groups shares it."""
    place = 2 * np.minimum(width, WIDEST) / WIDEST - 1
    return np.polynomial.chebyshev.chebval(place, _series(groups))


@lru_cache(maxsize=SMOOTH)
def _series(groups: int) -> np.ndarray:
    """Return the coefficients of W over 0 to WIDEST."""
    return np.polynomial.chebyshev.chebinterpolate(
        lambda place: _normal_range((place + 1) / 2 * WIDEST, groups), DEGREE
    )


def _normal_range(width: np.ndarray, groups: int) -> np.ndarray:
    """W(w): the distribution function of the range of `groups` standard normals."""
    nodes, weights = _legendre()
    z = 8.5 * nodes
    inside = scipy.special.ndtr(z) - scipy.special.ndtr(z - width[..., None])
    density = groups * 8.5 * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return inside ** (groups - 1) @ density

"""Agreement of raters: Cronbach's alpha [1], Krippendorff's alpha [2], Cohen's kappa [3].

Judgments are items x raters, NaN where a rater did not judge; intervals resample items, because they are what is sampled.
[1] Cronbach (1951), Psychometrika 16, 297-334.
[2] Krippendorff (2011), Computing Krippendorff's alpha-reliability, University of Pennsylvania.
[3] Cohen (1960), Educational and Psychological Measurement 20, 37-46; weighted: Psychological Bulletin 70 (1968), 213-220.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.tables import REVIEWS, check, results

# Takes item weights (draws x items) and gives one coefficient per draw; NaN where it is not defined.
Weighted = Callable[[np.ndarray], np.ndarray]


def cronbach_alpha(ratings: np.ndarray, draws: int = 2000, seed: int = 0) -> Estimate:
    """Return Cronbach's alpha: k / (k - 1) (1 - sum(variances) / variance of sum)."""
    ratings = complete(_matrix(ratings))
    return _interval(_cronbach(ratings), len(ratings), draws, seed)


def krippendorff_alpha(ratings: np.ndarray, level: str = "nominal", draws: int = 2000, seed: int = 0) -> Estimate:
    """Return Krippendorff's alpha: 1 - observed over expected disagreement [2]."""
    if level not in DISTANCES:
        raise PortrayalError(f"no level of measurement {level!r}. Known: {', '.join(DISTANCES)}.")
    ratings = _matrix(ratings)
    ratings = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]  # items at least two raters judged
    return _interval(_krippendorff(ratings, level), len(ratings), draws, seed)


def cohen_kappa(
    first: np.ndarray, second: np.ndarray, weights: str = "none", draws: int = 2000, seed: int = 0
) -> Estimate:
    """Return Cohen's kappa of two raters: 1 - observed over chance disagreement [3]."""
    if weights not in KAPPA_WEIGHTS:
        raise PortrayalError(f"no weights {weights!r} for kappa. Known: {', '.join(KAPPA_WEIGHTS)}.")
    pairs = complete(_matrix(np.column_stack([first, second])))
    return _interval(_kappa(pairs, weights), len(pairs), draws, seed)


def complete(ratings: np.ndarray) -> np.ndarray:
    """Return the items every rater judged."""
    return ratings[~np.isnan(ratings).any(axis=1)]


def _matrix(ratings: np.ndarray) -> np.ndarray:
    ratings = np.asarray(ratings, dtype=float)
    if ratings.ndim != 2 or ratings.shape[1] < 2:
        expected = "Agreement needs items x raters with at least two raters."
        raise PortrayalError(f"ratings has shape {ratings.shape}. {expected}")
    return ratings


def _interval(statistic: Weighted, items: int, draws: int, seed: int) -> Estimate:
    """Evaluate at equal weights and take the 2.5% and 97.5% quantiles over resampled items."""
    if items < 2:
        return Estimate(n=items)
    value = statistic(np.ones((1, items)))[0]
    counts = np.random.default_rng(seed).multinomial(items, np.full(items, 1 / items), size=draws)
    sampled = statistic(counts.astype(float))
    defined = sampled[~np.isnan(sampled)]
    # A resample without any variation has no coefficient; when most are such, the interval says nothing.
    if np.isnan(value) or len(defined) < draws / 2:
        return Estimate(float(value), n=items)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Estimate(float(value), float(low), float(high), n=items)


def _cronbach(ratings: np.ndarray) -> Weighted:
    raters = ratings.shape[1]
    columns = np.column_stack([ratings, ratings.sum(axis=1)])

    def statistic(weights: np.ndarray) -> np.ndarray:
        n = weights.sum(axis=1, keepdims=True)
        means = weights @ columns / n
        variances = (weights @ columns**2 - n * means**2) / (n - 1)
        total = np.where(variances[:, -1] > 1e-12, variances[:, -1], np.nan)
        return raters / (raters - 1) * (1 - variances[:, :-1].sum(axis=1) / total)

    return statistic


def _krippendorff(ratings: np.ndarray, level: str) -> Weighted:
    values, coincidences = _coincidences(ratings)
    distance = DISTANCES[level]

    def statistic(weights: np.ndarray) -> np.ndarray:
        observed = np.tensordot(weights, coincidences, axes=1)
        marginal = observed.sum(axis=2)
        squared = distance(values, marginal)
        expected = marginal[:, :, None] * marginal[:, None, :]
        chance = (expected * squared).sum(axis=(1, 2))
        chance = np.where(chance > 0, chance, np.nan)
        return 1 - (marginal.sum(axis=1) - 1) * (observed * squared).sum(axis=(1, 2)) / chance

    return statistic


def _coincidences(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values and each item's pairs of values over (judgments - 1)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = (ratings[:, :, None] == values).sum(axis=1).astype(float)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(len(values)), np.arange(len(values))] -= counts
    return values, pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]


def _kappa(pairs: np.ndarray, weights: str) -> Weighted:
    values = np.unique(pairs)
    first, second = (pairs[:, [column]] == values for column in (0, 1))
    table = (first[:, :, None] & second[:, None, :]).astype(float)
    cost = KAPPA_WEIGHTS[weights](np.abs(values[:, None] - values[None, :]))

    def statistic(items: np.ndarray) -> np.ndarray:
        observed = np.tensordot(items, table, axes=1) / items.sum(axis=1)[:, None, None]
        chance = observed.sum(axis=2)[:, :, None] * observed.sum(axis=1)[:, None, :]
        expected = (chance * cost).sum(axis=(1, 2))
        return 1 - (observed * cost).sum(axis=(1, 2)) / np.where(expected > 0, expected, np.nan)

    return statistic


def _nominal(values: np.ndarray, marginal: np.ndarray) -> np.ndarray:
    return np.broadcast_to(1.0 - np.eye(len(values)), (len(marginal), len(values), len(values)))


def _ordinal(values: np.ndarray, marginal: np.ndarray) -> np.ndarray:
    """Square the number of judgments between two ranks, the ends counted half [2]."""
    middle = np.cumsum(marginal, axis=1) - marginal / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def _interval_distance(values: np.ndarray, marginal: np.ndarray) -> np.ndarray:
    squared = (values[:, None] - values[None, :]) ** 2
    return np.broadcast_to(squared, (len(marginal), *squared.shape))


DISTANCES = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval_distance}
KAPPA_WEIGHTS = {
    "none": lambda difference: (difference > 0).astype(float),
    "linear": lambda difference: difference,
    "quadratic": lambda difference: difference**2,
}


UNDEFINED = "not defined: the judgments do not vary, or fewer than two items"


def agreement(
    reviews: Any,
    question: str | None = None,
    level: str = "nominal",
    values: Mapping[str, float] | None = None,
    audit: str = "",
    draws: int = 2000,
    seed: int = 0,
) -> pl.DataFrame:
    """Return both alphas over all raters and every pair, kappa for every pair."""
    needed = {name: kind for name, kind in REVIEWS.items() if name != "note"}  # nothing here reads notes
    frame = check(reviews, needed, "reviews", "Agreement needs one row per item and reviewer.")
    question = _question(frame, question)
    raters, ratings = rating_matrix(frame.filter(pl.col("question") == question), level, values)
    rows = []
    everybody, pairs = tuple(range(len(raters))), combinations(range(len(raters)), 2)
    for chosen in dict.fromkeys([everybody, *pairs]):
        about = {"group": " + ".join(raters[index] for index in chosen), "unit": "coefficient", "counted": "items"}
        for measure, estimate in _coefficients(ratings[:, chosen], level, draws, seed).items():
            note = "" if estimate.value == estimate.value else UNDEFINED
            rows.append(estimate.row(measure, n_missing=len(ratings) - (estimate.n or 0), note=note, **about))
    return results(rows, facets=("question",), audit=audit, question=question)


def rating_matrix(
    reviews: pl.DataFrame, level: str = "nominal", values: Mapping[str, float] | None = None
) -> tuple[list[str], np.ndarray]:
    """Return the raters and their judgments as numbers, items x raters."""
    judged = reviews.filter(pl.col("judgment").is_not_null())
    twice = judged.filter(pl.struct("item", "reviewer").is_duplicated())
    if not twice.is_empty():
        item, reviewer = twice["item"][0], twice["reviewer"][0]
        raise PortrayalError(f"reviewer {reviewer!r} judged item {item!r} twice. Keep one judgment.")
    raters = sorted(judged["reviewer"].unique().to_list())
    if len(raters) < 2:
        raise PortrayalError(f"reviews holds {len(raters)} rater(s). Agreement needs at least two.")
    codes = _codes(judged["judgment"].unique().to_list(), level, values)
    items = sorted(reviews["item"].unique().to_list())
    ratings = np.full((len(items), len(raters)), np.nan)
    place = {item: row for row, item in enumerate(items)}
    for item, rater, judgment in judged.select("item", "reviewer", "judgment").iter_rows():
        ratings[place[item], raters.index(rater)] = codes[judgment]
    return raters, ratings


def _question(frame: pl.DataFrame, question: str | None) -> str:
    known = sorted(frame["question"].unique().drop_nulls().to_list())
    if question is None and len(known) == 1:
        return known[0]
    if question is None or question not in known:
        raise PortrayalError(f"reviews has no question {question!r}. Name one of: {', '.join(known)}.")
    return question


def _codes(judgments: Sequence[str], level: str, values: Mapping[str, float] | None) -> dict[str, float]:
    if values is not None:
        if lacking := sorted(set(judgments) - set(values)):
            raise PortrayalError(f"judgment {lacking[0]!r} has no number. Add it to `values`.")
        return {judgment: float(values[judgment]) for judgment in judgments}
    try:
        return {judgment: float(judgment) for judgment in judgments}
    except ValueError:
        if level != "nominal":
            why = f"judgments are words, the level is {level!r}. Give their numbers as `values`."
            raise PortrayalError(why) from None
    return {judgment: float(code) for code, judgment in enumerate(sorted(judgments))}


def _coefficients(ratings: np.ndarray, level: str, draws: int, seed: int) -> dict[str, Estimate]:
    alphas = {"krippendorff_alpha": krippendorff_alpha(ratings, level, draws, seed)}
    # Cronbach's alpha adds ratings up, so three or more unordered categories have none.
    if level != "nominal" or len(np.unique(complete(ratings))) <= 2:
        alphas["cronbach_alpha"] = cronbach_alpha(ratings, draws, seed)
    if ratings.shape[1] == 2:
        weights = {"nominal": "none", "ordinal": "linear", "interval": "quadratic"}[level]
        alphas["cohen_kappa"] = cohen_kappa(ratings[:, 0], ratings[:, 1], weights, draws, seed)
    return alphas

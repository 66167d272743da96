"""Agreement of raters: Cronbach's alpha [1], Krippendorff's alpha [2], Cohen's kappa [3].

Judgments are items x raters, NaN where a rater did not judge; intervals leave out items, because they are what is sampled.
[1] Cronbach (1951), Psychometrika 16, 297-334.
[2] Krippendorff (2011), Computing Krippendorff's alpha-reliability, University of Pennsylvania.
[3] Cohen (1960), Educational and Psychological Measurement 20, 37-46; weighted: Psychological Bulletin 70 (1968), 213-220.
[4] Bonett (2002), Sample size requirements for testing and estimating coefficient alpha, J. of Educational and Behavioral Stat. 27.
[5] Dawid, Skene (1979), Applied Statistics 28, 20-28. [6] Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats import scipy
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_quantile, wilson_ends
from portrayal.tables import REVIEWS, check, results

Coefficient = Callable[[np.ndarray], np.ndarray]  # of sums over items, one row each; NaN where it is not defined
FEW_MIXED, FEW_SETTLED = 5, 2  # items with another than the usual judgment, and where most raters gave another


def cronbach_alpha(ratings: np.ndarray) -> Estimate:
    """Return Cronbach's alpha: k / (k - 1) (1 - sum(variances) / variance of sum)."""
    ratings = complete(_matrix(ratings))
    return _interval(*_cronbach(ratings), ratings)


def krippendorff_alpha(ratings: np.ndarray, level: str = "nominal") -> Estimate:
    """Return Krippendorff's alpha: 1 - observed over expected disagreement [2]."""
    if level not in DISTANCES:
        raise PortrayalError(f"no level of measurement {level!r}. Known: {', '.join(DISTANCES)}.")
    ratings = _matrix(ratings)
    ratings = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]  # items at least two raters judged
    return _interval(*_krippendorff(ratings, level), ratings)


def cohen_kappa(first: np.ndarray, second: np.ndarray, weights: str = "none") -> Estimate:
    """Return Cohen's kappa of two raters: 1 - observed over chance disagreement [3]."""
    if weights not in KAPPA_WEIGHTS:
        raise PortrayalError(f"no weights {weights!r} for kappa. Known: {', '.join(KAPPA_WEIGHTS)}.")
    pairs = complete(_matrix(np.column_stack([first, second])))
    return _interval(*_kappa(pairs, weights), pairs)


def complete(ratings: np.ndarray) -> np.ndarray:
    """Return the items every rater judged."""
    return ratings[~np.isnan(ratings).any(axis=1)]


def _matrix(ratings: np.ndarray) -> np.ndarray:
    ratings = np.asarray(ratings, dtype=float)
    if ratings.ndim != 2 or ratings.shape[1] < 2:
        expected = "Agreement needs items x raters with at least two raters."
        raise PortrayalError(f"ratings has shape {ratings.shape}. {expected}")
    return ratings


def _interval(parts: np.ndarray, coefficient: Coefficient, ratings: np.ndarray) -> Estimate:
    """Return the coefficient and its interval by leaving out items [4].

    On the scale of log(1 - coefficient). None where raters agree throughout, or too few items hold other than the usual
    judgment: no interval covers there.
    """
    items = len(ratings)
    if items < 2:
        return Estimate(n=items)
    whole = parts.sum(axis=0)
    value = Estimate(float(coefficient(whole[None])[0]), n=items)
    values, counts = np.unique(ratings[~np.isnan(ratings)], return_counts=True)
    judged = (~np.isnan(ratings)).sum(axis=1)
    other = judged - (ratings == values[counts.argmax()]).sum(axis=1)
    mixed = min(np.count_nonzero(other), np.count_nonzero(other < judged))
    if mixed < FEW_MIXED or np.count_nonzero(2 * other > judged) < FEW_SETTLED or not value.value < 1:
        return value
    apart = 1 - coefficient(whole - parts)
    if not (apart > 0).all():
        return value
    logs = np.log(apart)
    half = t_quantile(mixed - 1) * float(np.sqrt((items - 1) / items * ((logs - logs.mean()) ** 2).sum()))
    low, high = (float(1 - (1 - value.value) * np.exp(sign * half)) for sign in (1, -1))
    return replace(value, low=max(low, -1.0), high=high)


def _cronbach(ratings: np.ndarray) -> tuple[np.ndarray, Coefficient]:
    raters = ratings.shape[1]
    columns = np.column_stack([ratings, ratings.sum(axis=1)])

    def coefficient(sums: np.ndarray) -> np.ndarray:
        n, first, second = sums[:, :1], sums[:, 1 : raters + 2], sums[:, raters + 2 :]
        variances = (second - first**2 / n) / (n - 1)
        total = np.where(variances[:, -1] > 1e-12, variances[:, -1], np.nan)
        return raters / (raters - 1) * (1 - variances[:, :-1].sum(axis=1) / total)

    return np.column_stack([np.ones(len(columns)), columns, columns**2]), coefficient


def _krippendorff(ratings: np.ndarray, level: str) -> tuple[np.ndarray, Coefficient]:
    values, coincidences = _coincidences(ratings)
    distance = DISTANCES[level]

    def coefficient(observed: np.ndarray) -> np.ndarray:
        marginal = observed.sum(axis=2)
        squared = distance(values, marginal)
        expected = marginal[:, :, None] * marginal[:, None, :]
        chance = (expected * squared).sum(axis=(1, 2))
        chance = np.where(chance > 0, chance, np.nan)
        return 1 - (marginal.sum(axis=1) - 1) * (observed * squared).sum(axis=(1, 2)) / chance

    return coincidences, coefficient


def _coincidences(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values and each item's pairs of values over (judgments - 1)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = (ratings[:, :, None] == values).sum(axis=1).astype(float)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(len(values)), np.arange(len(values))] -= counts
    return values, pairs / np.maximum(counts.sum(axis=1) - 1, 1)[:, None, None]


def _kappa(pairs: np.ndarray, weights: str) -> tuple[np.ndarray, Coefficient]:
    values = np.unique(pairs)
    first, second = (pairs[:, [column]] == values for column in (0, 1))
    cost = KAPPA_WEIGHTS[weights](np.abs(values[:, None] - values[None, :]))

    def coefficient(sums: np.ndarray) -> np.ndarray:
        observed = sums / sums.sum(axis=(1, 2))[:, None, None]
        chance = observed.sum(axis=2)[:, :, None] * observed.sum(axis=1)[:, None, :]
        expected = (chance * cost).sum(axis=(1, 2))
        return 1 - (observed * cost).sum(axis=(1, 2)) / np.where(expected > 0, expected, np.nan)

    return (first[:, :, None] & second[:, None, :]).astype(float), coefficient


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
        for measure, estimate in _coefficients(ratings[:, chosen], level).items():
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
    coded = judged.with_columns(pl.col("judgment").replace_strict(codes, return_dtype=pl.Float64))
    table = coded.pivot("reviewer", index="item", values="judgment")
    items = reviews.select(pl.col("item").unique().sort())
    return raters, items.join(table, on="item", how="left", maintain_order="left").select(raters).to_numpy()


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


def _coefficients(ratings: np.ndarray, level: str) -> dict[str, Estimate]:
    alphas = {"krippendorff_alpha": krippendorff_alpha(ratings, level)}
    # Cronbach's alpha adds ratings up, so three or more unordered categories have none.
    if level != "nominal" or len(np.unique(complete(ratings))) <= 2:
        alphas["cronbach_alpha"] = cronbach_alpha(ratings)
    if ratings.shape[1] == 2:
        weights = {"nominal": "none", "ordinal": "linear", "interval": "quadratic"}[level]
        alphas["cohen_kappa"] = cohen_kappa(ratings[:, 0], ratings[:, 1], weights)
    return alphas


def rated_share(ratings: np.ndarray) -> Estimate:
    """Return the share that an average rater affirms, of items x raters.

    A model of raters needs several judgments of most items [5]; here most have one, and a fifth several by design. So raters' own
    levels are compared where they judged the same, and added to the variance of the items, with Satterthwaite's degrees of
    freedom [6]: of two raters who say always and never, nothing is known.
    """
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

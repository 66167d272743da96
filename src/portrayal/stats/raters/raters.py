"""Agreement of the raters of a Reviews table, people and classifiers together, as Results rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.raters.agreement import cohen_kappa, complete, cronbach_alpha, krippendorff_alpha
from portrayal.tables import REVIEWS, check, results

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
    for chosen in _subsets(len(raters)):
        names = " + ".join(raters[index] for index in chosen)
        for measure, found in _coefficients(ratings[:, chosen], level, draws, seed).items():
            note = "" if found.value == found.value else UNDEFINED
            missing = len(ratings) - (found.n or 0)
            rows.append(
                found.row(measure, group=names, n_missing=missing, unit="coefficient", note=note, counted="items")
            )
    return results(rows, facets=("question",), audit=audit, question=question)


def rating_matrix(
    reviews: pl.DataFrame, level: str = "nominal", values: Mapping[str, float] | None = None
) -> tuple[list[str], np.ndarray]:
    """Return the raters and their judgments as numbers, items x raters."""
    judged = reviews.filter(pl.col("judgment").is_not_null())
    twice = judged.filter(pl.struct("item", "reviewer").is_duplicated())
    if not twice.is_empty():
        raise PortrayalError(
            f"reviewer {twice['reviewer'][0]!r} judged item {twice['item'][0]!r} twice. Keep one judgment."
        )
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
        lacking = sorted(set(judgments) - set(values))
        if lacking:
            raise PortrayalError(f"judgment {lacking[0]!r} has no number. Add it to `values`.")
        return {judgment: float(values[judgment]) for judgment in judgments}
    try:
        return {judgment: float(judgment) for judgment in judgments}
    except ValueError:
        pass
    if level != "nominal":
        raise PortrayalError(f"judgments are words, the level is {level!r}. Give their numbers as `values`.")
    return {judgment: float(code) for code, judgment in enumerate(sorted(judgments))}


def _subsets(raters: int) -> list[list[int]]:
    """All raters together, then every pair (once, when there are only two)."""
    pairs = [list(pair) for pair in combinations(range(raters), 2)]
    return pairs if raters == 2 else [list(range(raters)), *pairs]


def _coefficients(ratings: np.ndarray, level: str, draws: int, seed: int) -> dict[str, Estimate]:
    found = {"krippendorff_alpha": krippendorff_alpha(ratings, level, draws, seed)}
    # Cronbach's alpha adds ratings up, so three or more unordered categories have none.
    if level != "nominal" or len(np.unique(complete(ratings))) <= 2:
        found["cronbach_alpha"] = cronbach_alpha(ratings, draws, seed)
    if ratings.shape[1] == 2:
        weights = {"nominal": "none", "ordinal": "linear", "interval": "quadratic"}[level]
        found["cohen_kappa"] = cohen_kappa(ratings[:, 0], ratings[:, 1], weights, draws, seed)
    return found

"""Exposure [1]_: the share of a list's attention that goes to documents about each group.

Attention falls with the rank as in Definition 3.7 of the GSR paper, which is also the position bias of the exposure literature.

References
----------
.. [1] Singh, Joachims (2018), Fairness of exposure in rankings, KDD, 2219-2228.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from portrayal.audits.search.measures.genderedness import rank_weights
from portrayal.audits.search.measures.per_query import PerQuery
from portrayal.audits.search.measures.representation import groups_of_documents, named_groups, names_people
from portrayal.audits.search.measures.scored_runs import Row, ScoredQueries, ScoredRuns
from portrayal.stats.intervals.intervals import clustered_mean

DIFFERENCE = "difference"  # of the two poles


def exposure(groups: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Return each group's share of a list's attention; documents about no group take the rest.

    Examples
    --------
    >>> exposure(np.array([0, -1, 1]), np.array([1.0, 0.5, 0.5]), 2).tolist()
    [0.5, 0.25]
    """
    total = weights.sum()
    if not total:
        return np.full(count, np.nan)
    named = groups >= 0
    return np.bincount(groups[named], weights[named], minlength=count) / total


def _per_query(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return each group's share of attention and the poles' difference, per query."""
    groups, names = groups_of_documents(scored), named_groups(scored)
    shares = [
        exposure(groups[scored.bags.rows(listed)], rank_weights(len(listed), scored.history.discount), len(names))
        for listed in scored.cut(system).values()
    ]
    table = np.array(shares).reshape(len(shares), len(names))
    columns = dict(zip(names, table.T, strict=True)) | {DIFFERENCE: table[:, 0] - table[:, 1]}
    return pl.DataFrame({"query": list(scored.history.queries), **columns})


def _rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return each group's mean share of attention, and the difference of the poles."""
    poles, names = scored.settings.poles, named_groups(scored)
    usable = table.filter(~pl.col(poles[0]).is_nan())
    about = {"system": system, "n_missing": table.height - usable.height, "unit": "mean share of attention"}
    compared = [*((name, {"group": name}) for name in names), (DIFFERENCE, {"group": poles[0], "versus": poles[1]})]
    return [
        clustered_mean(usable[name].to_numpy()).row("exposure", **about, counted="queries", **whose)
        for name, whose in compared
    ]


EXPOSURE = PerQuery("exposure", _per_query, _rows, names_people)

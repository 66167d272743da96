"""How good a ranking is: average precision, nDCG and precision at a cut-off, as trec_eval computes them [1]_.

Documents are ordered by rank. Of a run file `read_run` has made the ranks from its scores, as trec_eval does; other answers are
ranked as they were answered, for quality as for GSR. Documents nobody judged are not relevant. The gain of nDCG is the
relevance level itself, negative levels gain 0.

References
----------
.. [1] Buckley, Voorhees (2005), Retrieval system evaluation, in TREC: experiment and evaluation; trec_eval 9.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.gains import Array, gains_of
from portrayal.errors import PortrayalError
from portrayal.tables import check

MEASURES = ("map", "ndcg", "P_10", "ndcg_cut_10", "ndcg_cut_100")


def average_precision(gains: Array, ideal: Array, level: int = 1) -> float:
    """Return the mean over relevant documents of the precision where each is found; one not found counts 0."""
    relevant, total = gains >= level, int((ideal >= level).sum())
    precision = np.cumsum(relevant) / np.arange(1, len(gains) + 1)
    return float(precision[relevant].sum() / total) if total else 0.0


def precision_at(gains: Array, ideal: Array, level: int = 1, cut: int = 10) -> float:
    """Return the share of relevant documents among the first `cut`; a shorter list is not forgiven."""
    return float((gains[:cut] >= level).sum() / cut)


def ndcg(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return the discounted gain over the best possible one; the gain at rank r counts 1 / log2(r + 1)."""
    best = _discounted(np.sort(np.maximum(ideal, 0))[::-1][:cut])
    return _discounted(np.maximum(gains, 0)[:cut]) / best if best else 0.0


def quality(
    run: Any,
    qrels: Mapping[str, Mapping[str, int]],
    measures: tuple[str, ...] = MEASURES,
    level: int = 1,
    complete: bool = True,
    hopeless: bool = False,
) -> pl.DataFrame:
    """Measure a run, one row per query that has a relevant document.

    Returns
    -------
    DataFrame
        Columns `query`, `results` (how many the run has) and one per measure. Queries without judgments are left
        out.
    """
    functions = {name: measure_named(name) for name in measures}
    frame = check(run, {"query": pl.String, "doc": pl.String, "rank": pl.Int64}, "run")
    rows = []
    for query, gains, ideal in gains_of(frame, qrels):
        if not ((ideal >= level).any() or hopeless) or not (len(gains) or complete):
            continue
        values = {name: function(gains, ideal, level) for name, function in functions.items()}
        rows.append({"query": query, "results": len(gains), **values})
    schema = {"query": pl.String, "results": pl.Int64, **dict.fromkeys(measures, pl.Float64)}
    return pl.DataFrame(rows, schema=schema)


def mean_quality(run: Any, qrels: Mapping[str, Mapping[str, int]], **settings: Any) -> dict[str, float]:
    """Return the means over queries of `quality`, by measure."""
    table = quality(run, qrels, **settings).drop("query", "results")
    return {name: float(np.mean(table[name].to_numpy())) if len(table) else float("nan") for name in table.columns}


def reciprocal_rank(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return 1 over the rank of the first relevant document; 0 where none is found."""
    found = np.flatnonzero(gains[:cut] >= level)
    return 1.0 / (int(found[0]) + 1) if len(found) else 0.0


def recall_at(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return the share of the relevant documents that are among the first `cut`."""
    total = int((ideal >= level).sum())
    return float((gains[:cut] >= level).sum() / total) if total else 0.0


def measure_named(name: str) -> Callable[..., float]:
    """Return the measure of this name, trec_eval's (`map`, `P_10`) or ir_measures' (`AP`, `P@10`, `nDCG@20`, `AP(rel=2)`)."""
    match = TREC_EVAL.fullmatch(name) or IR_MEASURES.fullmatch(name)
    found = match.groupdict() if match else {}
    stem, rel, cut = (found.get(part) or "" for part in ("stem", "rel", "cut"))
    if not stem or (stem in CUT and not cut) or (stem in WHOLE and cut):
        raise PortrayalError(
            f"no measure {name!r}. Expected a name of trec_eval's (map, ndcg, ndcg_cut_k, P_k, recall_k, recip_rank) or of "
            "ir_measures' (AP, nDCG, nDCG@k, P@k, R@k, RR), such as P@10."
        )
    chosen = partial(NAMED[stem], cut=int(cut)) if cut else NAMED[stem]
    return _of_level(chosen, int(rel)) if rel else chosen


def _of_level(function: Callable[..., float], own: int) -> Callable[..., float]:
    """Fix the relevance level of a measure, whatever the others use."""
    return lambda gains, ideal, level=1: function(gains, ideal, own)


TREC_EVAL = re.compile(r"(?P<stem>map|ndcg_cut|ndcg|P|recall|recip_rank)(_(?P<cut>[1-9]\d*))?")
IR_MEASURES = re.compile(r"(?P<stem>AP|nDCG|P|R|RR)(\(rel=(?P<rel>[1-9]\d*)\))?(@(?P<cut>[1-9]\d*))?")
NAMED: dict[str, Callable[..., float]] = {
    "map": average_precision, "AP": average_precision, "ndcg": ndcg, "ndcg_cut": ndcg, "nDCG": ndcg,
    "P": precision_at, "recall": recall_at, "R": recall_at, "recip_rank": reciprocal_rank, "RR": reciprocal_rank,
}  # fmt: skip
CUT, WHOLE = (("ndcg_cut", "P", "recall", "R"), ("map", "AP", "ndcg", "recip_rank"))  # that need a cut, or take none


def _discounted(gains: Array) -> float:
    return float((gains / _discounts(len(gains))).sum())


@lru_cache(256)
def _discounts(length: int) -> Array:
    """Return log2(rank + 1) of the first ranks; lists of a run mostly have one length."""
    return np.log2(np.arange(2, length + 2))

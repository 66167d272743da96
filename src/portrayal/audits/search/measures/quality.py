"""Quality of rankings as trec_eval computes it (Table 3 of the GSR paper).

Buckley, Voorhees (2005), Retrieval system evaluation, in TREC: experiment and evaluation; trec_eval 9. Unjudged documents are not
relevant. The gain of nDCG is the relevance level itself; negative levels gain 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from portrayal.audits.search.measures.scored_runs import PerQuery, Row, ScoredQueries, ScoredRuns
from portrayal.errors import PortrayalError
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.tables import check

Array = NDArray[np.float64]
Qrels = Mapping[str, Mapping[str, int]]
MEASURES = ("map", "ndcg", "P_10", "ndcg_cut_10", "ndcg_cut_100")


def average_precision(gains: Array, ideal: Array, level: int = 1) -> float:
    """Return the mean precision at each relevant document; 0 for one not listed."""
    relevant, total = gains >= level, int((ideal >= level).sum())
    precision = np.cumsum(relevant) / np.arange(1, len(gains) + 1)
    return float(precision[relevant].sum() / total) if total else 0.0


def precision_at(gains: Array, ideal: Array, level: int = 1, cut: int = 10) -> float:
    """Return the share of relevant documents among the first `cut`, however short the list."""
    return float((gains[:cut] >= level).sum() / cut)


def recall_at(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return the share of the relevant documents that are among the first `cut`."""
    total = int((ideal >= level).sum())
    return float((gains[:cut] >= level).sum() / total) if total else 0.0


def reciprocal_rank(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return 1 over the rank of the first relevant document; 0 where there is none."""
    places = np.flatnonzero(gains[:cut] >= level)
    return 1.0 / (int(places[0]) + 1) if len(places) else 0.0


def ndcg(gains: Array, ideal: Array, level: int = 1, cut: int | None = None) -> float:
    """Return the gain, discounted by log2(rank + 1), over the best possible one."""
    best, own = np.sort(np.maximum(ideal, 0))[::-1][:cut], np.maximum(gains, 0)[:cut]
    most, reached = (float((levels / _discounts(len(levels))).sum()) for levels in (best, own))
    return reached / most if most else 0.0


@lru_cache(256)
def _discounts(length: int) -> Array:
    return np.log2(np.arange(2, length + 2))


TREC_EVAL = re.compile(r"(?P<stem>map|ndcg_cut|ndcg|P|recall|recip_rank)(_(?P<cut>[1-9]\d*))?")
IR_MEASURES = re.compile(r"(?P<stem>AP|nDCG|P|R|RR)(\(rel=(?P<rel>[1-9]\d*)\))?(@(?P<cut>[1-9]\d*))?")
NAMED: dict[str, Callable[..., float]] = {
    "map": average_precision, "AP": average_precision, "ndcg": ndcg, "ndcg_cut": ndcg, "nDCG": ndcg,
    "P": precision_at, "recall": recall_at, "R": recall_at, "recip_rank": reciprocal_rank, "RR": reciprocal_rank,
}  # fmt: skip
CUT, WHOLE = (("ndcg_cut", "P", "recall", "R"), ("map", "AP", "ndcg", "recip_rank"))  # that need a cut, or take none


def measure_named(name: str) -> Callable[..., float]:
    """Return the measure of a name of trec_eval (`map`, `P_10`) or ir_measures (`P@10`, `AP(rel=2)`)."""
    match = TREC_EVAL.fullmatch(name) or IR_MEASURES.fullmatch(name)
    parts = match.groupdict() if match else {}
    stem, rel, cut = (parts.get(part) or "" for part in ("stem", "rel", "cut"))
    if not stem or (stem in CUT and not cut) or (stem in WHOLE and cut):
        raise PortrayalError(
            f"no measure {name!r}. Expected a name of trec_eval's (map, ndcg, ndcg_cut_k, P_k, recall_k, recip_rank) or of "
            "ir_measures' (AP, nDCG, nDCG@k, P@k, R@k, RR), such as P@10."
        )
    chosen = partial(NAMED[stem], cut=int(cut)) if cut else NAMED[stem]
    # A level that the name gives stands, whatever the others use.
    return (lambda gains, ideal, level=1: chosen(gains, ideal, int(rel))) if rel else chosen


class Gains(NamedTuple):
    """One judged query: the levels of its results by rank, and all levels judged."""

    query: str
    listed: Array
    judged: Array


def gains_of(run: pl.DataFrame, qrels: Qrels) -> Iterator[Gains]:
    """Yield the gains of every judged query in the order of the judgments."""
    listed, judged = _listed(run, qrels), list(qrels.values())
    judgments = pl.DataFrame(
        {
            "place": np.repeat(np.arange(len(judged), dtype=np.int32), list(map(len, judged))),
            "doc": pl.Series(list(chain.from_iterable(judged)), dtype=pl.String),
            "level": np.fromiter(chain.from_iterable(levels.values() for levels in judged), np.float64),
        }
    )
    levels = np.zeros(len(listed))
    both = listed.with_row_index("row").join(judgments, on=["place", "doc"], how="inner")
    levels[both["row"].to_numpy()] = both["level"].to_numpy()
    of_lists = _parts(levels, listed["place"].to_numpy(), len(qrels))
    return map(Gains, qrels, of_lists, _parts(judgments["level"].to_numpy(), judgments["place"].to_numpy(), len(qrels)))


def _listed(run: pl.DataFrame, qrels: Qrels) -> pl.DataFrame:
    """Return the judged query's place and the document of each result, in order."""
    place_of = {query: place for place, query in enumerate(qrels)}
    rows = run["query"].rle().struct
    places = [place_of.get(query, -1) for query in rows.field("value")]
    place = np.repeat(np.array(places, np.int32), rows.field("len").to_numpy())
    table = run.select("doc", "rank", pl.Series("place", place))
    table = table if -1 not in places else table.filter(pl.col("place") >= 0)
    further, ranks = np.diff(table["place"].to_numpy()), table["rank"]
    if not ranks.null_count() and ((further > 0) | ((further == 0) & (np.diff(ranks.to_numpy()) >= 0))).all():
        return table.select("place", "doc")  # ordered already, as most runs are
    return table.sort("place", "rank").select("place", "doc")


def _parts(values: Array, places: NDArray[np.int32], count: int) -> list[Array]:
    """Cut values, sorted by place, into one array for each place."""
    return np.split(values, np.searchsorted(places, np.arange(1, count))) if count else []


def quality(
    run: Any,
    qrels: Qrels,
    measures: tuple[str, ...] = MEASURES,
    level: int = 1,
    complete: bool = True,
    hopeless: bool = False,
) -> pl.DataFrame:
    """Return `query`, `results` and each measure of a run, by query."""
    functions = {name: measure_named(name) for name in measures}
    frame = check(run, {"query": pl.String, "doc": pl.String, "rank": pl.Int64}, "run")
    rows = []
    for query, gains, ideal in gains_of(frame, qrels):
        if ((ideal >= level).any() or hopeless) and (len(gains) or complete):
            values = {name: function(gains, ideal, level) for name, function in functions.items()}
            rows.append({"query": query, "results": len(gains), **values})
    schema = {"query": pl.String, "results": pl.Int64, **dict.fromkeys(measures, pl.Float64)}
    return pl.DataFrame(rows, schema=schema)


def mean_quality(run: Any, qrels: Qrels, **settings: Any) -> dict[str, float]:
    """Return the means over queries of `quality`, by measure."""
    table = quality(run, qrels, **settings).drop("query", "results")
    return {name: float(np.mean(table[name].to_numpy())) if len(table) else float("nan") for name in table.columns}


def _per_query(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return the quality per judged query that got an answer."""
    table = quality(scored.runs[system], dict(scored.history.qrels), tuple(scored.settings.quality))
    return table.filter(pl.col("query").is_in(list(scored.answered[system]))).drop("results")


def _rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return the mean of each quality measure over judged queries, with a t interval."""
    known = {name: table[name].drop_nans().to_numpy() for name in scored.settings.quality}
    judged = int(scored.queries.judged.sum())
    about = {"system": system, "unit": "mean", "counted": "queries"}
    return [
        clustered_mean(values).row(name, n_missing=judged - len(values), **about)
        for name, values in known.items()
        if len(values)
    ]


QUALITY = PerQuery("quality", _per_query, _rows, judged=True)

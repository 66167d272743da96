"""Single queries to read: most gendered (Figure 7), with a document (Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.scored_runs import PartialResult, ScoredRuns
from portrayal.text.words import wordnet

EACH = 10  # queries of each pole, as in Figure 7
TERMS_SHOWN = 10  # of a query; longer ones go on
WORDS = 40  # of the document of Figure 2

TERMS = {
    "query": pl.String, "pole": pl.String, "genderedness": pl.Float64, "place": pl.Int64, "term": pl.String,
    "score": pl.Float64,
}  # fmt: skip


def most_gendered(scored: ScoredRuns, example: Any = None) -> PartialResult:
    """Return the terms of the most gendered queries, and those of the example."""
    scores = scored.query_scores(scored.first.name)
    order = [place for place in np.argsort(scores, kind="stable") if not np.isnan(scores[place])]
    queries, each = list(scored.history.queries.items()), min(EACH, len(order) // 2)
    sides = zip(scored.settings.poles, (order[::-1][:each], order[:each]), strict=True)
    rows = [
        (queries[query][0], pole, scores[query], place, word, scored.first.scores.get(word))
        for pole, side in sides
        for query in side
        for place, word in enumerate(queries[query][1][:TERMS_SHOWN])
    ]
    tables = {"most_gendered": pl.DataFrame(rows, schema=TERMS, orient="row")}
    if example:
        tables["example"] = _example(scored, *example)
    return PartialResult(tables=tables)


def _example(scored: ScoredRuns, query: str, words: Sequence[str], stop: frozenset[str]) -> pl.DataFrame:
    """Return the words of a query and document, each with score and state."""
    asked = scored.history.queries[query]
    reach = set().union(*map(wordnet.load().inflected, asked))
    rows = [("query", word, scored.first.scores.get(word), "counted") for word in asked]
    for word in words[:WORDS]:
        state = "stop word" if word in stop else "in the query" if word in reach else "counted"
        rows.append(("document", word, scored.first.scores.get(word) if state == "counted" else None, state))
    schema = {"part": pl.String, "word": pl.String, "score": pl.Float64, "state": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(query=pl.lit(query))

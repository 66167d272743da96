"""Single queries to read [1]_: most gendered (Figure 7), with a document (Figure 2).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
"""

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
    "query": pl.String,
    "pole": pl.String,
    "genderedness": pl.Float64,
    "place": pl.Int64,
    "term": pl.String,
    "score": pl.Float64,
}


def most_gendered(scored: ScoredRuns, example: Any = None) -> PartialResult:
    """Return the terms of the most gendered queries, and those of the example."""
    scores = scored.query_scores(scored.first.name)
    order = [place for place in np.argsort(scores, kind="stable") if not np.isnan(scores[place])]
    names = list(scored.history.queries)
    each = min(EACH, len(order) // 2)
    sides = ((scored.settings.poles[0], order[::-1][:each]), (scored.settings.poles[1], order[:each]))
    rows = [
        row for pole, places in sides for place in places for row in _terms(scored, names[place], pole, scores[place])
    ]
    tables = {"most_gendered": pl.DataFrame(rows, schema=TERMS, orient="row")}
    if example:
        tables["example"] = _example(scored, *example)
    return PartialResult(tables=tables)


def _terms(scored: ScoredRuns, query: str, pole: str, score: float) -> list[tuple[Any, ...]]:
    words = scored.history.queries[query]
    return [
        (query, pole, score, place, word, scored.first.scores.get(word))
        for place, word in enumerate(words[:TERMS_SHOWN])
    ]


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

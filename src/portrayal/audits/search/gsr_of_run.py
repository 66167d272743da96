"""`portrayal gsr`: the GSR of one run on one collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.search.histories import make_history
from portrayal.audits.search.measures.gsr import gsr, relative_gsr
from portrayal.audits.search.measures.history import History, lists_of, perfect_lists, score_many
from portrayal.audits.search.measures.scores import word_scores
from portrayal.tables import finite
from portrayal.text.collections import Collection, check_run, read_collection, read_run
from portrayal.text.direction import find_direction
from portrayal.text.lexicons import read_lexicon
from portrayal.text.space import WordSpace
from portrayal.text.vector_sets import open_vectors


def gsr_text(
    collection: Path | str,
    run: Path | str,
    vectors: str = "glove",
    cutoff: int = 100,
    discount: str = "definition",
    seed: int = 0,
) -> str:
    """Return the GSR of a run as one JSON object.

    Parameters
    ----------
    collection
        A collection: see `portrayal.text.collections.read_collection`.
    run
        A TREC run made on it.
    vectors
        The measuring vectors, by name or path.
    cutoff
        K for queries without a relevant document.
    discount
        'definition', 'code' or 'none'.
    seed
        Of the bootstrap and the permutations.
    """
    opened, results = read_collection(collection), read_run(run)
    history = _history(opened, results, cutoff, discount)
    check_run(results, history.bags.row_of, opened.queries, str(run))
    space = open_vectors(vectors, words=_words(history))
    return json.dumps(_measure(history, results, space, seed))


def _measure(history: History, results: pl.DataFrame, space: WordSpace, seed: int) -> dict[str, Any]:
    direction = find_direction(space, list(read_lexicon("gender_pairs").iter_rows()))
    systems = {"run": (lists_of(results), False), "perfect": (perfect_lists(history), True)}
    tables = score_many(history, systems, word_scores(space, direction, history))
    slope, against = gsr(tables["run"], seed), relative_gsr(tables["run"], tables["perfect"], seed)
    perfect = gsr(tables["perfect"].filter(_judged(tables["run"])), seed, draws=2, shuffles=1)
    unused = tables["run"].filter(pl.col("reason") != "").select("query", "reason")
    return {
        "gsr": finite(slope.value),
        "low": finite(slope.low),
        "high": finite(slope.high),
        "p": finite(slope.p),
        "queries": slope.n,
        "perfect": finite(perfect.value),
        "relative": finite(against.relative),
        "difference": finite(against.difference.value),
        "ratio": finite(against.ratio),
        "vectors": space.name,
        "notes": [note for note in (slope.note, against.note) if note],
        "unused": unused.to_dicts(),
    }


def _history(opened: Collection, results: pl.DataFrame, cutoff: int, discount: str) -> History:
    """Read only the documents the run or the judgments name."""
    judged = {doc for query in opened.queries for doc in opened.relevant(query)}
    return make_history(opened, set(results["doc"]) | judged, cutoff, discount)


def _words(history: History) -> set[str]:
    """Return the words to read from a vector file: those of the history and the poles."""
    asked = {word for words in history.queries.values() for word in words}
    poles = {word for pair in read_lexicon("gender_pairs").iter_rows() for word in pair}
    return {*history.bags.words, *asked, *poles, *map(str.lower, poles)}


def _judged(run: pl.DataFrame) -> pl.Expr:
    """Keep the queries the run can be measured on, so that both slopes are over the same ones."""
    return pl.col("query").is_in(run.filter(pl.col("reason") == "")["query"].to_list())

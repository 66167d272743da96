"""The pole each query leans to: whose queries a system may leave unanswered more often."""

from __future__ import annotations

import numpy as np
import polars as pl

from portrayal.audits.search.inputs import pole_pairs
from portrayal.audits.search.measures.lists import query_scores
from portrayal.audits.search.measures.scores import usable
from portrayal.audits.search.settings import SearchSettings
from portrayal.study.audit import Evidence
from portrayal.text.vectors.direction import find_direction, score_words
from portrayal.text.vectors.space import WordSpace


def groups(evidence: Evidence, settings: SearchSettings) -> pl.DataFrame:
    """Return the pole each query leans to by the study's first ruler; a query that leans to none is left out."""
    queries = evidence.inputs["queries"]
    leaning = _leaning(evidence, queries["words"], settings)
    high, low = settings.poles
    return queries.select(
        stimulus="query",
        axis=pl.lit("gender" if settings.about_gender else f"{low} to {high}"),
        group=pl.Series(np.where(leaning > 0, high, low)),
        unit=pl.col("words").list.unique().list.sort().list.join(" "),  # queries of the same words are one
    ).filter(pl.Series(np.nan_to_num(leaning) != 0))


def _leaning(evidence: Evidence, queries: pl.Series, settings: SearchSettings) -> np.ndarray:
    """Return g(q) of the queries; of the vectors only the words needed are opened."""
    pairs = pole_pairs(settings)
    asked = sorted({word for words in queries for word in words if usable(word)})
    needed = {*asked, *(word for pair in pairs for word in pair)}
    needed |= {word.lower() for word in needed}
    _, name = evidence.inputs["vectors"][0]
    table = evidence.inputs["vectors_0"].filter(pl.col("word").is_in(list(needed)))
    space = WordSpace.build(name, table["word"], table["vector"].to_numpy())
    scores = score_words(space, find_direction(space, pairs, settings.direction), asked)
    return query_scores(queries, {word: g for word, g in zip(asked, scores, strict=True) if not np.isnan(g)})

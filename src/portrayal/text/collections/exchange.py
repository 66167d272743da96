"""Runs and judgments in the shapes that other tools take: pandas tables for ir_measures, mappings for ranx.

>>> from portrayal.text.collections import run_table
>>> run = run_table([("q1", "d7", 1, None), ("q1", "d2", 2, None)])
>>> run_mapping(run)  # ranx.Run(run_mapping(run))
{'q1': {'d7': -1.0, 'd2': -2.0}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import pandas as pd


def scored(run: pl.DataFrame) -> pl.DataFrame:
    """Return `query_id`, `doc_id` and `score`, by rank; scores fall with the rank, as those tools order by score.

    A query's own scores are kept where they fall, else they are the rank with a minus sign.
    """
    ordered = run.sort("query", "rank", maintain_order=True)
    # The first of a query has none before it; a missing score is below nothing.
    falls = (pl.col("score") < pl.col("score").shift()).over("query") | (pl.int_range(pl.len()).over("query") == 0)
    usable = (falls.fill_null(False) & pl.col("score").is_not_null()).all().over("query")
    score = pl.when(usable).then("score").otherwise(-pl.col("rank").cast(pl.Float64))
    return ordered.select(query_id="query", doc_id="doc", score=score)


def run_frame(run: pl.DataFrame) -> pd.DataFrame:
    """Return a run as ir_measures takes it: a pandas table of `query_id`, `doc_id`, `score`."""
    return _pandas(scored(run))


def qrels_frame(qrels: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """Return judgments as ir_measures takes them: a pandas table of `query_id`, `doc_id`, `relevance`."""
    rows = [(query, doc, level) for query, levels in qrels.items() for doc, level in levels.items()]
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    return _pandas(pl.DataFrame(rows, schema=schema, orient="row"))


def run_mapping(run: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return a run as ranx takes it: query to document to score. Its `Qrels` take a collection's `qrels` as they are."""
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in scored(run).iter_rows():
        found.setdefault(query, {})[doc] = score
    return found


def _pandas(table: pl.DataFrame) -> pd.DataFrame:
    """Return a table of pandas, which needs no pyarrow for plain columns made this way."""
    import pandas as pd

    return pd.DataFrame(table.to_dict(as_series=False))

"""What the documents of ranked lists are worth: relevance levels in order of rank, and those of all judged documents.

Names are matched once for the whole run, in one join; no list of names is made in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[np.float64]
Qrels = Mapping[str, Mapping[str, int]]


class Gains(NamedTuple):
    """One judged query: the levels of its results in order of rank (0 where nobody judged), and all levels judged."""

    query: str
    found: Array
    judged: Array


def gains_of(run: pl.DataFrame, qrels: Qrels) -> Iterator[Gains]:
    """Yield the gains of every judged query, in the order of the judgments."""
    listed, judgments = _listed(run, qrels), _judgments(qrels)
    found = np.zeros(len(listed))
    both = listed.with_row_index("row").join(judgments, on=["place", "doc"], how="inner")
    found[both["row"].to_numpy()] = both["level"].to_numpy()
    lists = _parts(found, listed["place"].to_numpy(), len(qrels))
    levels = _parts(judgments["level"].to_numpy(), judgments["place"].to_numpy(), len(qrels))
    return map(Gains, qrels, lists, levels)


def _listed(run: pl.DataFrame, qrels: Qrels) -> pl.DataFrame:
    """Return the place of the query among the judged ones and the document of each result, by query and rank."""
    place_of = {query: place for place, query in enumerate(qrels)}
    rows = run["query"].rle().struct
    places = [place_of.get(query, -1) for query in rows.field("value")]
    place = np.repeat(np.array(places, np.int32), rows.field("len").to_numpy())
    table = run.select("doc", "rank", pl.Series("place", place))
    table = table if -1 not in places else table.filter(pl.col("place") >= 0)
    return (table if _is_ordered(table) else table.sort("place", "rank")).select("place", "doc")


def _is_ordered(table: pl.DataFrame) -> bool:
    """Whether rows are by query and rank already, as most runs are: sorting costs more than looking."""
    if table["rank"].null_count():
        return False
    further = np.diff(table["place"].to_numpy())
    return bool(((further > 0) | ((further == 0) & (np.diff(table["rank"].to_numpy()) >= 0))).all())


def _judgments(qrels: Qrels) -> pl.DataFrame:
    """Return all judgments as a table, by query."""
    judged = list(qrels.values())
    levels = chain.from_iterable(levels.values() for levels in judged)
    return pl.DataFrame(
        {
            "place": np.repeat(np.arange(len(judged), dtype=np.int32), list(map(len, judged))),
            "doc": pl.Series(list(chain.from_iterable(judged)), dtype=pl.String),
            "level": np.fromiter(levels, np.float64),
        }
    )


def _parts(values: Array, places: NDArray[np.int32], count: int) -> list[Array]:
    """Cut values, sorted by place, into one array for each place."""
    return np.split(values, np.searchsorted(places, np.arange(1, count))) if count else []

"""Clusters of queries that share a content word or a result list.

A query belongs with those that share its rarest shared word, else its list, else its wording, so that one common word does not tie
everything to everything. Words and lists that run across clusters, as those of templates do, count as units of their own beside
the clusters: crossed designs are clustered both ways (Cameron, Gelbach, Miller, 2011, Journal of Business & Economic Statistics 29).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

LIST_KEYS = ("first document", "all documents")


@dataclass(frozen=True, eq=False)
class Wordings:
    """The words of queries, by number; `given` are clusters that the data name."""

    wording: np.ndarray  # of each query: the first query of the same words
    place: np.ndarray  # a query ...
    word: np.ndarray  # ... and a word that another query has too
    cluster_of: np.ndarray | None = None


def read_wordings(queries: Iterable[tuple[Sequence[str], str | None]]) -> Wordings:
    """Return the words and clusters that queries have in common."""
    numbers, same, first = dict[str, int](), dict[frozenset[str], int](), dict[str, int]()
    wording, cluster_of, place, word, position = (array("i") for _ in range(5))
    for query, (words, cluster) in enumerate(queries):
        cluster_of.append(first.setdefault(cluster, query) if cluster else query)  # without one it is one of its own
        wording.append(same.setdefault(frozenset(words), query))
        own = [numbers.setdefault(one, len(numbers)) for one in dict.fromkeys(words)]
        for column, values in ((place, [query] * len(own)), (word, own), (position, range(len(own)))):
            column.extend(values)
    places, words_of, size = np.array(place, np.int32), np.array(word, np.int32), np.bincount(word, minlength=1)
    # Numbered so that of equally rare words the one that stands further in front ties: it is the same one in all queries.
    number = np.argsort(
        np.argsort(-np.bincount(word, position, len(size)) / np.maximum(size, 1), kind="stable")
    ).astype(np.int32)
    shared = size[words_of] > 1
    named = np.array(cluster_of, np.int32) if first else None
    return Wordings(np.array(wording, np.int32), places[shared], number[words_of[shared]], named)


def list_keys(rows: Iterable[Sequence[int]]) -> dict[str, np.ndarray]:
    """Return each list's first document and a number for all; NaN for none."""
    pairs = [(listed[0], hash(tuple(sorted(listed))) % 2**53) if listed else (np.nan, np.nan) for listed in rows]
    first, every = np.array(pairs, float).reshape(-1, 2).T
    return dict(zip(LIST_KEYS, (first, every), strict=True))


def tie(wordings: Wordings, lists: Iterable[np.ndarray] = ()) -> pl.DataFrame:
    """Return each query's cluster (`unit`), and what it has in common across clusters (`shared`).

    Queries of the same number in one of `lists` have the same list.
    """
    count = len(wordings.wording)
    if wordings.cluster_of is not None:
        return pl.DataFrame({"unit": wordings.cluster_of, "shared": pl.Series([[]] * count, dtype=pl.List(pl.Int32))})
    groups = [(wordings.place, wordings.word), *map(_same, lists)]  # of the first that a query has its cluster is
    bases = count + np.cumsum([0, *(key.max(initial=-1) + 1 for _, key in groups)])
    cluster = wordings.wording.copy()
    for (place, key), base in reversed(list(zip(groups, bases, strict=False))):
        size = np.bincount(key, minlength=1)[key] if len(key) else key
        rising = np.lexsort((key, -size))
        rising = rising[2 * size[rising] <= count]
        cluster[place[rising]] = base + key[rising]  # the rarest is written last
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    unit, crossing = first[inverse], []
    for (place, key), base in zip(groups, bases, strict=False):
        pairs = np.unique(key.astype(np.int64) * count + unit[place])
        across = np.bincount(pairs // count, minlength=1)[key] > 1
        crossing.append(pl.DataFrame({"place": place[across], "shared": (base + key[across]).astype(np.int32)}))
    shared = pl.concat(crossing).group_by("place").agg("shared")
    table = pl.DataFrame({"place": np.arange(count, dtype=np.int32), "unit": unit}).join(
        shared, "place", "left", maintain_order="left"
    )
    return table.select("unit", pl.col("shared").fill_null([]))


def _same(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return queries whose key others have, though at most half, and the key's number."""
    place = np.flatnonzero(~np.isnan(keys))
    _, number, size = np.unique(keys[place], return_inverse=True, return_counts=True)
    fits = (size[number] > 1) & (2 * size[number] <= len(keys))
    return place[fits].astype(np.int32), number[fits].astype(np.int32)

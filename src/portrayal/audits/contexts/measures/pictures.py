"""Tables of pictures, made from tags: the clusters of each picture's tags are counted.

The columns of the table that every question starts from:

`system`, `stimulus`, `repeat`, `status`; `role` (baseline, composite, background), `person`, `context`, `background`
and the factors, from the stimuli; `tags` (how many), `in CLUSTER` for every super-cluster and sub-cluster, `known` (tags
the typology or a dictionary holds), `place` (tags that speak of this picture's context), `inferred` (a gender cluster, or
neutral), `recognised`.

Barlas et al. (2020), To "See" is to Stereotype, CSCW3, Sections 4.5.1 and 4.5.2, Tables 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.counting import coded, count_runs, in_chunks
from portrayal.audits.contexts.measures.membership import WordLists, membership
from portrayal.audits.contexts.measures.views import NEUTRAL, column
from portrayal.errors import PortrayalError
from portrayal.tables import STIMULI, changes

KEYS = ("system", "stimulus", "repeat")
DERIVED = ("system", "repeat", "status", "tags", "known", "place", "inferred", "recognised")


def describe_pictures(
    stimuli: pl.DataFrame, responses: pl.DataFrame, lists: WordLists, genders: Sequence[str] = ("feminine", "masculine")
) -> pl.DataFrame:
    """Return one row per system, picture and repeat: cluster counts, inferred gender, place recognised."""
    pictures, begins, order = _number(responses.select(*KEYS, "status"))
    names, codes = coded(responses["tag"].cast(pl.String))
    for start, silent in in_chunks(partial(_silent, responses.select("status", "tag")), len(codes)):
        codes[start + silent] = len(names)
    counts = count_runs(codes if order is None else codes[order], begins, _members(names, lists))
    columns = [*map(column, lists.clusters), *(f"place {context}" for context in lists.contexts), "known", "tags"]
    counted = pictures.hstack(
        [pl.Series(name, numbers.astype(np.int64)) for name, numbers in zip(columns, counts, strict=True)]
    )
    return _judge(_beside(counted, _factors(stimuli)), lists.contexts, genders)


def _silent(responses: pl.DataFrame, start: int, end: int) -> np.ndarray:
    """Return the rows between two that hold no tag, counted from the first."""
    tagged = (responses["status"][start:end] == "answered") & responses["tag"][start:end].is_not_null()
    if tagged.all(ignore_nulls=False):
        return np.empty(0, np.int64)
    return np.flatnonzero(~tagged.fill_null(False).to_numpy())


def _members(names: pl.Series, lists: WordLists) -> np.ndarray:
    """Look the names up: clusters and places, whether known, and that it is a tag.

    Null is no tag, and neither is the row behind the last name, for rows that hold no tag.
    """
    tags, member = membership(names.drop_nulls(), lists)
    table = np.zeros((len(names) + 1, member.shape[1] + 2), dtype=bool)
    is_tag = np.flatnonzero(names.is_not_null().to_numpy())
    table[is_tag, :-2], table[is_tag, -2], table[is_tag, -1] = member, tags["known"], True
    return table


def _number(keys: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray, np.ndarray | None]:
    """Return each picture once, where its responses begin, and an order of all responses.

    The order is None where a picture's responses lie together already, as recorded ones do.
    """

    def look(start: int, end: int) -> np.ndarray:
        before = max(start - 1, 0)
        return changes(keys[before:end], KEYS).arg_true().to_numpy().astype(np.int64) + before + 1

    begins = np.concatenate([np.zeros(min(1, keys.height), np.int64), *(at for _, at in in_chunks(look, keys.height))])
    first = keys[begins]
    stimuli = first["stimulus"]
    in_order = (stimuli[1:] > stimuli[:-1]).all(ignore_nulls=False)  # which is seen without a table of them
    if in_order or any(first[name].n_unique() == first.height for name in ("stimulus", *KEYS)):
        return first, begins, None
    pictures = first.unique(KEYS, keep="first", maintain_order=True)
    if pictures.height == first.height:
        return pictures, begins, None
    numbers = pictures.drop("status").with_row_index("row")
    rows = keys.join(numbers, on=list(KEYS), how="left", nulls_equal=True, maintain_order="left")["row"].to_numpy()
    order = np.argsort(rows, kind="stable")
    return pictures, np.searchsorted(rows[order], np.arange(pictures.height)), order


def _beside(pictures: pl.DataFrame, factors: pl.DataFrame) -> pl.DataFrame:
    """Put the factors of its stimulus beside each picture."""
    if factors["stimulus"].equals(pictures["stimulus"]):
        return pictures.hstack(factors.drop("stimulus").get_columns())
    return pictures.join(factors, on="stimulus", how="left", maintain_order="left")


def _factors(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Return the stimuli's own id and everything that is not part of the contract."""
    names = ["stimulus", *(name for name in stimuli.columns if name not in STIMULI)]
    clash = sorted(set(names) & set(DERIVED))
    if clash:
        raise PortrayalError(f"a factor is called {clash[0]!r}, which the contexts audit computes. Rename the factor.")
    return stimuli.select(names)


def _judge(table: pl.DataFrame, contexts: Sequence[str], genders: Sequence[str]) -> pl.DataFrame:
    """Add the inferred gender (the most tags win) and whether the place was recognised."""
    scores = table.select(map(column, genders)).to_numpy() if table.height else np.zeros((0, len(genders)), int)
    best = scores.max(axis=1, initial=0)
    alone = (scores == best[:, None]).sum(axis=1) == 1
    names = pl.Series("inferred", [*genders, NEUTRAL], dtype=pl.String)
    winner = np.full(table.height, len(genders), dtype=np.uint32)
    for place, score in enumerate(scores.T):
        winner[alone & (best > 0) & (score == best)] = place
    seen = pl.lit(None, dtype=pl.Int64)
    for context in contexts:
        seen = pl.when(pl.col("context") == context).then(pl.col(f"place {context}")).otherwise(seen)
    placed = table.with_columns(names.gather(winner), seen.alias("place"))
    return placed.with_columns((pl.col("place") > 0).alias("recognised")).drop(f"place {c}" for c in contexts)

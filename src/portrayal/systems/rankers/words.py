"""Semantic rankers [1]_: the mean of the words' vectors (`add`), and weighted by self-information (`si`).

References
----------
.. [1] Vulić, Moens (2015), Monolingual and cross-lingual information retrieval models based on (bilingual) word
   embeddings, SIGIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.dense import Dense
from portrayal.text.debias import debias
from portrayal.text.direction import find_direction
from portrayal.text.index import Index
from portrayal.text.lexicons import read_lexicon
from portrayal.text.space import WordSpace, unit_rows
from portrayal.text.vector_sets import open_vectors

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 20_000  # words multiplied at a time, so that their vectors are never copied whole


def ranking_space(vectors: str = "glove", kind: str = "none", folder: Path | str = ".") -> WordSpace:
    """Return a ranker's vectors, apart from those GSR is measured with, which are never changed.

    `kind` is how the gender direction is taken out: 'none', 'regular' (neutralise and equalise) or 'strong' (every word).
    """
    space = open_vectors(vectors, folder)
    if kind == "none":
        return space
    pairs = list(read_lexicon("gender_pairs").iter_rows())
    direction = find_direction(space, pairs).vector
    specific = read_lexicon("gender_specific")["word"]
    equalize = list(read_lexicon("gender_equalize_pairs").iter_rows())
    return debias(space, direction, kind, specific, equalize)


def add(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean of word vectors, each occurrence counting once."""
    return _ranker(index, space, np.ones(len(index.words)))


def si(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean weighted with self-information, -log2 of the word's share of the collection."""
    shares = index.totals / max(int(index.totals.sum()), 1)
    return _ranker(index, space, -np.log2(np.where(shares > 0, shares, 1.0)))


def _ranker(index: Index, space: WordSpace, weights: NDArray[np.float64]) -> Dense:
    """Sum weighted vectors over documents and queries. The cosine makes sums and means the same."""
    rows = np.array([-1 if (row := space.row(word)) is None else row for word in index.words])
    known = np.where(rows >= 0, weights, 0.0)
    documents = _times(index.matrix, space, rows, known)

    def encode(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([_query(index, space, rows, known, text) for text in texts])

    return Dense(index.documents, unit_rows(documents), encode)


def _times(
    counts: sparse.csc_array, space: WordSpace, rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return counts (documents by words) times weighted vectors, a block of words at a time."""
    total = np.zeros((counts.shape[0], space.matrix.shape[1]))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        vectors = np.asarray(space.matrix[rows[part]], np.float64) * weights[part, None]
        total += counts[:, part] @ vectors
    return total


def _query(
    index: Index, space: WordSpace, rows: NDArray[np.int64], weights: NDArray[np.float64], text: str
) -> NDArray[np.float64]:
    """Return a query's vector; words the collection never uses carry no weight, so they are not counted."""
    ids, counts = index.encode(text)
    return (counts * weights[ids]) @ np.asarray(space.matrix[rows[ids]], np.float64)

"""Semantic rankers [1]_: the mean of the words' vectors (`add`), and weighted by self-information (`si`).

References
----------
.. [1] Vulić, Moens (2015), Monolingual and cross-lingual information retrieval models based on (bilingual) word
   embeddings, SIGIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.dense import Dense
from portrayal.text.collections.index import Index
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.debias import debias
from portrayal.text.vectors.direction import find_direction
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import words

if TYPE_CHECKING:
    from scipy import sparse

BLOCK = 20_000  # words multiplied at a time, so that their vectors are never copied whole
AT_ONCE = 50_000_000  # numbers summed at a time in double precision


def needed_words(index: Index, queries: Iterable[str]) -> set[str]:
    """Return the words whose vectors a ranker may need: the collection's, its queries' and those that say how to take a direction out."""
    pairs = [*read_lexicon("gender_pairs").iter_rows(), *read_lexicon("gender_equalize_pairs").iter_rows()]
    lists = {*(word for pair in pairs for word in pair), *read_lexicon("gender_specific")["word"]}
    asked = (word for text in queries for word in words(text))
    return {*index.words, *asked, *lists, *map(str.lower, lists)}


def without_direction(space: WordSpace, kind: str) -> WordSpace:
    """Return a ranker's vectors without the gender direction, apart from those GSR is measured with, which are never changed.

    `kind` is how: 'none', 'regular' (neutralise and equalise) or 'strong' (every word).
    """
    if kind == "none":
        return space
    pairs = list(read_lexicon("gender_pairs").iter_rows())
    direction = find_direction(space, pairs).vector
    specific = read_lexicon("gender_specific")["word"]
    equalize = list(read_lexicon("gender_equalize_pairs").iter_rows())
    return debias(space, direction, kind, specific, equalize)


def add(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean of word vectors, each occurrence counting once."""
    return _ranker(index, space, np.ones(len(index.words)), 1.0)


def si(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean weighted with self-information, -log2 of the word's share of the collection.

    A query's word that the collection does not have weighs as one that occurs once.
    """
    total = max(int(index.totals.sum()), 1)
    shares = index.totals / total
    return _ranker(index, space, -np.log2(np.where(shares > 0, shares, 1.0)), float(np.log2(total)))


def _ranker(index: Index, space: WordSpace, weights: NDArray[np.float64], unseen: float) -> Dense:
    """Sum weighted vectors over documents and queries. The cosine makes sums and means the same."""
    rows = space.rows(index.words)
    vectors = _documents(index.matrix, space, rows, np.where(rows >= 0, weights, 0.0))

    def encode(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.array([_query(index, space, weights, unseen, text) for text in texts])

    return Dense(index.documents, vectors, encode)


def _documents(
    counts: sparse.csc_array, space: WordSpace, rows: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[Any]:
    """Return counts (documents by words) times weighted vectors, scaled to length 1, as precise as the vectors are.

    Some dimensions are summed at a time, and a block of words: in double precision all would be twice as large.
    """
    width = space.matrix.shape[1]
    found = np.empty((counts.shape[0], width), np.result_type(space.matrix.dtype, np.float32))
    squares, step = np.zeros(len(found)), min(width, max(AT_ONCE // len(found), 16))
    for first in range(0, width, step):
        total = np.zeros((len(found), min(step, width - first)))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            vectors = np.asarray(space.matrix[rows[part]][:, first : first + step], np.float64)
            total += counts[:, part] @ (vectors * weights[part, None])
        squares += (total**2).sum(axis=1)
        found[:, first : first + step] = total
    found /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, None].astype(found.dtype)
    return found


def _query(
    index: Index, space: WordSpace, weights: NDArray[np.float64], unseen: float, text: str
) -> NDArray[np.float64]:
    """Return a query's vector, of its words that have one, whether or not the collection uses them."""
    kept = [word for word in words(text) if word not in index.stop]
    rows = space.rows(kept)
    each = np.array([weights[index.numbers[word]] if word in index.numbers else unseen for word in kept])
    known = rows >= 0
    return each[known] @ np.asarray(space.matrix[rows[known]], np.float64)

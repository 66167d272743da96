"""Semantic rankers: one vector a document, one a query, ordered by the cosine.

Vectors are the mean of the words' vectors (`add`; Vulić, Moens, 2015, SIGIR), weighted by self-information (`si`), or those of a
sentence encoder, which reads a few hundred words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.collections import Collection, in_batches
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.direction import debias, find_direction
from portrayal.text.vectors.space import WordSpace, unit_rows
from portrayal.text.words.tokens import words
from portrayal_rankers.base import Hits, best
from portrayal_rankers.index import Index, tie_order

if TYPE_CHECKING:
    from scipy import sparse

Array = NDArray[np.float64]
Encode = Callable[[Sequence[str]], Sequence[Any]]
BLOCK = 50_000  # documents whose vectors are looked at together
TOGETHER = 32  # queries answered together
WORDS = 20_000  # words multiplied at a time, so that their vectors are never copied whole
AT_ONCE = 50_000_000  # numbers summed at a time in double precision
BATCH = 64  # documents given to a sentence encoder together
NOTHING = Hits(np.array([], np.int64), np.array([]))


@dataclass(frozen=True)
class Dense:
    """Ranks by the cosine of vectors; what has no vector is not ranked."""

    documents: Sequence[str]
    vectors: NDArray[np.floating[Any]]  # rows of length 1, or zeros
    encode: Callable[[Sequence[str]], Array]  # query texts to vectors, zeros where no word is usable

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """A truth value for each document: it has a vector."""
        return np.any(self.vectors != 0, axis=1)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The order of ties."""
        return tie_order(self.documents)

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Return the documents nearest to each query."""
        names, hits = list(queries), {}
        encoded = unit_rows(self.encode(list(queries.values()))) if names else np.zeros((0, 0))
        for start in range(0, len(names), TOGETHER):
            part = encoded[start : start + TOGETHER]
            for name, vector, scores in zip(names[start:], part, self._scores(part), strict=False):
                hits[name] = best(scores, depth, self.order) if vector.any() else NOTHING
        return hits

    def _scores(self, queries: Array) -> Array:
        """Return queries by documents, in double precision, a block of documents at a time."""
        scores = np.full((len(queries), len(self.documents)), -np.inf)
        for start in range(0, len(self.documents), BLOCK):
            block = slice(start, start + BLOCK)
            cosines = queries @ np.asarray(self.vectors[block], np.float64).T
            np.copyto(scores[:, block], cosines, where=self.usable[block])
        return scores


def needed_words(index: Index, queries: Iterable[str]) -> set[str]:
    """Return the words whose vectors a ranker may need."""
    tables = map(read_lexicon, ("gender_pairs", "gender_equalize_pairs", "gender_specific"))
    lists = {word for table in tables for row in table.iter_rows() for word in row}
    terms = (word for text in queries for word in words(text))
    return {*index.words, *terms, *lists, *map(str.lower, lists)}


def without_direction(space: WordSpace, kind: str) -> WordSpace:
    """Return a ranker's vectors without gender: 'regular' (neutralised and equalised), or 'strong' (every word)."""
    direction = find_direction(space, read_lexicon("gender_pairs").rows()).vector
    return debias(
        space, direction, kind, read_lexicon("gender_specific")["word"], read_lexicon("gender_equalize_pairs").rows()
    )


def add(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean of word vectors, each occurrence counting once."""
    return _ranker(index, space, np.ones(len(index.words)), 1.0)


def si(index: Index, space: WordSpace) -> Dense:
    """Return a ranker by the mean weighted with self-information, -log2 of a word's share."""
    total = max(int(index.totals.sum()), 1)
    shares = index.totals / total
    return _ranker(index, space, -np.log2(np.where(shares > 0, shares, 1.0)), float(np.log2(total)))


def _ranker(index: Index, space: WordSpace, weights: Array, unseen: float) -> Dense:
    """Sum weighted vectors over documents and queries. The cosine makes sums and means the same."""
    rows = space.rows(index.words)
    vectors = _documents(index.matrix, space, rows, np.where(rows >= 0, weights, 0.0))

    def query(text: str) -> Array:
        terms = [word for word in words(text) if word not in index.stop]
        rows = space.rows(terms)
        each = np.array([weights[index.numbers[word]] if word in index.numbers else unseen for word in terms])
        known = rows >= 0
        return each[known] @ np.asarray(space.matrix[rows[known]], np.float64)

    def encode(texts: Sequence[str]) -> Array:
        return np.array([query(text) for text in texts])

    return Dense(index.documents, vectors, encode)


def _documents(counts: sparse.csc_array, space: WordSpace, rows: NDArray[np.int64], weights: Array) -> NDArray[Any]:
    """Return counts (documents by words) times weighted vectors, scaled to length 1.

    Some dimensions are summed at a time, and a block of words: in double precision all would be twice as large.
    """
    width = space.matrix.shape[1]
    means = np.empty((counts.shape[0], width), np.result_type(space.matrix.dtype, np.float32))
    squares, step = np.zeros(len(means)), min(width, max(AT_ONCE // len(means), 16))
    for first in range(0, width, step):
        total = np.zeros((len(means), min(step, width - first)))
        for start in range(0, len(rows), WORDS):
            part = slice(start, start + WORDS)
            vectors = np.asarray(space.matrix[rows[part]][:, first : first + step], np.float64)
            total += counts[:, part] @ (vectors * weights[part, None])
        squares += (total**2).sum(axis=1)
        means[:, first : first + step] = total
    means /= np.sqrt(np.where(squares > 0, squares, 1.0))[:, None].astype(means.dtype)
    return means


def sentence(collection: Collection, encoder: str = "minilm", track: Callable[[Any], Any] = iter) -> Dense:
    """Return a ranker over a text encoder of the package, by name."""
    system = open_system(SystemSettings(name=encoder, use=encoder), Path(), "encoder")
    if not hasattr(system, "encode"):
        raise PortrayalError(
            f"encoder {encoder!r} cannot encode text here. Take one that runs locally, such as 'minilm'."
        )
    return dense_of(collection, system.encode, track)


def dense_of(collection: Collection, encode: Encode, track: Callable[[Any], Any] = iter) -> Dense:
    """Return a ranker over a function from texts to vectors or None."""
    names: list[str] = []
    parts: list[Array] = []
    for batch in in_batches(track(collection.documents()), BATCH):
        names.extend(name for name, _ in batch)
        parts.append(_rows(encode([text for _, text in batch])))
    width = max(part.shape[1] for part in parts)
    vectors = np.concatenate([part if part.shape[1] else np.zeros((len(part), width)) for part in parts])
    return Dense(names, unit_rows(vectors), lambda texts: _rows(encode(texts), width))


def _rows(vectors: Sequence[Any], width: int = 0) -> Array:
    """Stack vectors; a text without one is a row of zeros, which is never ranked."""
    width = next((len(vector) for vector in vectors if vector is not None), width)
    return np.array([np.zeros(width) if vector is None else vector for vector in vectors], np.float64)

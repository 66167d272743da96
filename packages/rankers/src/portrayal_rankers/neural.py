"""Neural re-ranking of a lexical first stage, trained on the collection's own judgments.

DRMM sees, for each query word, a histogram of its cosines with the document's words; MatchPyramid sees the matrix of cosines as a
picture. The model that scores a query is trained on the other folds.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.text.collections import Collection
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import words
from portrayal_rankers.base import Hits
from portrayal_rankers.index import Index
from portrayal_rankers.lexical import Lexical, bm25
from portrayal_rankers.settings import BINS, QUERY_WORDS, NeuralSettings

if TYPE_CHECKING:
    from portrayal_rankers.networks import Example

DOCUMENT_WORDS = 256  # as far as a picture reaches

Array = NDArray[np.float32]


def similarities(index: Index, space: WordSpace) -> Array:
    """Take the index's words to unit vectors; a word the vectors lack has zeros."""
    rows = [space.row(word) for word in index.words]
    known = np.array([row is not None for row in rows])
    units = np.zeros((len(rows), space.matrix.shape[1]), np.float32)
    units[known] = space.unit_rows(np.array([row for row in rows if row is not None], np.int64))
    return units


def _cosines(units: Array, query: NDArray[np.int64], words: NDArray[np.int64]) -> Array:
    """Return query words by document words; 1 for a word with itself, known or not."""
    cosines = units[query] @ units[words].T
    return np.where(query[:, None] == words[None, :], np.float32(1), np.clip(cosines, -1, 1))


def histograms(units: Array, query: NDArray[np.int64], documents: Sequence[NDArray[np.int64]]) -> Array:
    """Return documents by query words by bins: ln(1 + words in the bin)."""
    counted = np.zeros((len(documents), QUERY_WORDS, BINS), np.float32)
    for place, terms in enumerate(documents):
        cosines = _cosines(units, query, terms)
        bins = np.minimum(((cosines + 1) / 2 * (BINS - 1)).astype(np.int64), BINS - 2)
        bins[query[:, None] == terms[None, :]] = BINS - 1
        flat = bins + BINS * np.arange(len(query))[:, None]
        counts = np.bincount(flat.ravel(), minlength=BINS * len(query))
        counted[place, : len(query)] = np.log1p(counts.reshape(len(query), BINS))
    return counted


def pictures(units: Array, query: NDArray[np.int64], documents: Sequence[NDArray[np.int64]]) -> Array:
    """Return documents by query words by document words: the cosines, zeros beyond the ends."""
    drawn = np.zeros((len(documents), QUERY_WORDS, DOCUMENT_WORDS), np.float32)
    for place, terms in enumerate(documents):
        first = terms[:DOCUMENT_WORDS]
        drawn[place, : len(query), : len(first)] = _cosines(units, query, first)
    return drawn


VIEWS = {"drmm": histograms, "matchpyramid": pictures}


@dataclass(frozen=True)
class Neural:
    """Orders the candidates of a first stage anew."""

    architecture: str
    collection: Collection
    first: Lexical
    units: Array  # of the index's words
    settings: NeuralSettings

    @property
    def documents(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.first.documents

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Re-rank with a model per fold, trained on the judged queries outside it."""
        from portrayal_rankers.networks import score, train

        judged = {self.collection.queries[name]: name for name in self.collection.judged()}
        texts = list(dict.fromkeys([*queries.values(), *judged]))
        hits = self.first.search({text: text for text in texts}, max(depth, self.settings.candidates))
        examples = self._examples(hits, judged)
        folds = self._folds({text: name for name, text in queries.items()} | judged)
        for fold in sorted(set(folds.values())):
            held_out = [text for text in set(queries.values()) & set(examples) if folds[text] == fold]
            if held_out:
                seen = [examples[text] for text in judged if text in examples and folds[text] != fold]
                model = train(self.architecture, seen, self.settings.epochs, self.settings.seed + fold)
                hits |= {text: _reordered(hits[text], score(model, examples[text])) for text in held_out}
        return {name: hits[text].first(depth) for name, text in queries.items()}

    def _folds(self, names: Mapping[str, str]) -> dict[str, int]:
        """Return the fold of each query text; queries of the same words share one."""
        count = self.settings.folds
        if count == "robust04":
            return {text: usual_fold(name) for text, name in names.items()}
        seed = self.settings.seed
        return {text: zlib.crc32(f"{seed} {' '.join(words(text))}".encode()) % count for text in names}

    def _examples(self, hits: Mapping[str, Hits], judged: Mapping[str, str]) -> dict[str, Example]:
        """Return the example of each query text that has candidates."""
        from portrayal_rankers.networks import Example

        candidates = {text: own.first(self.settings.candidates).numbers for text, own in hits.items()}
        wanted, known = {int(number) for numbers in candidates.values() for number in numbers}, self.first.index.numbers
        documents = {  # in one pass over the collection
            place: np.array([known[word] for word in words(text) if word in known], np.int64)
            for place, (_, text) in enumerate(self.collection.documents())
            if place in wanted
        }
        idf, examples = np.log1p(len(self.documents) / np.maximum(self.first.index.frequencies, 1)), {}
        for text, numbers in candidates.items():
            if len(numbers) > 0:
                ids = _query_words(self.first.index, text)
                view = VIEWS[self.architecture](self.units, ids, [documents[int(number)] for number in numbers])
                levels = self.collection.qrels.get(judged.get(text, ""), {})
                gains = [levels.get(self.documents[number], 0) for number in numbers]
                weights = np.pad(idf[ids], (0, QUERY_WORDS - len(ids))).astype(np.float32)
                examples[text] = Example(view, weights, np.array(gains, np.int64))
        return examples


def usual_fold(topic: str) -> int:
    """Return the fold of a topic of Robust04 (Huston and Croft, 2014), counted from 0."""
    folds = dict(read_lexicon("robust04_folds").iter_rows())
    if topic not in folds:
        raise PortrayalError(
            f"query {topic!r} is no topic of Robust04, so it is in none of its folds. Set folds to a number."
        )
    return int(folds[topic]) - 1


def neural(
    architecture: str, collection: Collection, index: Index, space: WordSpace, settings: NeuralSettings
) -> Neural:
    """Return a DRMM or MatchPyramid re-ranker over BM25; its first search trains the models."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra(f"ranker {architecture!r}", "torch") from None
    if not any(collection.relevant(query) for query in collection.qrels):
        raise PortrayalError(f"collection {collection.name!r} has no relevant document to train {architecture} on.")
    return Neural(architecture, collection, bm25(index), similarities(index, space), settings)


def _query_words(index: Index, text: str) -> NDArray[np.int64]:
    """Return the query's words in order, each once; of a long query the rarest ones."""
    ids = np.array(list(dict.fromkeys(index.numbers[word] for word in words(text) if word in index.numbers)), np.int64)
    rarest = np.argsort(index.frequencies[ids], kind="stable")[:QUERY_WORDS]
    return ids[np.sort(rarest)]


def _reordered(hits: Hits, scores: NDArray[np.float64]) -> Hits:
    """Order the candidates by their new scores; those below keep theirs, shifted under the last."""
    order = np.argsort(-scores, kind="stable")
    count = len(scores)
    tail = hits.scores[count:] - hits.scores[count : count + 1] + scores.min() - 1.0
    numbers = np.concatenate([hits.numbers[:count][order], hits.numbers[count:]])
    return Hits(numbers, np.concatenate([scores[order], tail]))

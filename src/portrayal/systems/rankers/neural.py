"""Neural re-ranking of a lexical first stage, trained on the collection's own judgments.

Queries are split into folds by their text; the model that scores a query is trained on the other folds, so no
query is scored by a model that saw it. The first stage's order is kept below the candidates.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.systems.rankers.base import Hits
from portrayal.systems.rankers.lexical import Lexical, bm25
from portrayal.systems.rankers.matches import QUERY_WORDS, Similarities, histograms, pictures, similarities
from portrayal.systems.rankers.settings import NeuralSettings
from portrayal.text.collections import Collection
from portrayal.text.collections.index import Index
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.space import WordSpace
from portrayal.text.words.tokens import words

if TYPE_CHECKING:
    from portrayal.systems.rankers.networks import Example

VIEWS = {"drmm": histograms, "matchpyramid": pictures}


@dataclass(frozen=True)
class Neural:
    """Orders the candidates of a first stage anew."""

    architecture: str
    collection: Collection
    first: Lexical
    similar: Similarities
    settings: NeuralSettings

    @property
    def documents(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.first.documents

    def search(self, queries: Mapping[str, str], depth: int) -> dict[str, Hits]:
        """Train a model per fold on the collection's judged queries outside it, and re-rank with it."""
        from portrayal.systems.rankers.networks import score, train

        judged = {self.collection.queries[name]: name for name in self.collection.judged()}
        texts = list(dict.fromkeys([*queries.values(), *judged]))
        found = self.first.search({text: text for text in texts}, max(depth, self.settings.candidates))
        examples = self._examples(found, judged)
        folds = self._folds({text: name for name, text in queries.items()} | judged)
        for fold in sorted(set(folds.values())):
            held_out = [text for text in set(queries.values()) & set(examples) if folds[text] == fold]
            if held_out:
                seen = [examples[text] for text in judged if text in examples and folds[text] != fold]
                model = train(self.architecture, seen, self.settings.epochs, self.settings.seed + fold)
                found |= {text: _reordered(found[text], score(model, examples[text])) for text in held_out}
        return {name: found[text].first(depth) for name, text in queries.items()}

    def _folds(self, names: Mapping[str, str]) -> dict[str, int]:
        """Return the fold of each query text; queries of the same words share one, however often they are asked."""
        count = self.settings.folds
        if count == "robust04":
            return {text: usual_fold(name) for text, name in names.items()}
        seed = self.settings.seed
        return {text: zlib.crc32(f"{seed} {' '.join(words(text))}".encode()) % count for text in names}

    def _examples(self, found: Mapping[str, Hits], judged: Mapping[str, str]) -> dict[str, Example]:
        """Return what is seen of each query text that has candidates."""
        from portrayal.systems.rankers.networks import Example, query_weights

        candidates = {text: hits.first(self.settings.candidates).numbers for text, hits in found.items()}
        documents = self._texts({int(number) for numbers in candidates.values() for number in numbers})
        idf, examples = _idf(self.first.index), {}
        for text, numbers in candidates.items():
            if len(numbers) > 0:
                ids = _query_words(self.first.index, text)
                view = VIEWS[self.architecture](self.similar, ids, [documents[int(number)] for number in numbers])
                levels = self.collection.qrels.get(judged.get(text, ""), {})
                gains = [levels.get(self.documents[number], 0) for number in numbers]
                examples[text] = Example(view, query_weights(idf[ids]), np.array(gains, np.int64))
        return examples

    def _texts(self, wanted: set[int]) -> dict[int, NDArray[np.int64]]:
        """Read the candidates' words in order, in one pass over the collection."""
        numbers = self.first.index.numbers
        return {
            place: np.array([numbers[word] for word in words(text) if word in numbers], np.int64)
            for place, (_, text) in enumerate(self.collection.documents())
            if place in wanted
        }


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
    """Return a DRMM or MatchPyramid re-ranker over BM25; models are trained when it is asked to search."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra(f"ranker {architecture!r}", "torch") from None
    if not any(collection.relevant(query) for query in collection.qrels):
        raise PortrayalError(f"collection {collection.name!r} has no relevant document to train {architecture} on.")
    return Neural(architecture, collection, bm25(index), similarities(index, space), settings)


def _query_words(index: Index, text: str) -> NDArray[np.int64]:
    """Return the query's words in order, each once; of a long query the rarest, which say most."""
    ids = np.array(list(dict.fromkeys(index.numbers[word] for word in words(text) if word in index.numbers)), np.int64)
    rarest = np.argsort(index.frequencies[ids], kind="stable")[:QUERY_WORDS]
    return ids[np.sort(rarest)]


def _idf(index: Index) -> NDArray[np.float64]:
    return np.log1p(len(index.documents) / np.maximum(index.frequencies, 1))


def _reordered(hits: Hits, scores: NDArray[np.float64]) -> Hits:
    """Put the candidates into the order of their new scores; those below keep theirs, shifted under the last."""
    order = np.argsort(-scores, kind="stable")
    count = len(scores)
    tail = hits.scores[count:] - (hits.scores[count] if len(hits.scores) > count else 0.0) + scores.min() - 1.0
    numbers = np.concatenate([hits.numbers[:count][order], hits.numbers[count:]])
    return Hits(numbers, np.concatenate([scores[order], tail]))

"""Phantom collections, in which relevance, lists and genderedness are made of known numbers.

A vocabulary of made-up words has known scores under two rulers. A query is one to three words, a few of them far out. Each of
its relevant documents has words drawn so that the expected genderedness follows the query's a little, as real ones do, and
each system mixes relevant documents with others from the same distribution, pulled one way or the other by chance: the
more gendered the query, the more. Without an effect nothing ties that pull to the query's gender, so no system differs from
the perfect one. With an effect a system's lists rise with the query's gender by exactly that much more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from string import ascii_lowercase

import numpy as np

HALF = 150  # words of each half of the vocabulary
UPPER, LOWER = np.arange(HALF), np.arange(HALF, 2 * HALF)
LENGTH = 24  # words of a document
BASELINE = 0.1  # the perfect system's slope, of the order of Table 2's
PULL = 0.3  # of a system's own documents, for each unit of the query's genderedness
LEAST = 0.02  # the same for a query that is not gendered
RELEVANT = (2, 8)  # documents of a query, at least and at most
FRESH = 0.75  # share of a list that the judgments do not call relevant
APART = 0.03  # spread of a word's score from one ruler to the other


@dataclass(frozen=True, eq=False)
class World:
    """The words and their scores under each ruler; the same in every simulated audit."""

    words: Sequence[str]
    scores: np.ndarray  # rulers x words, the first half of the words above zero and the second below


@dataclass(frozen=True, eq=False)
class Free:
    """The words that documents of one question may have: all but its own, by half, with the mean score of each half."""

    sides: tuple[np.ndarray, np.ndarray]
    high: float
    low: float


def free_words(asked: np.ndarray) -> Free:
    """Return the words of each half that the question does not ask for; the measure would leave those out."""
    scores = world().scores[0]
    sides = (np.delete(UPPER, asked[asked < HALF]), np.delete(LOWER, asked[asked >= HALF] - HALF))
    return Free(sides, *(float(scores[side].sum()) / len(side) for side in sides))


@cache
def world() -> World:
    """Return the vocabulary, with scores as skewed as real ones."""
    rng = np.random.default_rng(0)
    words = ["zq" + "".join(letters) for letters in product(ascii_lowercase, repeat=2)][: 2 * HALF]
    first = np.concatenate([rng.gamma(2.0, 0.06, HALF), -rng.gamma(2.0, 0.06, HALF)])
    return World(words, np.clip([first, first + rng.normal(0, APART, 2 * HALF)], -0.9, 0.9))


class Phantoms:
    """A collection that grows question by question, with the lists of systems whose slopes are planted."""

    def __init__(self, effects: Sequence[float], rng: np.random.Generator) -> None:
        self.effects, self.rng = effects, rng
        self.documents: list[list[int]] = []  # the places of each document's words in the vocabulary
        self.women: list[bool] = []  # whom each document is about
        self.queries: dict[str, list[int]] = {}
        self.relevant: dict[str, list[int]] = {}
        self.lists: list[dict[str, list[int]]] = [{} for _ in effects]

    def ask(self, question: int, wordings: int = 1) -> None:
        """Add a question in all its wordings, its relevant documents, and what each system answers."""
        asked = self.rng.permutation(2 * HALF)[: self.rng.integers(1, 4)]
        gender, free = float(world().scores[0][asked].mean()), free_words(asked)
        relevant = self._documents(free, BASELINE * gender, 0.0, int(self.rng.integers(*RELEVANT, endpoint=True)))
        pools = [self._pool(free, gender, effect, relevant) for effect in self.effects]
        for wording in range(wordings):
            query = f"q{question}-{wording}"
            self.queries[query] = self.rng.permutation(asked).tolist()
            self.relevant[query] = relevant
            for lists, pool in zip(self.lists, pools, strict=True):
                lists[query] = self.rng.permutation(pool).tolist()

    def _pool(self, free: Free, gender: float, effect: float, relevant: Sequence[int]) -> list[int]:
        """Return the documents a system answers with: some of the relevant ones, and others that it pulls one way."""
        fresh = max(round(FRESH * len(relevant)), 1)
        pull = float(self.rng.uniform(-1, 1)) * (LEAST + PULL * abs(gender))
        wanted = (BASELINE + effect * len(relevant) / fresh) * gender
        kept = self.rng.permutation(relevant)[: len(relevant) - fresh]
        return [*kept.tolist(), *self._documents(free, wanted, pull, fresh)]

    def _documents(self, free: Free, wanted: float, pull: float, count: int) -> list[int]:
        """Add documents of this expected genderedness, each about a woman or a man as it may be, and return their numbers.

        A pull goes no further than words of one half alone could, and as far the other way.
        """
        room = max(min(free.high - wanted, wanted - free.low), 0.0)
        share = (wanted + min(max(pull, -room), room) - free.low) / (free.high - free.low)
        female = self.rng.random((count, LENGTH)) < share
        drawn = [side[self.rng.integers(0, len(side), (count, LENGTH))] for side in free.sides]
        first = len(self.documents)
        self.documents += np.where(female, *drawn).tolist()
        self.women += (self.rng.random(count) < 0.5).tolist()
        return list(range(first, first + count))

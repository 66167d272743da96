"""Rank discounts, and genderedness of queries, documents and lists (sections 3.2.2, 3.2.3).

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
A document's score is the mean of its words without the query's words. Each document's sum over all its words is computed once; of
it the few words that each query shares with it are taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from portrayal.audits.search.measures.bags import Bags
from portrayal.errors import check_name
from portrayal.text.words import wordnet


def usable(word: str) -> bool:
    """Tell whether a word counts: two letters or more and no digit."""
    return len(word) > 1 and word.isalpha()


# Weight of rank r = 1, 2, ...: Definition 3.7, the authors' code, and none.
DISCOUNTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "definition": lambda ranks: 1.0 / np.log2(ranks + 1.0),
    "code": lambda ranks: 1.0 / np.maximum(1.0, np.log2(ranks)),
    "none": lambda ranks: np.ones(len(ranks)),
}
FINE, SMALL = 44, -10  # a step is 2^-FINE where the largest score lies between 2^SMALL and 1


@lru_cache(maxsize=1024)
def rank_weights(length: int, discount: str = "definition") -> np.ndarray:
    """Return the weights (read only) of ranks 1 to `length`, not scaled."""
    check_name(discount, DISCOUNTS, "rank discount")
    weights = DISCOUNTS[discount](np.arange(1, length + 1, dtype=np.float64))
    weights.flags.writeable = False
    return weights


def shared_weights(grades: Sequence[float], discount: str = "definition") -> np.ndarray:
    """Return the weights of documents by falling grade; equal grades share theirs."""
    weights = rank_weights(len(grades), discount)
    _, group = np.unique(-np.asarray(grades, dtype=float), return_inverse=True)
    return (np.bincount(group, weights) / np.bincount(group))[group] if len(weights) else weights


def query_scores(queries: Iterable[Sequence[str]], score: Mapping[str, float]) -> np.ndarray:
    """Return g(q), the mean score of each query's words."""
    scored = ([score[word] for word in words if word in score] for words in queries)
    return np.array([np.mean(known) if known else np.nan for known in scored], dtype=np.float64)


@lru_cache(maxsize=4096)
def inflected(word: str) -> frozenset[str]:
    """Return the word's forms; queries share their words."""
    return wordnet.load().inflected(word)


def document_scores(
    lists: Sequence[np.ndarray], left_out: Sequence[np.ndarray], bags: Bags, scores: np.ndarray
) -> np.ndarray:
    """Return g_q(d) for every document of every list; NaN without scored words."""
    if not sum(map(len, lists)):
        return np.zeros(0)
    known = ~np.isnan(scores)
    steps, step = in_steps(np.where(known, scores, 0.0), int(bags.lengths.max(initial=0)))
    weights = np.column_stack([steps, known])
    left = bags.times(weights)[np.concatenate(lists)] - bags.times_left_out(lists, left_out, weights)
    some = left[:, 1] > 0
    return np.where(some, left[:, 0] * step / np.where(some, left[:, 1], 1), np.nan)


def in_steps(scores: np.ndarray, longest: int) -> tuple[np.ndarray, float]:
    """Return scores as whole numbers of small steps, and the step: 2^-44 for cosines."""
    _, size = np.frexp(np.abs(scores).max(initial=0.0))
    size = 0 if SMALL < size <= 0 else int(size)
    fine = min(FINE - size, 62 - size - longest.bit_length())  # the sum of the longest document stays below 2^62
    return np.rint(np.ldexp(scores, fine)).astype(np.int64), float(np.ldexp(1.0, -fine))


def list_scores(documents: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return g_q(L) of Equation 2: weighted means over the documents that have a score."""
    usable = ~np.isnan(documents)
    place = np.repeat(np.arange(len(sizes)), sizes)[usable]
    sums = np.bincount(place, weights[usable] * documents[usable], len(sizes))
    totals = np.bincount(place, weights[usable], len(sizes))
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), np.nan)

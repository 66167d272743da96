"""The genderedness of result lists, reading included, beside a loop over documents and words.

Timed from the texts on: words to integers, the genderedness of queries, documents and lists, the slope with its interval
and test. The loop does what the authors' code does for each result: split the document anew, compare every word with the
query's forms, look its score up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.rows.texts import DEPTH, TERMS, WORDS, documents, queries
from benchmarks.shape import Benchmark, Peer

LETTERS = str.maketrans("0123456789", "abcdefghij")
PER_LIST = 400  # documents of the collection for each list
LOOPED = 2  # lists the loop is timed on


@dataclass(frozen=True)
class Lists:
    """Texts, word vectors, and a list of documents for each query."""

    texts: list[str]
    asked: Mapping[str, str]
    space: Any
    names: list[str]
    lists: Mapping[str, list[str]]
    scores: Mapping[str, float]  # of every word, worked out beforehand for the loop; ours works out its own


def prepare(size: int) -> Lists:
    """Draw a collection, so many queries, and a list at random for each."""
    from portrayal.text.vectors.direction import score_words
    from portrayal.text.vectors.space import WordSpace

    # The measure scores words without digits, so w12 becomes wbc.
    texts = [text.translate(LETTERS) for text in documents(PER_LIST * size)]
    asked = {f"q{number}": text for number, text in enumerate(queries(texts, size))}
    rng = np.random.default_rng(0)
    names = [f"w{number}".translate(LETTERS) for number in range(TERMS)]
    space = WordSpace.build("random", names, rng.normal(size=(TERMS, 50)).astype(np.float32))
    depth = min(DEPTH, len(texts))
    lists = {query: [f"d{row}" for row in rng.choice(len(texts), depth, replace=False)] for query in asked}
    found = score_words(space, _direction(space, names), names)
    return Lists(texts, asked, space, names, lists, dict(zip(names, found.tolist(), strict=True)))


def _direction(space: Any, names: list[str]) -> Any:
    from portrayal.text.vectors.direction import find_direction

    first, second, third, fourth = names[:4]
    return find_direction(space, [(first, second), (third, fourth)])


def ours(data: Lists) -> np.ndarray:
    from portrayal.audits.search.inputs import make_history
    from portrayal.audits.search.measures.gsr import gsr
    from portrayal.audits.search.measures.history import score_history, word_scores
    from portrayal.text.collections import collection_of

    collection = collection_of([(f"d{row}", text) for row, text in enumerate(data.texts)], data.asked)
    history = make_history(collection, cutoff=DEPTH)
    table = score_history(history, data.lists, word_scores(data.space, _direction(data.space, data.names), history))
    gsr(table)
    return table["list_score"].to_numpy()


def loop(data: Lists) -> np.ndarray:
    """Go over a few lists, document by document and word by word."""
    from portrayal.audits.search.inputs import measuring_stop_words

    stop, chosen = measuring_stop_words(), list(data.asked)[:LOOPED]
    return np.array([_one_list(data, query, stop) for query in chosen])


def _one_list(data: Lists, query: str, stop: frozenset[str]) -> float:
    from portrayal.text.words import wordnet
    from portrayal.text.words.tokens import words

    removed = [wordnet.load().inflected(asked) for asked in words(data.asked[query]) if asked not in stop]
    total = weights = 0.0
    for rank, doc in enumerate(data.lists[query], 1):
        left = [
            data.scores[word]
            for word in words(data.texts[int(doc[1:])])
            if word in data.scores and word not in stop and not any(word in forms for forms in removed)
        ]
        if left:
            total += np.mean(left) / np.log2(rank + 1)
            weights += 1 / np.log2(rank + 1)
    return total / weights


def equal(data: Lists, found: np.ndarray, theirs: np.ndarray) -> str:
    apart = np.abs(found[: len(theirs)] - theirs).max()
    return "" if apart < 1e-12 else f"list scores differ by {apart:.0e}"


def check(data: Lists, found: np.ndarray) -> str:
    return equal(data, found, loop(data))


def limit(data: Lists) -> dict[str, float]:
    """Every byte of text is read, every word's number (4 bytes) written and read, and read again for each list it is in."""
    characters = sum(map(len, data.texts))
    listed = sum(map(len, data.lists.values()))
    return {"memory": characters + 4 * WORDS * (2 * len(data.texts) + listed)}


BENCHMARK = Benchmark(
    name="genderedness",
    work="genderedness of 250 lists of 1,000 of 100,000 documents, query terms removed, reading included",
    size=250,
    unit="lists",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "a loop per document",
            100,
            "numpy",
            run=loop,
            equal=equal,
            scale=lambda data: len(data.asked) / LOOPED,
            scaled=f"timed on {LOOPED} lists, scaled to 250",
        ),
    ),
    check=check,
    limit=limit,
    smallest=LOOPED,
    why=(
        "About half of the processor time is finding and looking up 20 million words: a dozen array operations go over them"
        " (translate, borders, hash, slot, compare), about 75 ns a word. A third is the lists: looking their documents up, summing"
        " every document, and going over the words of the listed ones for the query's. An eighth is the scores of 190,000 distinct"
        " words, looked up by name in Python on one core."
    ),
)

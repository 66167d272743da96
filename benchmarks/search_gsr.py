"""The GSR part of `benchmarks/search.py`: 250 lists of 1,000 documents beside a loop over documents and words.

Timed from the texts on: words to integers, the genderedness of queries, documents and lists, the slope with its interval
and test. The loop does what the authors' code does for each result: split the document anew, compare every word with the
query's forms, look its score up; it is timed on a few lists and scaled.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from search_texts import DEPTH, QUERIES, TERMS, documents, queries

LETTERS = str.maketrans("0123456789", "abcdefghij")
LOOPED = 4  # lists the loop is timed on


def gsr(count: int) -> dict[str, float]:
    """Return the seconds of ours and of the loop, and how far their list scores differ."""
    from portrayal.audits.search.histories import make_history
    from portrayal.audits.search.measures import find_direction, score_history
    from portrayal.audits.search.measures import gsr as slope
    from portrayal.audits.search.measures.scores import word_scores
    from portrayal.text.collections import collection_of
    from portrayal.text.space import WordSpace

    # The measure scores words without digits, so w12 becomes wbc.
    texts = [text.translate(LETTERS) for text in documents(count)]
    asked = {f"q{number}": text for number, text in enumerate(queries(texts))}
    rng = np.random.default_rng(0)
    names = [f"w{number}".translate(LETTERS) for number in range(TERMS)]
    space = WordSpace.build("random", names, rng.normal(size=(TERMS, 50)).astype(np.float32))
    lists = {
        query: [f"d{row}" for row in rng.choice(count, min(DEPTH, count), replace=False)] for query in asked
    }
    collection = collection_of([(f"d{row}", text) for row, text in enumerate(texts)], asked)

    start, spent = time.perf_counter(), time.process_time()
    history = make_history(collection, cutoff=DEPTH)
    counted = time.perf_counter()
    scores = word_scores(space, find_direction(space, [(names[0], names[1]), (names[2], names[3])]), history)
    table = score_history(history, lists, scores)
    found = slope(table)
    seconds, whole = time.perf_counter() - counted, time.perf_counter() - start
    spent = time.process_time() - spent

    start = time.perf_counter()
    looped = [
        _loop(history.queries[query], [texts[int(doc[1:])] for doc in lists[query]], scores)
        for query in list(asked)[:LOOPED]
    ]
    loop = (time.perf_counter() - start) * QUERIES / LOOPED
    apart = float(np.max(np.abs(np.array(looped) - table["list_score"].to_numpy()[:LOOPED])))
    return {
        "seconds": seconds,
        "with_words": whole,
        "processor": spent,
        "loop": loop,
        "apart": apart,
        "queries": found.n,
    }


def _loop(query: Sequence[str], listed: list[str], scores: dict[str, float]) -> float:
    """Return one list's genderedness, document by document and word by word."""
    from portrayal.audits.search.histories import measuring_stop_words
    from portrayal.text import wordnet
    from portrayal.text.tokens import words

    stop, removed = measuring_stop_words(), [wordnet.load().inflected(asked) for asked in query]
    total = weights = 0.0
    for rank, text in enumerate(listed, 1):
        left = [
            scores[word]
            for word in words(text)
            if word in scores and word not in stop and not any(word in forms for forms in removed)
        ]
        if left:
            total += np.mean(left) / np.log2(rank + 1)
            weights += 1 / np.log2(rank + 1)
    return total / weights

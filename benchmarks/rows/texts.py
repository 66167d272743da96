"""Documents of 200 words drawn by Zipf's law over 200,000 terms, and queries from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

WORDS, TERMS, QUERIES, DEPTH = 200, 200_000, 250, 1000
QUERY_WORDS = 5


def documents(count: int, seed: int = 0) -> Iterator[str]:
    """Stream documents of words w0, w1 ... drawn by Zipf's law."""
    generator = np.random.default_rng(seed)
    shares = 1 / np.arange(1, TERMS + 1)
    sums = np.cumsum(shares / shares.sum())
    terms = np.array([f"w{number}" for number in range(TERMS)], dtype=object)
    for start in range(0, count, 10_000):
        drawn = np.searchsorted(sums, generator.random((min(10_000, count - start), WORDS)))
        yield from (" ".join(row) for row in terms[drawn])


def queries(texts: Iterator[str] | list[str], count: int = QUERIES, seed: int = 0) -> list[str]:
    """Draw queries of five words each, from one of the first documents each."""
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(text.split(), QUERY_WORDS)) for text, _ in zip(texts, range(count), strict=False)]

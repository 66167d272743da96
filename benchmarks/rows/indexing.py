"""Indexing documents, word weights included, beside bm25s and tantivy."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.rows.texts import WORDS, documents
from benchmarks.shape import Benchmark, Peer

ASKED = 200  # words whose number of documents is compared


def prepare(size: int) -> list[str]:
    return list(documents(size))


def ours(texts: list[str]) -> dict[str, Any]:
    """Index and weigh: bm25s weighs words while it indexes."""
    from portrayal_rankers.index import build_index
    from portrayal_rankers.lexical import bm25

    ranker = bm25(build_index((str(number), text) for number, text in enumerate(texts)))
    return {"index": ranker.index, "weights": ranker.weights}


def asked(texts: list[str]) -> list[str]:
    """Return words of the first document."""
    return sorted(set(texts[0].split()))[:ASKED]


def frequencies(texts: list[str], found: dict[str, Any]) -> np.ndarray:
    index = found["index"]
    return np.array([index.frequencies[index.numbers[word]] for word in asked(texts)])


def check(texts: list[str], found: dict[str, Any]) -> str:
    """Count the words of every hundredth document again."""
    index, matrix = found["index"], found["index"].matrix.tocsr()
    for row in range(0, len(texts), 100):
        counted = Counter(texts[row].split())
        cells = matrix[[row]]
        held = {index.words[column]: int(count) for column, count in zip(cells.indices, cells.data, strict=True)}
        if held != dict(counted):
            return f"the counts of document {row} differ"
    return ""


def give(texts: list[str], folder: Path) -> None:
    (folder / "texts.txt").write_text("\n".join(texts))
    (folder / "words.json").write_text(json.dumps(asked(texts)))


def equal(texts: list[str], found: dict[str, Any], theirs: dict[str, np.ndarray]) -> str:
    if (frequencies(texts, found) != theirs["frequencies"]).any():
        return "words occur in different numbers of documents"
    sizes = {"postings": len(found["index"].postings), "documents": len(texts)}
    off = [name for name, size in sizes.items() if name in theirs and int(theirs[name]) != size]
    return f"different numbers of {off[0]}" if off else ""


def limit(texts: list[str]) -> dict[str, float]:
    """Every byte of text is read, every posting and its weight written and read once."""
    return {"memory": sum(map(len, texts)) + 2 * 12 * WORDS * len(texts)}


BENCHMARK = Benchmark(
    name="indexing",
    work="indexing 100,000 documents of 200 words, word weights included",
    size=100_000,
    unit="documents",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer("bm25s", 5, "bm25s", script="bm25s_index", environment="bench", give=give, equal=equal),
        Peer("tantivy, two threads", 1, "tantivy", script="tantivy_index", environment="bench", give=give, equal=equal),
    ),
    check=check,
    limit=limit,
    smallest=1000,
)

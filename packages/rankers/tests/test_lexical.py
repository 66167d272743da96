"""BM25 against bm25s, the others against a naive loop, and the order of ties."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import bm25s
import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.collections import Collection, collection_of, read_collection, without_result
from portrayal.text.words.tokens import stop_words, words
from portrayal_rankers import lexical
from portrayal_rankers.base import Ranker, best, rank
from portrayal_rankers.index import Index, build_index
from portrayal_rankers.lexical import bm25, qlm, tfidf

DOCUMENTS = {"d1": "nurse nurse ward", "d2": "plumber pipe", "d3": "nurse pipe pipe ward ward ward", "d4": ""}
TOY = collection_of(DOCUMENTS, {"q1": "nurse ward ward", "q2": "doctor", "q3": "pipe"})


def kept(text: str) -> list[str]:
    return [word for word in words(text) if word not in stop_words()]


@pytest.fixture(scope="module")
def cranfield(shared: Callable[[str], Path]) -> tuple[Collection, Index]:
    collection = read_collection(shared("data/ir/cranfield"))
    return collection, build_index(collection.documents())


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire"])
def test_bm25_scores_equal_those_of_bm25s(cranfield: tuple[Collection, Index], variant: str) -> None:
    collection, index = cranfield
    peer = bm25s.BM25(method=variant, k1=1.2, b=0.75, dtype="float64", backend="numpy")
    peer.index([kept(text) for _, text in collection.documents()], show_progress=False)
    ranker = bm25(index, variant=variant)
    for query in collection.queries.values():
        asked = [word for word in kept(query) if word in index.numbers]
        theirs = peer.get_scores(asked)
        np.testing.assert_allclose(ranker.scores(query), theirs, rtol=0, atol=1e-9)


def test_bm25_by_hand() -> None:
    # nurse: 2 of 4 documents, idf ln(1 + 2.5 / 2.5); d1 has it twice among 3 words; mean length 11 / 4
    scores = bm25(build_index(DOCUMENTS.items())).scores("nurse")
    assert scores[0] == pytest.approx(math.log(2) * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2.75)))
    assert scores[1] == scores[3] == 0


def test_common_words_take_the_other_path_to_the_same_scores(cranfield: tuple[Collection, Index]) -> None:
    collection, index = cranfield
    ranker = bm25(index)
    assert ranker.common  # otherwise nothing is tested
    for query in list(collection.queries.values())[:20]:
        ids, counts = index.encode(query)
        np.testing.assert_allclose(ranker.scores(query), ranker.weights[:, ids] @ counts, atol=1e-12)


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire"])
def test_words_weighed_a_few_at_a_time_weigh_the_same(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(0).integers(0, 40, (30, 25)) ** 2
    index = build_index((f"d{n}", " ".join(f"w{word}" for word in row)) for n, row in enumerate(drawn))
    at_once = bm25(index, variant=variant).weights
    for block in (1, 7, 100):
        monkeypatch.setattr(lexical, "BLOCK", block)
        assert np.array_equal(bm25(index, variant=variant).weights.data, at_once.data)


def test_query_likelihood_equals_a_naive_loop() -> None:
    bags = {name: Counter(kept(text)) for name, text in DOCUMENTS.items()}
    total = sum(bags.values(), Counter())
    size = sum(total.values())

    def log_likelihood(bag: Counter, query: str, mu: float) -> float:
        length = sum(bag.values())
        smoothed = [(bag[word] + mu * total[word] / size) / (length + mu) for word in kept(query)]
        # what is left out is the same for every document: ln p(w) of the collection
        return sum(map(math.log, smoothed)) - sum(math.log(total[word] / size) for word in kept(query))

    scores = qlm(build_index(DOCUMENTS.items()), mu=10).scores("nurse ward ward")
    assert scores[0] == pytest.approx(log_likelihood(bags["d1"], "nurse ward ward", 10), abs=1e-12)
    assert scores[2] == pytest.approx(log_likelihood(bags["d3"], "nurse ward ward", 10), abs=1e-12)
    assert scores[1] == scores[3] == -math.inf  # shares no word with the query


def test_tfidf_is_a_cosine() -> None:
    index = build_index(DOCUMENTS.items())
    ranker = tfidf(index)
    assert ranker.scores("nurse nurse ward")[0] == pytest.approx(1)  # the query is the document
    norms = np.sqrt(np.asarray((ranker.weights**2).sum(axis=1)))
    np.testing.assert_allclose(norms, [1, 1, 1, 0], atol=1e-12)


@pytest.mark.parametrize("make", [bm25, qlm, tfidf])
def test_runs_hold_matching_documents_only_best_first(make: Callable[[Index], Ranker]) -> None:
    run = rank(TOY, make(build_index(TOY.documents())), depth=10)
    assert without_result(run, TOY.queries) == ["q2"]
    assert set(run.filter(query="q1")["doc"]) == {"d1", "d3"}
    for _, part in run.group_by("query"):
        assert part["rank"].to_list() == list(range(1, len(part) + 1))
        assert part["score"].is_sorted(descending=True)


def test_depth_cuts_and_ties_go_by_id_descending() -> None:
    same = collection_of(dict.fromkeys(("a", "c", "b", "d"), "nurse"), {"q": "nurse"})
    ranker = bm25(build_index(same.documents()))
    assert rank(same, ranker, depth=3)["doc"].to_list() == ["d", "c", "b"]
    with pytest.raises(PortrayalError, match="depth is 0"):
        rank(same, ranker, depth=0)


@pytest.mark.parametrize("depth", [1, 7, 100, 5000])
def test_the_best_equal_a_full_sort(depth: int) -> None:
    generator = np.random.default_rng(0)
    order = generator.permutation(3000)
    for scores in (generator.random(3000), generator.integers(0, 4, 3000).astype(float), np.zeros(3000)):
        full = [number for number in np.lexsort((order, -scores)) if scores[number] > 0][:depth]
        assert best(scores, depth, order, 0.0).numbers.tolist() == full
    rising = np.arange(3000.0)  # the sample guesses well; reversed and in blocks it may not
    blocks = np.where(np.arange(3000) % 16 == 0, 10.0, 1.0) + generator.random(3000)
    for scores in (rising, rising[::-1].copy(), blocks):
        assert best(scores, depth, order).numbers.tolist() == np.lexsort((order, -scores))[:depth].tolist()


def test_bad_settings_are_refused() -> None:
    index = build_index(DOCUMENTS.items())
    with pytest.raises(PortrayalError, match="no BM25 variant 'lucen'. Did you mean 'lucene'"):
        bm25(index, variant="lucen")
    with pytest.raises(PortrayalError, match="Expected k1 of at least 0 and b from 0 to 1"):
        bm25(index, b=2)
    with pytest.raises(PortrayalError, match="has mu 0"):
        qlm(index, mu=0)

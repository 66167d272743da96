"""Neural re-rankers: what they see, that they learn, and that no query is scored by a model that saw it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from portrayal.audits.search.measures.quality import mean_quality
from portrayal.errors import PortrayalError
from portrayal.text.collections import Collection, collection_of
from portrayal.text.vectors.space import WordSpace
from portrayal_rankers.base import Hits, rank
from portrayal_rankers.index import build_index
from portrayal_rankers.lexical import bm25
from portrayal_rankers.neural import (
    BINS,
    _query_words,
    _reordered,
    histograms,
    neural,
    pictures,
    similarities,
    usual_fold,
)
from portrayal_rankers.settings import NeuralSettings

pytest.importorskip("torch", reason="the extra 'torch' is not installed")

SPACE = WordSpace.build("toy", ["nurse", "ward", "pipe"], np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]))


def planted(queries: int = 24, seed: int = 0) -> Collection:
    """Return a collection where the relevant documents have the query's word often, BM25's favourites only once."""
    generator = np.random.default_rng(seed)
    documents, asked, qrels = {}, {}, {}
    filler = [f"f{number}" for number in range(30)]
    for number in range(queries):
        asked[f"q{number}"] = f"topic{number}"
        for place in range(6):
            relevant = place < 2
            own = [f"topic{number}"] * (4 if relevant else 1)
            name = f"d{number}_{place}"
            documents[name] = " ".join([*own, *generator.choice(filler, 200 if relevant else 3)])
            qrels.setdefault(f"q{number}", {})[name] = int(relevant)
    return collection_of(documents, asked, qrels)


def test_histograms_by_hand() -> None:
    index = build_index([("d", "nurse ward pipe pipe")])
    similar = similarities(index, SPACE)
    nurse, ward, pipe = (index.numbers[word] for word in ("nurse", "ward", "pipe"))
    found = histograms(similar, np.array([nurse]), [np.array([nurse, ward, pipe, pipe])])[0, 0]
    # the same word: its own bin; cosine 0.6: bin (1.6 / 2) 29 = 23.2; cosine -1, twice: bin 0
    expected = np.zeros(BINS)
    expected[[BINS - 1, 23, 0]] = np.log1p([1, 1, 2])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_pictures_by_hand() -> None:
    index = build_index([("d", "nurse ward unknown")])
    similar = similarities(index, SPACE)
    words = np.array([index.numbers[word] for word in ("nurse", "ward", "unknown")])
    found = pictures(similar, words[[1, 2]], [words])[0]
    np.testing.assert_allclose(found[0, :3], [0.6, 1, 0], atol=1e-6)
    np.testing.assert_allclose(found[1, :3], [0, 0, 1], atol=1e-6)  # a word the vectors lack still equals itself
    assert not found[2:].any()
    assert not found[:, 3:].any()


@pytest.mark.parametrize("architecture", ["drmm", "matchpyramid"])
def test_it_learns_from_the_other_queries(architecture: str) -> None:
    collection = planted()
    index = build_index(collection.documents())
    before = mean_quality(rank(collection, bm25(index, k1=0.1, b=1.0)), collection.qrels, measures=("map",))["map"]
    ranker = neural(architecture, collection, index, SPACE, NeuralSettings(candidates=6, folds=2, epochs=10))
    after = mean_quality(rank(collection, ranker), collection.qrels, measures=("map",))["map"]
    assert after > 0.95 > before


def test_the_same_seed_gives_the_same_run() -> None:
    collection = planted(6)
    index = build_index(collection.documents())

    def run(seed: int) -> pl.DataFrame:
        options = NeuralSettings(candidates=6, folds=2, epochs=2, seed=seed)
        return rank(collection, neural("drmm", collection, index, SPACE, options))

    assert run(0).equals(run(0))
    assert not run(0).equals(run(1))


def test_no_query_is_scored_by_a_model_that_saw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from portrayal_rankers import networks

    collection = planted(12)
    index = build_index(collection.documents())
    ranker = neural("drmm", collection, index, SPACE, NeuralSettings(candidates=6, folds=3, epochs=1))
    seen: list[set[int]] = []
    scored: list[tuple[int, int]] = []

    def train(architecture: str, examples: list, epochs: int, seed: int) -> int:
        seen.append({id(example) for example in examples})
        return len(seen) - 1

    def score(model: int, example: networks.Example) -> np.ndarray:
        scored.append((model, id(example)))
        return np.zeros(len(example.levels))

    monkeypatch.setattr(networks, "train", train)
    monkeypatch.setattr(networks, "score", score)
    # q0 is asked twice, under another name too: the twin may not be trained on either
    ranker.search({**collection.queries, "twin": collection.queries["q0"].upper()}, 10)
    assert len(scored) == 13
    assert all(example not in seen[model] for model, example in scored)
    of_text = ranker._folds({text: name for name, text in collection.queries.items()})
    folds = [list(of_text.values()).count(fold) for fold in range(3)]
    assert [len(part) for part in seen] == [12 - size for size in folds if size]
    assert len(set(ranker._folds({"Topic0": "q0", "topic0": "q1"}).values())) == 1


def test_the_usual_folds_of_robust04() -> None:
    # Huston and Croft (2014): 250 topics in five folds of 50; 301 is in the second, 302 in the first.
    topics = [str(number) for number in (*range(301, 451), *range(601, 701))]
    folds = [usual_fold(topic) for topic in topics]
    assert [folds.count(fold) for fold in range(5)] == [50] * 5
    assert (usual_fold("301"), usual_fold("302")) == (1, 0)
    ranker = neural("drmm", planted(2), build_index(planted(2).documents()), SPACE, NeuralSettings(folds="robust04"))
    assert ranker._folds({"foreign minorities": "301", "polio": "302"}) == {"foreign minorities": 1, "polio": 0}
    with pytest.raises(PortrayalError, match="query 'q0' is no topic of Robust04"):
        ranker.search({"q0": "topic0"}, 10)


def test_a_long_query_keeps_its_rarest_words_in_order() -> None:
    filler = " ".join(f"f{number}" for number in range(30))
    index = build_index([("a", f"{filler} rare"), ("b", filler)])
    ids = _query_words(index, f"{filler} rare {filler}")
    assert [index.words[word] for word in ids] == [*(f"f{number}" for number in range(19)), "rare"]


def test_what_lies_below_the_candidates_keeps_its_order() -> None:
    hits = Hits(np.array([5, 6, 7, 8]), np.array([4.0, 3.0, 2.0, 1.0]))
    found = _reordered(hits, np.array([-1.0, 2.0]))
    assert found.numbers.tolist() == [6, 5, 7, 8]
    assert found.scores.tolist() == [2.0, -1.0, -2.0, -3.0]


def test_a_collection_without_judgments_cannot_be_trained_on() -> None:
    bare = collection_of({"d": "nurse"}, {"q": "nurse"})
    with pytest.raises(PortrayalError, match="has no relevant document to train drmm on"):
        neural("drmm", bare, build_index(bare.documents()), SPACE, NeuralSettings())


@pytest.mark.parametrize("architecture", ["drmm", "matchpyramid"])
def test_networks_trained_side_by_side_are_those_trained_one_by_one(architecture: str) -> None:
    """The systems of a study are asked in threads; torch has one generator for all of them."""
    from concurrent.futures import ThreadPoolExecutor

    from portrayal_rankers.networks import train

    def weights(seed: int) -> list[np.ndarray]:
        return [part.detach().numpy() for part in train(architecture, [], 0, seed).parameters()]

    seeds = [place % 4 for place in range(200)]
    alone = {seed: weights(seed) for seed in range(4)}
    with ThreadPoolExecutor(8) as pool:
        for seed, beside in zip(seeds, pool.map(weights, seeds), strict=True):
            assert all(np.array_equal(one, other) for one, other in zip(alone[seed], beside, strict=True))

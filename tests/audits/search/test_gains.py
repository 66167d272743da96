"""Levels in order of rank, beside looking each document up by itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from portrayal.audits.search.measures.quality import gains_of, quality

NAMES = [f"d{number}" for number in range(40)]


def drawn(seed: int) -> tuple[pl.DataFrame, dict[str, dict[str, int]]]:
    """Lists of different lengths, in any order of rows, and judgments of some of their documents and of others."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{query}", NAMES[doc], rank)
        for query in range(6)
        for rank, doc in enumerate(rng.permutation(40)[: rng.integers(0, 30)], 1)
    ]
    run = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String, "rank": pl.Int64}, orient="row")
    qrels = {
        f"q{query}": {NAMES[doc]: int(rng.integers(-1, 4)) for doc in rng.permutation(40)[:12]}
        for query in (7, 3, 1, 5)
    }
    return run.sample(fraction=1, shuffle=True, seed=seed), qrels


def looked_up(run: pl.DataFrame, judged: dict[str, int], query: str) -> list[float]:
    docs = run.filter(pl.col("query") == query).sort("rank")["doc"]
    return [float(judged.get(doc, 0)) for doc in docs]


@pytest.mark.parametrize("seed", range(8))
def test_levels_are_those_found_by_looking_each_document_up(seed: int) -> None:
    run, qrels = drawn(seed)
    for table in (run, run.sort("query", "rank"), run.sort("rank")):
        found = {one.query: (one.listed.tolist(), one.judged.tolist()) for one in gains_of(table, qrels)}
        assert found == {
            query: (looked_up(run, judged, query), [float(level) for level in judged.values()])
            for query, judged in qrels.items()
        }


def test_a_document_listed_twice_counts_twice_and_what_has_no_name_nothing() -> None:
    run = pl.DataFrame({"query": ["a", "a", None, "a"], "doc": ["x", None, "x", "x"], "rank": [1, 2, 1, 3]})
    (found,) = gains_of(run, {"a": {"x": 2}})
    assert found.listed.tolist() == [2.0, 0.0, 2.0]


def test_nothing_listed_and_nothing_judged() -> None:
    run, qrels = drawn(0)
    assert list(gains_of(run, {})) == []
    assert [len(one.listed) for one in gains_of(run.head(0), qrels)] == [0, 0, 0, 0]
    ((_, found, judged),) = gains_of(run, {"q1": {}})
    assert len(found) == run["query"].eq("q1").sum() and not found.any() and not len(judged)


def test_a_run_with_a_result_without_rank_has_it_first() -> None:
    run = pl.DataFrame({"query": ["a", "a"], "doc": ["x", "y"], "rank": [1, None]})
    assert quality(run, {"a": {"y": 1}}, measures=("map",))["map"].to_list() == [1.0]

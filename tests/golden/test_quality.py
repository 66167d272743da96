"""Quality measures against trec_eval's own printed outputs, and MAP of BM25 on three collections."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from portrayal.audits.search.inputs import make_history
from portrayal.audits.search.measures.quality import mean_quality, quality
from portrayal.text.collections import read_collection, read_qrels, read_run
from portrayal_rankers.base import rank
from portrayal_rankers.index import build_index
from portrayal_rankers.lexical import bm25

# Outputs of trec_eval's own tests: out.test.aq (-q), out.test.aqc (-q -c, truncated run), out.test.aql (-l2, graded).
OUTPUTS = {
    "out.test.aq": ("qrels.test", "results.test", {"complete": False}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"complete": True}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"complete": False, "level": 2}),
}
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
NAMES = ("map", "ndcg", *(f"P_{cut}" for cut in CUTS), *(f"ndcg_cut_{cut}" for cut in CUTS))


@pytest.mark.parametrize("output", OUTPUTS)
def test_trec_eval_prints_the_same_four_decimals(shared: Callable[[str], Path], output: str) -> None:
    folder = shared("data/ir/trec_eval")
    qrels, run, settings = OUTPUTS[output]
    table = quality(read_run(folder / run), read_qrels(folder / qrels), NAMES, **settings)
    values = {(row["query"], name): row[name] for row in table.iter_rows(named=True) for name in NAMES}
    values |= {("all", name): table[name].mean() for name in NAMES}
    printed = [line.split() for line in (folder / output).read_text().splitlines()]
    expected = {(query, name): value for name, query, value in printed if name in NAMES}
    assert len(expected) >= 4 * len(NAMES) - 2 * len(NAMES)
    assert {key: f"{values[key]:.4f}" for key in expected} == expected


def test_the_drawn_table_of_expected_values(shared: Callable[[str], Path]) -> None:
    folder = shared("data/ir/trec_eval")
    with (folder / "expected.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        qrels, run, settings = OUTPUTS[row["output_file"]]
        table = quality(read_run(folder / run), read_qrels(folder / qrels), (row["measure"],), **settings)
        asked = table if row["query"] == "all" else table.filter(pl.col("query") == row["query"])
        assert f"{asked[row['measure']].mean():.4f}" == row["value"], row


# About 0.66, 0.20 and 0.27 with an English stop list, k1 1.2, b 0.75; each collection's README gives its own
# figures without a stop list: 0.665, 0.191 and 0.269.
@pytest.mark.parametrize(
    ("name", "expected", "bare"), [("time", 0.66, 0.665), ("cisi", 0.20, 0.191), ("cranfield", 0.27, 0.269)]
)
def test_map_of_bm25(shared: Callable[[str], Path], name: str, expected: float, bare: float) -> None:
    collection = read_collection(shared(f"data/ir/{name}"))
    for stop, value in ((None, expected), ((), bare)):
        run = rank(collection, bm25(build_index(collection.documents(), stop)))
        assert mean_quality(run, collection.qrels, measures=("map",))["map"] == pytest.approx(value, abs=0.01)


def test_a_study_on_cranfield_goes_by_the_gains(shared: Callable[[str], Path]) -> None:
    # Query 1: the documents of code 2 (gain 3) come before those of code 3 and 4; there is none of code 1.
    collection = read_collection(shared("data/ir/cranfield"))
    relevant = make_history(collection).relevant("1")
    assert relevant == dict(sorted(collection.gains["1"].items(), key=lambda item: -item[1]))
    assert next(iter(relevant.values())) == 3


def test_ndcg_on_cranfield_takes_the_graded_judgments(shared: Callable[[str], Path]) -> None:
    # The codes of qrels.tsv run backwards (1 is best), so nDCG on them rewards the wrong end.
    collection = read_collection(shared("data/ir/cranfield"))
    run = rank(collection, bm25(build_index(collection.documents())))
    right = mean_quality(run, collection.gains, measures=("ndcg_cut_10",))["ndcg_cut_10"]
    wrong = mean_quality(run, collection.qrels, measures=("ndcg_cut_10",))["ndcg_cut_10"]
    assert collection.gains == read_qrels(shared("data/ir/cranfield/qrels_graded.tsv"))
    assert right > wrong + 0.02

"""Quality by hand, its conventions, and the paired tests of Table 3."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from portrayal.audits.search.measures.quality import compare_quality, mean_quality, quality
from portrayal.errors import PortrayalError
from portrayal.text.collections import run_table

QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "z": 1}}
RUN = run_table([("q1", "a", 1, 3.0), ("q1", "b", 2, 2.0), ("q1", "c", 3, 1.0), ("q1", "u", 4, 0.5)])


def value(run: pl.DataFrame, measure: str, qrels: dict = QRELS, **settings: object) -> float:
    return mean_quality(run, qrels, measures=(measure,), **settings)[measure]


def test_by_hand() -> None:
    # relevant a, c, z of which a is found at 1, c at 3, z never: (1/1 + 2/3 + 0) / 3
    assert value(RUN, "map") == pytest.approx((1 + 2 / 3) / 3)
    assert value(RUN, "P_2") == 0.5
    assert value(RUN, "P_10") == 0.2  # a list of four is divided by ten all the same
    # gains 2, 0, 1, 0 over the ideal 2, 1, 1
    gained = 2 / math.log2(2) + 1 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert value(RUN, "ndcg") == pytest.approx(gained / ideal)
    assert value(RUN, "ndcg_cut_2") == pytest.approx(2 / (2 + 1 / math.log2(3)))


def test_order_is_by_score_and_ties_by_id_descending() -> None:
    ties = run_table([("q1", "a", 1, 1.0), ("q1", "u", 2, 1.0)])  # u comes before a, whatever the rank says
    assert value(ties, "map") == pytest.approx((1 / 2) / 3)
    assert value(ties, "P_1") == 0.0


def test_unjudged_documents_are_not_relevant_and_negative_levels_gain_nothing() -> None:
    qrels = {"q1": {"a": 1, "b": -1}}
    run = run_table([("q1", "b", 1, 2.0), ("q1", "u", 2, 1.5), ("q1", "a", 3, 1.0)])
    assert value(run, "map", qrels) == pytest.approx(1 / 3)
    assert value(run, "ndcg", qrels) == pytest.approx(1 / math.log2(4))


def test_a_query_without_results_counts_zero_or_is_left_out() -> None:
    qrels = {**QRELS, "q2": {"a": 1}}
    assert value(RUN, "map", qrels, complete=True) == pytest.approx((1 + 2 / 3) / 6)
    assert value(RUN, "map", qrels, complete=False) == pytest.approx((1 + 2 / 3) / 3)
    assert quality(RUN, qrels)["results"].to_list() == [4, 0]


def test_queries_without_a_relevant_document_say_nothing() -> None:
    assert quality(RUN, {"q1": {"a": 0}}).is_empty()
    assert math.isnan(value(RUN, "map", {"q1": {"a": 0}}))
    assert value(RUN, "map", {**QRELS, "q2": {"a": 0}}) == value(RUN, "map")
    # trec_eval counts such a query as 0
    assert value(RUN, "map", {**QRELS, "q2": {"a": 0}}, hopeless=True) == pytest.approx(value(RUN, "map") / 2)


def test_row_order_and_names_do_not_matter() -> None:
    shuffled = RUN.sample(fraction=1.0, shuffle=True, seed=1)
    assert quality(shuffled, QRELS).equals(quality(RUN, QRELS))
    renamed = RUN.with_columns(("x" + pl.col("query")).alias("query"))
    assert quality(renamed, {"xq1": QRELS["q1"]})["map"].to_list() == quality(RUN, QRELS)["map"].to_list()


@pytest.mark.parametrize("name", ["MAP", "P_", "P_0", "map_10", "ndcg10", "ndcg_cut_"])
def test_unknown_measures_are_refused(name: str) -> None:
    with pytest.raises(PortrayalError, match="no measure"):
        quality(RUN, QRELS, (name,))


def test_a_run_lacking_a_column() -> None:
    with pytest.raises(PortrayalError, match="run lacks column 'score'"):
        quality(RUN.drop("score"), QRELS)


def test_paired_tests_equal_scipys() -> None:
    generator = np.random.default_rng(0)
    queries = [f"q{number}" for number in range(30)]
    before = pl.DataFrame({"query": queries, "map": generator.random(30)})
    after = pl.DataFrame({"query": queries[::-1], "map": generator.random(30)})
    found = compare_quality(before, after, ("map",)).row(0, named=True)
    expected = stats.ttest_rel(after["map"].reverse().to_numpy(), before["map"].to_numpy())
    assert found["difference"] == pytest.approx(after["map"].mean() - before["map"].mean())
    assert found["change_percent"] == pytest.approx(100 * found["difference"] / before["map"].mean())
    assert found["p"] == pytest.approx(expected.pvalue, rel=1e-12)
    low, high = expected.confidence_interval()
    assert (found["low"], found["high"], found["n"]) == (pytest.approx(low), pytest.approx(high), 30)


def test_paired_tests_of_equal_systems_and_of_other_queries() -> None:
    table = pl.DataFrame({"query": ["q1", "q2"], "map": [0.5, 0.6]})
    same = compare_quality(table, table, ("map",)).row(0, named=True)
    assert (same["difference"], same["p"]) == (0.0, 1.0)
    with pytest.raises(PortrayalError, match="no query in common"):
        compare_quality(table, table.with_columns(query=pl.lit("x") + pl.col("query")), ("map",))
    half = compare_quality(table, table.head(1), ("map",)).row(0, named=True)
    assert (half["n"], half["n_missing"], half["p"]) == (1, 1, None)

"""Quality by hand, and its conventions."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from portrayal.audits.search.measures.quality import mean_quality, quality
from portrayal.errors import PortrayalError
from portrayal.text.collections import read_run, run_table

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


def test_order_of_a_run_file_is_by_score_and_ties_by_id_descending(tmp_path: Path) -> None:
    # u comes before a, whatever the rank says; b has the lowest score and the best rank
    (tmp_path / "x.run").write_text("q1 Q0 a 1 1.0 t\nq1 Q0 u 2 1.0 t\nq1 Q0 b 0 0.5 t\n")
    ties = read_run(tmp_path / "x.run")
    assert ties.rows() == [("q1", "u", 1, 1.0), ("q1", "a", 2, 1.0), ("q1", "b", 3, 0.5)]
    assert value(ties, "map") == pytest.approx((1 / 2) / 3)
    assert value(ties, "P_1") == 0.0


@pytest.mark.parametrize("scores", [(None, None, None), (0.1, 0.2, 0.9)])
def test_answers_are_ranked_as_answered_with_no_scores_or_with_distances(scores: tuple[float | None, ...]) -> None:
    # a, c, z are relevant and come first: a perfect list, whatever the ids or scores would say
    docs = zip(("z", "a", "c"), scores, strict=True)
    listed = [("q1", doc, place, score) for place, (doc, score) in enumerate(docs, 1)]
    assert value(run_table([*listed, ("q1", "u", 4, None)]), "map") == 1.0


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


@pytest.mark.parametrize(
    ("theirs", "own"),
    [
        ("AP", "map"),
        ("nDCG", "ndcg"),
        ("nDCG@2", "ndcg_cut_2"),
        ("P@2", "P_2"),
        ("R@3", "recall_3"),
        ("RR", "recip_rank"),
    ],
)
def test_names_of_ir_measures_mean_the_same(theirs: str, own: str) -> None:
    assert value(RUN, theirs) == value(RUN, own)


def test_recall_reciprocal_rank_and_levels_by_hand() -> None:
    assert value(RUN, "R@3") == pytest.approx(2 / 3)  # a and c of a, c, z
    assert value(RUN.with_columns(rank=5 - pl.col("rank")), "RR") == 1 / 2  # u, c, b, a
    assert value(RUN.with_columns(rank=5 - pl.col("rank")), "RR(rel=2)") == 1 / 4  # a alone has level 2
    assert value(RUN.with_columns(rank=5 - pl.col("rank")), "RR(rel=2)@3") == 0
    assert value(RUN, "P(rel=2)@2") == 0.5
    assert value(RUN, "AP(rel=2)") == 1.0


@pytest.mark.parametrize("name", ["MAP", "P_", "P_0", "map_10", "ndcg10", "ndcg_cut_"])
def test_unknown_measures_are_refused(name: str) -> None:
    with pytest.raises(PortrayalError, match="no measure"):
        quality(RUN, QRELS, (name,))


def test_a_run_lacking_a_column() -> None:
    with pytest.raises(PortrayalError, match="run lacks column 'rank'"):
        quality(RUN.drop("rank"), QRELS)

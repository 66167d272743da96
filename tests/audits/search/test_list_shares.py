"""Ranked lists of a folder: the rows of an audit in memory, counts equal and floats within 1e-12."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal import PortrayalError, list_shares
from portrayal.audits.search.measure import FACETS, measure
from portrayal.text.collections.synthetic import toy_collection
from properties import case_search

# What compares two lists of a query, or is about the ruler alone; the tests' corrections are a study's.
NOT_SUMS = {"dichotomy", "kendall_distance", "kendall_genderedness", "gsr_change"}
KEY = ["system", "measure", "group", "versus", *FACETS]
FIGURES = ["value", "low", "high", "p", "n", "n_missing", "unit", "counted", "decision", "reason"]
THIRD = {"other": ["person", "people"]}


def answers() -> pl.DataFrame:
    """Return two systems' lists of two to seven documents, one refused, and a second repeat that lacks some and is cut short."""
    collection = toy_collection()
    docs = [doc for doc, _ in collection.documents()]
    rows = [
        {"system": system, "stimulus": query, "repeat": 0, "status": "answered", "doc": docs[(step * place + rank) % len(docs)],
         "rank": rank, "score": -float(rank)}
        for system, step in (("one", 3), ("two", 5))
        for place, query in enumerate(collection.queries)
        for rank in range(1, 3 + place % 6)
    ]  # fmt: skip
    told = pl.DataFrame(rows)
    refused = (pl.col("stimulus") == "nurse") & (pl.col("rank") == 1)
    told = told.filter((pl.col("stimulus") != "nurse") | refused).with_columns(
        status=pl.when(refused).then(pl.lit("refused")).otherwise("status"),
        doc=pl.when(refused).then(None).otherwise("doc"),
    )
    again = told.filter(pl.col("system") == "two", pl.col("rank") < 4)[:30]
    return pl.concat([told, again.with_columns(repeat=pl.lit(1, pl.Int64))])


def settings(groups: int = 2) -> dict:
    study, _ = case_search.case()
    own = study.settings
    mentions = {**own.mentions, **(THIRD if groups == 3 else {})}
    return {"poles": list(own.poles), "mentions": mentions, "quality": ["map", "ndcg_cut_100", "P_10"]}


def in_memory(responses: pl.DataFrame, groups: int = 2) -> pl.DataFrame:
    study, evidence = case_search.case()
    chosen = study.settings.model_copy(update=settings(groups) | {"variants": False})
    found = measure(replace(evidence, responses=responses), chosen).results
    return found.filter(~pl.col("measure").is_in(list(NOT_SUMS)))


def write(folder: Path, table: pl.DataFrame, cuts: list[int]) -> Path:
    folder.mkdir()
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, table.height], strict=True)):
        table[start:stop].write_parquet(folder / f"{number:05}.parquet")
    return folder


def same(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert found.select(KEY).is_duplicated().sum() == 0
    columns = [name for name in FIGURES if name not in ("decision", "reason")]
    one, other = (table.select(*KEY, *columns).sort(KEY) for table in (found, expected))
    assert_frame_equal(one, other, abs_tol=1e-12, rel_tol=1e-12)


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("cuts", [[], [7, 7, 50, 93]])  # one file; several, an empty one, lists that go on in the next
@pytest.mark.parametrize("rows", [40, 1_000_000])
def test_lists_of_a_folder_are_measured_as_in_memory(tmp_path, cuts, rows, groups) -> None:
    folder = write(tmp_path / "lists", answers(), cuts)
    found = list_shares(folder, "toy", rows=rows, **settings(groups))
    expected = in_memory(answers(), groups)
    assert {"gsr", "gsr_difference", "map", "exposure", "arab", "over_representation"} <= set(found["measure"])
    assert set(found["measure"]) == set(expected["measure"])
    assert ("other" in set(found["group"])) == (groups == 3)
    same(found, expected)


def test_a_system_that_lists_an_unknown_document_is_said_to_be_unusable(tmp_path) -> None:
    table = answers().with_columns(
        doc=pl.when((pl.col("system") == "two") & (pl.col("rank") == 1)).then(pl.lit("nowhere")).otherwise("doc")
    )
    found = list_shares(write(tmp_path / "lists", table, [11]), "toy", rows=5, **settings())
    expected = in_memory(table)
    one, other = (each.filter(system="two").select("measure", "decision", "reason") for each in (found, expected))
    assert one.height and one.equals(other)
    same(found, expected)


def test_a_list_in_two_places_is_refused(tmp_path) -> None:
    table = answers()
    scattered = pl.concat([table[1:], table[:1]])
    with pytest.raises(PortrayalError, match=r"lie in two places\. Sort the table by system, repeat, stimulus"):
        list_shares(write(tmp_path / "lists", scattered, []), "toy", rows=5, **settings())


def test_a_column_that_is_missing_is_named(tmp_path) -> None:
    with pytest.raises(PortrayalError, match="lacks column 'rank'"):
        list_shares(answers().drop("rank"), "toy", **settings())


def test_a_batch_is_held_against_its_own_judgments_only(tmp_path, monkeypatch) -> None:
    """Quality of all judged queries in every batch would take the square of the batches."""
    module, looked = sys.modules["portrayal.audits.search.measures.quality"], []
    quality = module.quality
    monkeypatch.setattr(
        module, "quality", lambda run, qrels, names: looked.append(len(qrels)) or quality(run, qrels, names)
    )
    list_shares(write(tmp_path / "lists", answers(), []), "toy", rows=20, **settings())
    assert len(looked) > 3 and max(looked) < len(toy_collection().queries) / 2

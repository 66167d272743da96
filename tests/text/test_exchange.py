"""Runs and judgments for other tools, and collections of another package."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from portrayal import gsr_of_run, rank_collection
from portrayal.errors import PortrayalError
from portrayal.systems.rankers.registry import fingerprint
from portrayal.text.collections import read_collection, run_table
from portrayal.text.collections.exchange import qrels_frame, run_frame, run_mapping
from portrayal.text.collections.synthetic import toy_collection

RUN = run_table(
    [
        ("q1", "d7", 1, 0.1),  # distances: they rise
        ("q1", "d2", 2, 0.4),
        ("q2", "d1", 1, 3.0),
        ("q2", "d3", 2, 1.0),
        ("q3", "d1", 1, None),
        ("q3", "d2", 2, None),
        ("q4", "d1", 1, 2.0),
        ("q4", "d2", 2, 2.0),  # equal: another tool would order by id
    ]
)


def test_scores_fall_with_the_rank_whatever_was_answered():
    assert run_mapping(RUN.sample(fraction=1.0, shuffle=True, seed=0)) == {
        "q1": {"d7": -1.0, "d2": -2.0},
        "q2": {"d1": 3.0, "d3": 1.0},
        "q3": {"d1": -1.0, "d2": -2.0},
        "q4": {"d1": -1.0, "d2": -2.0},
    }


def test_tables_have_the_columns_that_ir_measures_reads():
    frame = run_frame(RUN)
    assert list(frame.columns) == ["query_id", "doc_id", "score"]
    assert frame.iloc[0].tolist() == ["q1", "d7", -1.0]
    judged = qrels_frame({"q1": {"d7": 2, "d2": 0}})
    assert judged.to_dict("list") == {"query_id": ["q1", "q1"], "doc_id": ["d7", "d2"], "relevance": [2, 0]}


class Item(SimpleNamespace):
    def default_text(self):
        return self.text


@pytest.fixture
def packaged(monkeypatch):
    """A stand-in for ir_datasets that holds the toy collection as `made/up`, and one without documents."""
    toy = toy_collection()
    made = SimpleNamespace(
        has_docs=lambda: True,
        has_queries=lambda: True,
        has_qrels=lambda: True,
        docs_iter=lambda: (Item(doc_id=name, text=text) for name, text in toy.documents()),
        queries_iter=lambda: (Item(query_id=name, text=text) for name, text in toy.queries.items()),
        qrels_iter=lambda: (
            SimpleNamespace(query_id=query, doc_id=doc, relevance=level)
            for query, levels in toy.qrels.items()
            for doc, level in levels.items()
        ),
    )
    module = ModuleType("ir_datasets")
    module.load = {"made/up": made, "no/docs": SimpleNamespace(has_docs=lambda: False)}.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    return toy


def test_a_collection_of_ir_datasets_is_read_ranked_and_measured(packaged, tmp_path):
    collection = read_collection("ir_datasets:made/up")
    assert list(collection.documents()) == list(packaged.documents())
    assert (collection.queries, collection.qrels) == (packaged.queries, packaged.qrels)
    runs = [rank_collection(name, "bm25", out=tmp_path / name[-3:])[0] for name in ("ir_datasets:made/up", "toy")]
    found, expected = gsr_of_run("ir_datasets:made/up", runs[0]), gsr_of_run("toy", runs[1])
    assert found == expected
    assert fingerprint(tmp_path) != fingerprint("ir_datasets:made/up") != fingerprint("ir_datasets:other/up")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ir_datasets:made/down", "ir_datasets has no 'made/down'. See https://ir-datasets.com for its ids."),
        ("ir_datasets:no/docs", "'no/docs' of ir_datasets has no documents"),
    ],
)
def test_an_id_it_does_not_have_is_one_clear_line(packaged, name, says):
    with pytest.raises(PortrayalError, match=says):
        read_collection(name)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(PortrayalError, match=r"pip install 'portrayal\[ir_datasets\]'"):
        read_collection("ir_datasets:made/up")

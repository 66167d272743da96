"""Collections of another package, ir_datasets."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from portrayal import gsr_of_run, rank_collection
from portrayal.errors import PortrayalError
from portrayal.text.collections import read_collection
from portrayal.text.collections.synthetic import toy_collection
from portrayal_rankers.registry import fingerprint


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
    with pytest.raises(PortrayalError, match=r"pip install 'portrayal-audit\[ir_datasets\]'"):
        read_collection("ir_datasets:made/up")

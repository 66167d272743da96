"""The inverted index: against a naive count, on disk, and its faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.errors import PortrayalError
from portrayal.text.collections import numbering
from portrayal.text.words.tokens import stop_words, words
from portrayal_rankers.index import Index, _block, build_index, load_index, save_index, tie_order

TEXTS = ["the nurse helps a nurse", "", "electrician, nurse and THE doctor", "of the and"]


def counted(index: Index) -> list[Counter]:
    dense = index.matrix.toarray()
    return [Counter({index.words[word]: int(row[word]) for word in np.flatnonzero(row)}) for row in dense]


def naive(texts: list[str], stop: frozenset[str]) -> list[Counter]:
    return [Counter(word for word in words(text) if word not in stop) for text in texts]


def named(texts: list[str]) -> list[tuple[str, str]]:
    return [(f"d{number}", text) for number, text in enumerate(texts)]


def test_counts_lengths_and_frequencies() -> None:
    index = build_index(named(TEXTS))
    assert counted(index) == naive(TEXTS, stop_words())
    assert index.lengths.tolist() == [3, 0, 3, 0]
    nurse = index.numbers["nurse"]
    assert (index.frequencies[nurse], index.totals[nurse]) == (2, 3)
    assert "the" not in index.numbers


def test_a_query_counts_known_words_only() -> None:
    index = build_index(named(TEXTS))
    ids, counts = index.encode("the nurse NURSE plumber doctor")
    assert {index.words[word]: int(count) for word, count in zip(ids, counts, strict=True)} == {"nurse": 2, "doctor": 1}


@settings(max_examples=60)
@given(st.lists(st.text(alphabet="ab c.é", max_size=12), min_size=1, max_size=9), st.integers(1, 4))
def test_any_batch_size_gives_the_naive_counts(texts: list[str], batch: int) -> None:
    before = numbering.BATCH
    try:
        numbering.BATCH = batch
        index = build_index(named(texts), ())
    finally:
        numbering.BATCH = before
    assert counted(index) == naive(texts, frozenset())
    for word in range(len(index.words)):  # postings ascend within a word
        part = index.postings[index.borders[word] : index.borders[word + 1]]
        assert (np.diff(part) > 0).all()


@pytest.mark.parametrize("largest", [9, 2**31 - 1])
def test_a_block_counts_words_of_small_and_large_numbers(largest: int) -> None:
    ids = np.array([3, largest, 3, 0, largest, 3], np.int32)
    block = _block(ids, np.array([0, 3, 3, 6]), 50)
    assert block.words.tolist() == [0, 3, largest]
    assert block.sizes.tolist() == [1, 2, 2]
    assert block.postings.tolist() == [52, 50, 52, 50, 52]
    assert block.counts.tolist() == [1, 2, 1, 1, 1]


def test_a_saved_index_is_mapped_and_the_same(tmp_path: Path) -> None:
    index = build_index(named(TEXTS))
    save_index(index, tmp_path / "index")
    opened = load_index(tmp_path / "index")
    assert isinstance(opened.postings, np.memmap)
    assert counted(opened) == counted(index)
    assert (opened.documents, opened.stop) == (index.documents, index.stop)


def test_a_torn_or_foreign_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match="holds no whole index"):
        load_index(tmp_path)
    save_index(build_index(named(TEXTS)), tmp_path)
    (tmp_path / "index.json").write_text('{"form": 0, "stop": []}')
    with pytest.raises(PortrayalError, match="an index of form 0. Expected 1"):
        load_index(tmp_path)


def test_ids_twice_and_no_documents_are_refused() -> None:
    with pytest.raises(PortrayalError, match="document 'd0' is there twice"):
        build_index([("d0", "a"), ("d0", "b")])
    with pytest.raises(PortrayalError, match="no documents to index"):
        build_index([])


def test_a_collection_of_empty_documents_can_be_indexed() -> None:
    index = build_index([("a", ""), ("b", " .")], ())
    assert index.matrix.shape == (2, 0)
    assert index.lengths.tolist() == [0, 0]


def test_ties_are_ordered_by_id_descending() -> None:
    assert np.argsort(tie_order(["b", "10", "9", "a"])).tolist() == [0, 3, 2, 1]

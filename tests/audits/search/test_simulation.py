"""Simulated audits: what is put down as tables is what the files and the ledger give."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from portrayal.audits.search.world import SHAPES, make_phantoms, put_down, read_back
from portrayal.flow import audit_evidence


@pytest.mark.parametrize("shape", SHAPES)
def test_evidence_is_that_of_files_and_ledger(shape):
    phantoms = make_phantoms(shape, 1, 0.1)
    (_, read), (_, put) = read_back(phantoms), put_down(phantoms)
    assert_frame_equal(put.stimuli, read.stimuli)
    assert_frame_equal(put.responses, read.responses)
    assert put.inputs.keys() == read.inputs.keys()
    for name, held in read.inputs.items():
        if isinstance(held, pl.DataFrame):
            assert_frame_equal(put.inputs[name], held)
        else:
            assert put.inputs[name] == held
    assert put.seed == read.seed


def test_results_and_sentences_are_the_same():
    phantoms = make_phantoms("small", 1, 0.3)
    (results, said), (expected, printed) = (audit_evidence(*way(phantoms)) for way in (put_down, read_back))
    assert_frame_equal(results, expected)
    assert [finding.sentence for finding in said] == [finding.sentence for finding in printed]

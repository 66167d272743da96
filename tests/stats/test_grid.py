"""Whole audits of many people, repeats and refusals end in time and in little memory (docs/decisions.md has the whole grid)."""

from __future__ import annotations

import pytest
from benchmarks.grid import Cell, measure


@pytest.mark.parametrize(
    ("stem", "people"),
    [("contexts", 10), ("contexts", 100), ("counterfactuals", 10), ("associations", 1000), ("search", 1000), ("captions", 100)],
)  # fmt: skip
def test_repeats_with_refusals_are_measured_in_a_minute_and_half_a_gigabyte(stem: str, people: int) -> None:
    cell = measure(Cell(stem, people, 5, 0.3))
    assert cell.rows > 10
    assert cell.seconds < 60
    assert cell.megabytes <= 500

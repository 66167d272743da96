"""Tests keep their size, and intervals their coverage, in the shapes that audits have (docs/tests.md)."""

from __future__ import annotations

import numpy as np
import pytest

from stats.shapes import CELLS, PAGE, Cell, measure

RUNS = 300


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.test}: {cell.shape}")
def test_no_cell_is_liberal(cell: Cell) -> None:
    found = measure(cell, RUNS)
    assert found.get("size", 0.0) <= 0.1  # 30 of 300; at 5% in 1 of 5,000, at 5.5% in 1 of 1,500
    if not np.isnan(found.get("coverage", np.nan)):
        given = RUNS * (1 - found["untested"])
        assert found["coverage"] >= 0.9 - 2.5 * np.sqrt(0.09 / given)


def test_the_page_has_every_cell_and_none_over_the_limit() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    shown = {(row[0].removeprefix("| "), row[1]): row[2] for row in rows}
    assert set(shown) == {(cell.test, cell.shape) for cell in CELLS}
    assert all(float(size.removesuffix("%")) <= 6.9 for size in shown.values() if size.strip())

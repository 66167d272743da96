"""Specification curves: by hand."""

from __future__ import annotations

import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.stats.specification import specifications, support

TABLE = pl.DataFrame(
    {
        "system": ["a", "a", "a", "b"],
        "value": [0.5, None, 0.1, 0.9],
        "supports": [True, None, False, True],
    }
)


def test_every_combination_once() -> None:
    made = specifications({"prompt": ["p", "q"], "ddof": [1, 0], "subset": ["all"]})
    assert len(made) == 4
    assert made[1] == {"prompt": "p", "ddof": 0, "subset": "all"}


def test_share_of_support_by_claim() -> None:
    shares = support(TABLE, ["system"])
    # a: one of three supports, and the one without an estimate does not; b: one of one.
    assert shares["share"].to_list() == [pytest.approx(1 / 3), 1.0]
    assert shares["specifications"].to_list() == [3, 1]
    assert shares["median"].to_list() == [pytest.approx(0.3), 0.9]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(PortrayalError, match="lacks column 'supports'"):
        support(pl.DataFrame({"value": [1.0]}))

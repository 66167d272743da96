"""An estimate as a row: its own columns, further ones, and null for what is not a number."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import clustered_share
from portrayal.tables import finite, results


def test_a_row_has_what_the_estimate_knows_and_any_further_column() -> None:
    found = Estimate(0.25, 0.1, 0.5, 0.04, 12, 3, "share", "as counted")
    assert found.row("recognised", system="a", place="kitchen") == {
        "measure": "recognised", "value": 0.25, "low": 0.1, "high": 0.5, "p": 0.04, "n": 12, "n_missing": 3,
        "unit": "share", "note": "as counted", "system": "a", "place": "kitchen",
        "counted": None, "null": None, "p_floor": None, "decision": None, "reason": None,
        "tested_by": None, "n_first": None, "n_second": None, "base_share": None, "value_if_all": None, "value_if_none": None,
    }  # fmt: skip


def test_columns_given_to_the_row_stand_in_for_the_estimates_own() -> None:
    row = Estimate(0.25, n=12, note="own").row("m", n=4, n_missing=None, note="other", p=np.float64("nan"))
    assert (row["n"], row["n_missing"], row["note"], row["p"]) == (4, None, "other", None)


def test_what_is_not_a_number_is_null_and_an_infinite_one_too() -> None:
    row = Estimate(np.inf, np.nan, np.float64(0.5)).row("m")
    assert (row["value"], row["low"], row["high"], row["p"]) == (None, None, 0.5, None)
    assert (finite("nan"), finite(3), finite(None), finite(-np.inf)) == ("nan", 3, None, None)


def test_an_estimate_unpacks_and_changes_its_scale() -> None:
    value, low, high = Estimate(0.25, 0.1, 0.5, 0.04, 12).map(lambda end: 100 * end)
    assert (value, low, high) == (25, 10, 50)
    kept = Estimate(0.25, 0.1, 0.5, 0.04, 12).map(lambda end: end - 1)
    assert (kept.p, kept.n) == (0.04, 12)


def test_what_only_a_kind_of_estimate_knows_stays_out_of_its_row() -> None:
    row = clustered_share(np.array([1, 0]), np.array([1, 1])).row("share")
    assert "influence" not in row
    assert (row["value"], row["n"]) == (0.5, 2)


def test_columns_of_all_rows_give_way_to_a_rows_own() -> None:
    rows = [Estimate(1.0, n=1).row("m", versus="b"), {"measure": "k"}]
    table = results(rows, audit="search", versus="")
    assert table.select("audit", "measure", "versus").rows() == [("search", "m", "b"), ("search", "k", "")]
    with pytest.raises(PortrayalError, match="no column 'place'"):
        results([Estimate(1.0, n=1).row("m", place="kitchen")])

"""Specification curves: by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.stats.decisions.specification import curve_test, specifications, support

TABLE = pl.DataFrame(
    {"system": ["a", "a", "a", "b"], "value": [0.5, None, 0.1, 0.9], "supports": [True, None, False, True]}
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


def test_a_specification_of_the_other_sign_does_not_support_the_claim() -> None:
    # 99 rearrangements between -1 and 1: estimates of 2 and -2 are each reached by none, so p = 1 / 100 for both.
    rearranged = np.tile(np.linspace(-1, 1, 99), (2, 1))
    found = curve_test(np.array([2.0, -2.0]), rearranged, "two-sided", sign=1.0)
    assert found.p.tolist() == [0.01, 0.01]
    assert found.supports.tolist() == [True, False]
    # Half up and half down is no effect: the median is 0, which every rearrangement reaches.
    assert (found.median, found.joint_p) == (0.0, 1.0)


def test_the_joint_test_counts_rearrangements_of_all_specifications_together() -> None:
    # Three specifications, all at 3; of four rearrangements one has a median of 3 or more.
    rearranged = np.array([[3.0, 0.0, 0.0, 5.0], [3.0, 1.0, 0.0, 0.0], [4.0, 0.0, 2.0, 0.0]])
    found = curve_test(np.array([3.0, 3.0, 3.0]), rearranged, "greater")
    assert found.joint_p == (1 + 1) / (4 + 1)
    assert found.p.tolist() == [(2 + 1) / 5, (1 + 1) / 5, (1 + 1) / 5]
    assert not found.supports.any()


def test_one_sided_curves_look_one_way() -> None:
    rearranged = np.tile(np.linspace(-1, 1, 99), (1, 1))
    assert curve_test(np.array([-2.0]), rearranged, "greater").joint_p == 1.0
    assert curve_test(np.array([-2.0]), rearranged, "less", sign=-1.0).supports.tolist() == [True]

"""Corrections for many tests: by hand, against statsmodels, and their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from portrayal.errors import PortrayalError
from portrayal.stats.decisions.multiplicity import METHODS, adjust

NAMES = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    # Sorted .01, .03, .04 times 3, 2, 1 is .03, .06, .04, and never falls: .03, .06, .06.
    assert adjust([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])


def test_benjamini_hochberg_by_hand() -> None:
    # Sorted .01, .03, .04 times 3/1, 3/2, 3/3 is .03, .045, .04, stepping up from the largest: .03, .04, .04.
    assert adjust([0.01, 0.04, 0.03], "benjamini-hochberg").tolist() == pytest.approx([0.03, 0.04, 0.04])


@given(p_values, st.sampled_from(sorted(NAMES)))
def test_equals_statsmodels(p: list[float], method: str) -> None:
    theirs = multipletests(p, method=NAMES[method])[1]
    assert adjust(p, method).tolist() == pytest.approx(theirs.tolist())


@given(p_values, st.sampled_from(sorted(METHODS)), st.randoms())
def test_order_does_not_matter_and_p_never_falls(p: list[float], method: str, random) -> None:
    order = list(range(len(p)))
    random.shuffle(order)
    adjusted = adjust(p, method)
    assert adjust([p[i] for i in order], method).tolist() == pytest.approx([adjusted[i] for i in order])
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(adjusted <= 1)


def test_a_missing_p_is_no_test() -> None:
    adjusted = adjust([0.01, np.nan, 0.02], "bonferroni")
    assert adjusted[0] == pytest.approx(0.02)
    assert np.isnan(adjusted[1])


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(PortrayalError, match="no correction 'sidak'"):
        adjust([0.1], "sidak")

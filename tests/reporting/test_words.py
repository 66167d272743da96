from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.text import formatting as words


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.4237, "0.42"),
        (-12.345, "−12.3"),  # a true minus sign
        (0.01234, "0.012"),
        (1234.5, "1,234"),
        (0.0, "0"),
        (-0.0, "0"),
        (2.0, "2"),
        (12345678, "12,345,678"),
        (0.0000042, "4.2 × 10⁻⁶"),
        (-0.0000042, "−4.2 × 10⁻⁶"),
        (3.6e-17, "0"),  # what 0.1 + 0.2 - 0.3 and the like leave
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "∞"),  # odds that no answer bounds are not a missing number
        (-math.inf, "−∞"),
    ],
)
def test_numbers(value, written):
    assert words.number(value) == written


@pytest.mark.parametrize(
    ("triple", "written"),
    [
        # The width, 0.2224, has its second significant digit in the second decimal.
        ((0.4237, 0.3125, 0.5349), ("0.42", "[0.31, 0.53]")),
        # The width, 0.0033, has it in the fourth.
        ((0.0328, 0.0312, 0.0345), ("0.0328", "[0.0312, 0.0345]")),
        # A wide interval needs no decimals; one of width 1.2 keeps the usual two.
        ((153.2, 101.0, 204.0), ("153", "[101, 204]")),
        ((1.48, 0.6, 1.8), ("1.48", "[0.60, 1.80]")),
        ((0.5, None, None), ("0.50", "")),
        ((0.5, None, 0.9), ("0.50", "[–, 0.90]")),
        ((None, None, None), ("–", "")),
        ((0.31, -math.inf, 0.5), ("0.31", "[−∞, 0.50]")),
        ((math.inf, 0.5, math.inf), ("∞", "[0.50, ∞]")),
        ((math.nan, math.nan, math.nan), ("–", "")),
        ((0.0, 0.0, 0.2775), ("0.00", "[0.00, 0.28]")),
        ((0.0, 5.6e-17, 0.2775), ("0.00", "[0.00, 0.28]")),
    ],
)
def test_an_interval_sets_the_decimals(triple, written):
    assert (words.estimate(*triple), words.interval(*triple)) == written


@pytest.mark.parametrize(
    ("p", "written"),
    [
        (0.0004, "< .001"),
        (0.0, "< .001"),
        (0.001, ".001"),
        (0.0316, ".032"),
        (0.05, ".050"),
        (0.9996, "> .999"),
        (1.0, "1"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_p_values(p, written):
    assert words.p_value(p) == written


def test_a_share_is_never_rounded_to_none_or_all():
    assert words.share(1, 1000) == "under 1%"
    assert words.share(999, 1000) == "over 99%"
    assert words.share(0, 10) == "0%"
    assert words.share(10, 10) == "100%"
    assert words.share(0, 0) == "–"


@given(st.text())
def test_visible_text_is_always_well_formed_xml(text):
    shown = words.visible(text)
    # Line ends are normalised by every XML reader; nothing else may change on the way.
    assert ElementTree.fromstring(f"<t>{escape(shown)}</t>").text in (shown, None)
    assert len(shown.encode("utf-8")) >= len(text)


def test_what_cannot_be_seen_is_shown():
    assert words.visible("a\x00b\x1b[31m") == "a␀b␛[31m"
    assert words.visible("\u202egnp.exe") == "\ufffdgnp.exe"
    assert words.visible("\ud800") == "\ufffd"
    assert words.visible("नमस्ते 👩🏽‍🚒 ñ") == "नमस्ते 👩🏽‍🚒 ñ"


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_can_be_written(value):
    assert words.number(value)
    assert words.estimate(value, value, value)


def test_cells_write_what_tables_hold():
    assert words.cell(True) == "yes"
    assert words.cell([1, None, "a\x00"]) == "1, –, a␀"
    assert words.cell({"batch": 32, "normalise": False}) == "batch = 32, normalise = no"

"""The one rule of decision, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from portrayal.stats.decisions.decision import (
    CONSTANT,
    DESCRIBED,
    FOUND,
    NO_ANSWERS,
    NO_INTERVAL,
    NOT_FOUND,
    NOT_MEASURABLE,
    NOT_TESTED,
    OUTSIDE,
    decide,
)
from portrayal.tables import results

CLEAR = {"system": "a", "measure": "gap", "value": 0.3, "low": 0.1, "high": 0.5, "p": 0.001, "n": 40}


def decided(*rows: dict, measures=("gap",), **further) -> pl.DataFrame:
    return decide(results([{**CLEAR, **row} for row in rows], facets=(), audit="contexts"), measures, **further)


def verdict(row: dict, **further) -> tuple[str, str | None]:
    return decided(row, **further).select("decision", "reason").row(0)


def test_found_needs_the_family_the_corrected_p_and_an_interval() -> None:
    assert verdict({}) == (FOUND, None)
    assert verdict({"measure": "other"}) == (NOT_TESTED, OUTSIDE)
    assert verdict({"family": "exploratory"}) == (NOT_TESTED, OUTSIDE)
    assert verdict({"p": 0.06}) == (NOT_FOUND, None)
    assert verdict({"low": None}) == (NOT_TESTED, NO_INTERVAL)
    assert verdict({"measure": "other", "p": None}) == (NOT_TESTED, DESCRIBED)


def test_the_null_is_where_the_row_says() -> None:
    assert verdict({"value": 1.3, "low": 0.9, "high": 1.9, "null": 1.0, "p": 0.2})[0] == NOT_FOUND
    assert verdict({"value": 1.3, "low": 1.1, "high": 1.9, "null": 1.0})[0] == FOUND
    assert verdict({"value": 0.003, "low": 0.001, "high": 0.004, "null": 0.005, "p": 0.0001})[0] == FOUND  # below it


def test_the_family_is_that_of_one_system_and_company_changes_nothing() -> None:
    # Holm over four: .01 x 4 = .04 is found, .02 x 3 = .06 is not, nor is what follows.
    alone = [{"p": 0.01}, {"p": 0.02}, {"p": 0.03}, {"p": 0.04}]
    table = decided(*alone)
    assert table["p_adjusted"].round(10).to_list() == [0.04, 0.06, 0.06, 0.06]
    assert table["decision"].to_list() == [FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND]
    assert table["family"].to_list() == ["confirmatory"] * 4
    assert table["reason"].to_list() == [None, *["not after correction for 4 tests"] * 3]
    company = [{"p": 0.5, "system": f"system {number}"} for number in range(5) for _ in range(4)]
    assert decided(*company, *alone)[20:].equals(table)
    pooled = decided(*alone, *company, families=pl.Series(["study"] * 24))
    assert pooled["p_adjusted"][0] == pytest.approx(0.24)


def test_an_interval_says_of_the_null_what_p_says_and_stays_inside_what_is_possible() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(300):
        value, half, p = rng.uniform(-1, 1), rng.uniform(0, 1.5), rng.choice([1e-9, 0.01, 0.0499, 0.05, 0.06, 0.5, 1])
        unit = str(rng.choice(["points", "share", "d"]))
        null = 0.05 if unit == "share" else 0.0
        value = abs(value) if unit == "share" else value
        rows.append({"value": value, "low": value - half, "high": value + half, "p": p, "unit": unit, "null": null})
    table = decided(*rows)
    clear = (table["low"] > table["null"]) | (table["high"] < table["null"])
    assert (clear == (table["p"] < 0.05)).all()
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()
    for unit, least in (("points", -1), ("share", 0)):
        mine = table.filter(unit=unit)
        assert mine["low"].min() >= least and mine["high"].max() <= 1


@pytest.mark.parametrize(
    ("value", "low", "high", "p"),
    [(-0.25, -0.25, -0.25, 1.0), (0.25, 0.25, 0.25, 0.001), (0.25, 0.25, 0.8, 0.03), (-0.25, -0.25, 0.1, 0.4)],
)
def test_an_interval_begins_and_ends_beyond_its_own_estimate(value: float, low: float, high: float, p: float) -> None:
    # Where all units are alike a spread is 0: -0.25 was printed with an interval from -0.25 to 0.24.
    row = decided({"value": value, "low": low, "high": high, "p": p, "unit": "points"}).row(0, named=True)
    assert -1 <= row["low"] < value < row["high"] <= 1
    assert (row["low"] > 0 or row["high"] < 0) == (p < 0.05)
    bound = decided({"value": 1.0, "low": 1.0, "high": 1.0, "p": 0.001, "unit": "points"}).row(0, named=True)
    assert (bound["low"], bound["high"]) == (1.0, 1.0)


def test_an_end_that_contradicts_its_p_goes_beyond_a_difference_of_nothing_and_to_a_level_that_one_side_was_tested_against() -> (
    None
):
    difference = decided({"value": 0.136, "low": 0.01, "high": 0.27, "p": 0.89, "unit": "points"}).row(0, named=True)
    assert difference["low"] < -0.1  # p = .89 is far from the level, and so is the end from 0
    level = decided({"value": 0.0, "low": 0.0, "high": 0.05, "p": 1.0, "unit": "share", "null": 0.2}).row(0, named=True)
    assert level["high"] == 0.2


@pytest.mark.parametrize("people", [7, 10, 24])
def test_the_interval_of_flipped_people_holds_what_the_flips_would_not_reject(people: int) -> None:
    rng = np.random.default_rng(people)
    values = rng.normal(0.4, 1, people).round(2)

    def row(shift: float) -> dict:
        apart = pl.DataFrame(
            {"row": [0] * people, "unit": [f"{n:02}" for n in range(people)], "difference": values - shift}
        )
        mean = float(values.mean() - shift)
        return decided({"value": mean, "low": mean, "high": mean, "unit": ""}, differences=apart).row(0, named=True)

    ends = row(0.0)["low"], row(0.0)["high"]
    for end, outwards in zip(ends, (-1, 1), strict=True):
        assert row(end + outwards * 1e-6)["p"] < 0.05 <= row(end - outwards * 1e-6)["p"]
    again = decided({"value": 0.5, "low": 0.1, "high": 0.9, "p": 0.5})  # of another quantity than p's: no contradiction
    assert again["low"][0] < 0 < again["high"][0]


def test_a_constant_is_not_tested_though_rounding_gave_it_a_p() -> None:
    rounding = {"value": 2e-17, "low": 1e-17, "high": 3e-17, "p": 0.0023}
    assert verdict(rounding) == (NOT_TESTED, CONSTANT)
    # It is not counted in the family either.
    assert decided(rounding, {"p": 0.04})["p_adjusted"].to_list() == [None, 0.04]


def test_no_answers_cannot_be_measured_and_what_a_measure_says_beforehand_holds() -> None:
    assert verdict({"value": None, "p": None, "n": 0}) == (NOT_MEASURABLE, NO_ANSWERS)
    assert verdict({"value": None, "p": None, "n": 2, "note": "two people"}) == (NOT_TESTED, "two people")
    failed = {"decision": NOT_MEASURABLE, "reason": "the change of faces failed its check"}
    assert verdict(failed) == (NOT_MEASURABLE, "the change of faces failed its check")


def test_a_silent_system_has_nothing_found_and_counts_for_nothing() -> None:
    table = decided({"p": 0.04}, {"system": "dead"}, silent={"dead": "it answered none of 9 questions"})
    assert table["decision"].to_list() == [FOUND, NOT_MEASURABLE]
    assert table["reason"].to_list() == [None, "it answered none of 9 questions"]


def test_a_test_that_could_never_reach_the_level_is_not_tested_and_leaves_the_family() -> None:
    # Floor .03: with two such tests the correction needs .025, so neither could be found. Alone one could.
    pair = decided({"p": 0.03, "p_floor": 0.03}, {"p": 0.03, "p_floor": 0.03})
    assert pair["decision"].to_list() == [NOT_TESTED] * 2
    assert pair["reason"][0] == "so few units that the smallest p possible is .030, too large for the correction"
    assert verdict({"p": 0.03, "p_floor": 0.03})[0] == FOUND
    # Tarone: the one that could never be found does not count against the other.
    mixed = decided({"p": 0.04}, {"p": 0.2, "p_floor": 0.2})
    assert mixed["decision"].to_list() == [FOUND, NOT_TESTED]
    assert mixed["p_adjusted"].to_list() == [0.04, None]


def test_rows_of_the_same_people_are_flipped_together() -> None:
    people = [str(person) for person in range(8)]
    differences = pl.concat(
        pl.DataFrame({"row": [row] * 8, "unit": people, "difference": values})
        for row, values in enumerate(([0.3] * 8, [0.1, -0.1] * 4))  # flipped, the second reaches the first's statistic
    )
    table = decided({"p": 0.5}, {"value": 0.0, "low": -0.1, "high": 0.1}, differences=differences)
    assert table["p"][0] == 2 / 256
    assert table["decision"].to_list() == [FOUND, NOT_FOUND]
    # Beside two tests by Holm each part has the level in proportion to its tests: half of it here.
    beside = decided(
        {}, {"p": 0.004}, {"p": 0.5}, {"p": 0.5}, differences=differences.with_columns(row=pl.col("row") * 2)
    )
    assert beside["p_adjusted"][0] == pytest.approx(
        2 * 4 / 256
    )  # two patterns each of the two columns, all of one sign
    assert beside["p_adjusted"][1] == pytest.approx(2 * 2 * 0.004)


def test_people_in_whom_nothing_differs_are_not_tested() -> None:
    differences = pl.DataFrame({"row": [0] * 4, "unit": list("abcd"), "difference": [0.0] * 4})
    assert verdict({"value": 0.0, "low": -0.4, "high": 0.4}, differences=differences) == (NOT_TESTED, CONSTANT)


def test_benjamini_hochberg_and_none_are_kept() -> None:
    assert decided({"p": 0.03}, {"p": 0.04}, method="benjamini-hochberg")["p_adjusted"].to_list() == [0.04, 0.04]
    assert decided({"p": 0.03}, {"p": 0.04}, method="none")["p_adjusted"].to_list() == [0.03, 0.04]

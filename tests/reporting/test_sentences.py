"""Sentences from decided rows: each decision has its form, and numbers have one style."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portrayal.reporting.words.sentences import Claim, counted, figures, say, written
from portrayal.stats.decisions.decision import decide
from portrayal.study.audit import Measured
from portrayal.tables import results

CLAIM = Claim(
    positive="leaves out {group} people more often than {versus} people",
    negative="leaves out {versus} people more often than {group} people",
    asks="leaves out people of one group more often than of another",
    where="{place}",
)
ROW = {
    "system": "A", "measure": "gap", "group": "woman", "versus": "man", "place": "the kitchen", "unit": "points",
    "value": 0.12, "low": 0.08, "high": 0.16, "p": 0.001, "n": 40, "counted": "people", "n_missing": 0,
}  # fmt: skip


def said(*rows: dict, claim: Claim = CLAIM, **more) -> list[str]:
    table = results([{**ROW, **row} for row in rows], facets=("place",), audit="captions")
    measured = Measured(decide(table, ["gap"]), **more)
    return [finding.sentence for finding in say(measured, {"gap": claim})]


def test_what_was_found_says_who_is_harmed_and_by_how_much() -> None:
    assert said({}) == [
        "A leaves out woman people more often than man people: 12.0 percentage points"
        " (95% interval 8.0 to 16.0, 40 people, adjusted p = .001)."
    ]


def test_the_other_sign_turns_the_sentence_round() -> None:
    found = said({"value": -0.12, "low": -0.16, "high": -0.08})
    assert found[0].startswith("A leaves out man people more often than woman people: −12.0 percentage points")


def test_a_turned_claim_is_told_from_the_other_side_with_the_other_signs() -> None:
    turned = replace(CLAIM, negative=None, turned=True)
    assert said({"value": -0.12, "low": -0.17, "high": -0.08}, claim=turned) == [
        "A leaves out man people more often than woman people: 12.0 percentage points"
        " (95% interval 8.0 to 17.0, 40 people, adjusted p = .001)."
    ]


def test_a_single_row_is_named_where_the_claim_asks_for_it() -> None:
    for row in ({"low": -0.08, "p": 0.3}, {"value": 0.0, "low": 0.0, "high": 0.0}):
        (plain,), (named,) = said(row), said(row, claim=replace(CLAIM, always_where=True))
        assert plain.replace("than of another:", "than of another (the kitchen):") == named


def test_what_was_not_found_says_what_the_interval_leaves_out() -> None:
    assert said({"low": -0.08, "high": 0.32, "p": 0.3}) == [
        "It was not found that A leaves out people of one group more often than of another: 12 percentage points"
        " (95% interval −8 to 32, 40 people, adjusted p = .300); the interval leaves out effects beyond"
        " 32 percentage points."
    ]


def test_several_that_were_not_found_share_a_sentence_that_names_the_nearest() -> None:
    rows = [{"p": p, "low": -0.1, "place": place} for p, place in ((0.5, "a bar"), (0.2, "a gym"), (0.9, "a shop"))]
    (sentence,) = said(*rows)
    assert "in 3 tests (a bar, a gym and a shop). The nearest in a gym: 12 percentage points" in sentence


def test_several_rows_may_be_asked_in_other_words_than_one() -> None:
    claim = replace(CLAIM, asks="leaves out {group} people in {place}", several="leaves out people")
    rows = [{**ROW, "p": p, "low": -0.1, "place": place} for p, place in ((0.5, "a bar"), (0.2, "a gym"))]
    for kept, begin in (
        (rows, "A leaves out people in 2 tests (a bar and a gym). The nearest in a gym: "),
        (rows[:1], "A leaves out woman people in a bar: "),
    ):
        table = decide(results(kept, facets=("place",), audit="captions"), ["gap"])
        (finding,) = say(Measured(table), {"gap": claim})
        assert finding.sentence.startswith(f"It was not found that {begin}")


def test_a_row_that_says_so_is_one_sided_in_words() -> None:
    assert figures({**ROW, "p_adjusted": 0.003, "sided": "one-sided"}).endswith("one-sided adjusted p = .003)")
    assert figures({**ROW, "p_adjusted": 0.003, "sided": None}).endswith("40 people, adjusted p = .003)")


def test_what_was_not_tested_or_cannot_be_measured_says_why() -> None:
    assert said({"decision": "not tested", "reason": "only one person was shown"}) == [
        "It was not tested whether A leaves out people of one group more often than of another: only one person was shown."
    ]
    assert said({"decision": "not measurable", "reason": "the check of the faces failed"}) == [
        "It cannot be said whether A leaves out people of one group more often than of another: the check of the faces failed."
    ]


def test_exploratory_rows_get_no_sentence() -> None:
    assert said({"family": "exploratory"}) == []


def test_a_phantom_is_said_to_be_simulated() -> None:
    assert said({}, shown_names={"A": "A (simulated)"})[0].startswith("A (simulated) leaves out")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"value": 0.5, "low": 0.2, "high": 0.8, "unit": "share"}, ("50%", "20 to 80%")),
        ({"value": 0.513, "low": 0.49, "high": 0.53, "unit": "share"}, ("51.3%", "49.0 to 53.0%")),
        ({"value": -0.513, "low": -0.9, "high": 0.1, "unit": "points"}, ("−51 percentage points", "−90 to 10")),
        ({"value": -1.25, "low": -1.9, "high": -0.6, "unit": "d"}, ("−1.25", "−1.90 to −0.60")),
        ({"value": 0.2, "low": None, "high": None, "unit": "d"}, ("0.20", "")),
    ],
)
def test_one_style_for_numbers(row: dict, expected: tuple[str, str]) -> None:
    assert written(row) == expected


def test_singular_and_plural() -> None:
    assert counted({"n": 1, "counted": "people"}) == "1 person"
    assert counted({"n": 1200, "counted": "queries"}) == "1,200 queries"
    assert counted({"n": 1, "counted": "words"}) == "1 word"
    assert counted({"n": 3, "counted": None}) == "n = 3"


def test_missing_answers_stand_beside_the_number() -> None:
    assert "40 people, 3 missing" in figures({**ROW, "n_missing": 3, "p_adjusted": None})


def test_a_finding_says_what_the_missing_answers_could_make_of_it() -> None:
    gone = {"value_if_all": -0.05, "value_if_none": -0.02, "n_missing": 20}
    (lost,), (half,), (kept,) = (
        said(gone),
        said({**gone, "value_if_none": 0.02}),
        said({**gone, "value_if_all": 0.05, "value_if_none": 0.02}),
    )
    assert lost.endswith(
        " Had all without an answer done so, it would be −5 percentage points, had none −2 percentage points. It does not last"
        " whatever they would have answered."
    )
    assert half.endswith("had none 2 percentage points.")
    assert kept.endswith("adjusted p = .001).")
    turned = replace(CLAIM, negative=None, turned=True)
    assert (
        "it would be −5"
        in said({**gone, "value": -0.12, "low": -0.17, "high": -0.08, "value_if_all": 0.05}, claim=turned)[0]
    )

"""Answers to research questions: one for each question and system, from families of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from portrayal.reporting.words.conclusions import NO_TEST, SILENT, Conclusion, conclude
from portrayal.reporting.words.sentences import Claim, say
from portrayal.reporting.words.sides import told_once
from portrayal.run.measurement import families_of
from portrayal.run.silence import DIFFERENCE
from portrayal.stats.decisions.decision import decide
from portrayal.study.audit import Audit, Measured
from portrayal.study.registry import AUDITS, EXPERIMENTS, get_audit
from portrayal.study.research_questions import ResearchQuestion
from portrayal.study.study import Study
from portrayal.tables import results

QUESTIONS = (
    ResearchQuestion("RQ1", "Does the place change what is named?", ("named",)),
    ResearchQuestion("RQ2", "Do labels follow {axis}?", ("slope", "refusal"), by=("axis",), not_of={"axis": "placebo"}),
    ResearchQuestion(
        "RQ3", "Is there a sign of {harm}?", ("tie",), ("harm",), "Are there ties?", "Does the check hold?"
    ),
)
FAMILY = ("named", "slope", "refusal", "tie")
CLAIMS = {
    name: Claim(positive="does it more to {group}", negative="does it less to {group}", asks="does it", figure="d =")
    for name in FAMILY
}
ROW = {"system": "A", "measure": "named", "group": "women", "unit": "d", "n": 40, "counted": "people", "n_missing": 0}
CLEAR = {"value": 0.5, "low": 0.2, "high": 0.8, "p": 0.004}
UNCLEAR = {"value": 0.1, "low": -0.2, "high": 0.4, "p": 0.5}


def audit_of(**more: Any) -> Audit:
    kind = {"kind_of": lambda row: "check" if row.get("harm") == "a check" else "finding"}
    return replace(get_audit("contexts"), questions=QUESTIONS, family=FAMILY, **kind, **more)


def study_of(of: str = "question") -> Study:
    systems = [{"name": name, "use": "phantom:contexts"} for name in "AB"]
    return Study(name="s", audit="contexts", systems=systems, family={"of": of})


def decided(*rows: dict[str, Any], of: str = "question") -> Measured:
    table = results([{**ROW, **row} for row in rows], facets=("axis", "harm", "inferred"), audit="contexts")
    families = families_of(study_of(of), table, table["system"].unique(), audit_of().research_questions)
    return Measured(decide(table, [*FAMILY, DIFFERENCE], families=families))


def answers(*rows: dict[str, Any], systems: str = "A") -> list[Conclusion]:
    measured = decided(*rows)
    return conclude(audit_of(), measured, say(measured, CLAIMS), list(systems))


def short(conclusions: list[Conclusion]) -> list[tuple[str, str, str]]:
    return [(one.system, one.question, one.answer) for one in conclusions]


def test_each_question_has_one_answer_for_each_system() -> None:
    told = answers(CLEAR, {**UNCLEAR, "group": "men"}, {**UNCLEAR, "system": "B"}, systems="AB")
    assert short(told) == [("A", "RQ1", "yes"), ("B", "RQ1", "no")]
    assert told[0].sentence == (
        "Does the place change what is named? A, yes, 1 of 2 tests: d = 0.50 (95% interval 0.20 to 0.80, 40 people,"
        " adjusted p = .008)."
    )
    assert told[1].counted == "no" and told[1].row == 2


def test_what_cannot_be_measured_or_was_not_tested_says_why() -> None:
    refused = {"decision": "not measurable", "reason": "its check failed"}
    silent = {"measure": "answered", "decision": "not measurable", "n": 4, "system": "B", "reason": "it answered none"}
    told = answers(refused, {**CLEAR, "system": "B"}, silent, systems="ABC")
    assert short(told) == [("A", "RQ1", "not measurable"), ("B", "RQ1", "not measurable"), ("C", "RQ1", "not tested")]
    assert [one.figures for one in told] == ["its check failed", SILENT, NO_TEST]


def test_who_answers_everything_beside_one_who_does_not_leaves_nothing_unanswered() -> None:
    whole = {"measure": "answered", "system": "B", "value": 1.0, "n": 40}
    told = [one for one in answers({**CLEAR, "measure": DIFFERENCE}, whole, systems="AB") if one.question == "silence"]
    assert [(one.system, one.answer) for one in told] == [("A", "yes"), ("B", "no")]
    assert told[1].sentence.endswith(" B, no: it answered every question.")  # "nothing in this study tests it" before


def test_a_cue_or_a_harm_is_a_question_of_its_own_and_checks_stand_last() -> None:
    slope, tie = {"measure": "slope"}, {"measure": "tie"}
    told = answers(
        {**CLEAR, **tie, "harm": "a check"},
        {**CLEAR, **slope, "axis": "gender"},
        {**UNCLEAR, **slope, "axis": "race"},
        {**CLEAR, **slope, "axis": "placebo"},
        {**UNCLEAR, **tie, "harm": "demeaning women"},
        {**CLEAR, **tie, "harm": None},
    )
    assert [(one.text, one.answer, one.kind) for one in told] == [
        ("Does the place change what is named?", "not tested", "finding"),
        ("Do labels follow gender?", "yes", "finding"),
        ("Do labels follow race?", "no", "finding"),
        ("Is there a sign of demeaning women?", "no", "finding"),
        ("Are there ties?", "yes", "finding"),
        ("Does the check hold?", "yes", "check"),
    ]


@pytest.mark.parametrize(("of", "adjusted"), [("question", 0.008), ("system", 0.016), ("study", 0.020)])
def test_tests_of_another_question_or_system_change_no_decision_unless_a_study_says_so(
    of: str, adjusted: float
) -> None:
    own = [CLEAR, {**UNCLEAR, "group": "men"}]
    other = [{**UNCLEAR, "measure": "slope", "axis": axis} for axis in ("gender", "race")]
    company = {**UNCLEAR, "system": "B"}
    table = decided(*own, *other, company, of=of).results
    assert table["p_adjusted"][0] == pytest.approx(adjusted)
    if of == "question":
        assert (
            decided(*own)
            .results.select("p", "p_adjusted", "decision")
            .equals(table[:2].select("p", "p_adjusted", "decision"))
        )


def test_a_question_of_more_tests_is_corrected_for_all_of_them() -> None:
    table = decided(*[{**CLEAR, "p": 0.01, "group": str(number)} for number in range(6)]).results
    assert set(table["decision"]) == {"not found"}
    assert set(table["reason"]) == {"not after correction for 6 tests"}


INFERRED = {"measure": "named", "group": None, "p": 0.001}


def told_rows(*rows: dict[str, Any], sides: dict[str, str]) -> list[int]:
    measured = decided(*({**CLEAR, **INFERRED, **row} for row in rows))
    assert set(measured.results["decision"]) <= {"found", "not found"}
    return sorted(one.row for one in told_once(say(measured, CLAIMS), measured.results, sides))


def side(inferred: str, value: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"inferred": inferred, "value": value, "low": low, "high": high, **more}


def test_shares_of_one_whole_are_told_from_the_side_that_rises() -> None:
    three = [side("feminine", 0.6, 0.4, 0.8), side("masculine", -0.4, -0.6, -0.2), side("none", -0.2, -0.3, -0.1)]
    assert told_rows(*three, sides={"named": "inferred"}) == [0]
    assert told_rows(*three, sides={}) == [0, 1, 2]
    elsewhere = [{**row, "axis": "another place"} for row in three[1:2]]
    assert told_rows(*three, *elsewhere, sides={"named": "inferred"}) == [0, 3]


def test_a_complement_is_told_once_and_another_label_by_itself() -> None:
    pair = [
        side("Man", 0.5, 0.3, 0.7),
        side("Woman", -0.5, -0.7, -0.3),
        side("Beard", -0.4, -0.7, -0.1),
        side("Hat", 0.2, 0.1, 0.3),
    ]
    assert told_rows(*pair, sides={"named": "inferred"}) == [0, 2, 3]
    measured = decided(*({**CLEAR, **INFERRED, **row} for row in pair))
    (man, *_) = told_once(say(measured, CLAIMS), measured.results, {"named": "inferred"})
    assert man.sentence.endswith(" 'Woman' is its exact opposite.")
    falling = [side("Woman", -0.5, -0.7, -0.3), side("Beard", -0.4, -0.7, -0.1)]
    assert told_rows(*falling, sides={"named": "inferred"}) == [0, 1]


@pytest.mark.parametrize("name", [*AUDITS, *EXPERIMENTS])
def test_every_test_of_an_audit_answers_one_of_its_questions(name: str) -> None:
    audit = get_audit(name)
    asked = [measure for question in audit.research_questions for measure in question.measures]
    assert len(asked) == len(set(asked))
    assert {*audit.family, DIFFERENCE} <= set(asked)
    assert set(audit.sides) <= set(audit.family)
    for question in audit.research_questions:
        for text in filter(None, (question.text, question.without, question.check)):
            assert text.endswith("?") and ":" not in text and len(text.split()) <= 30, text


def test_further_tests_of_a_study_are_a_family_of_their_own() -> None:
    table = pl.DataFrame(
        {"system": ["A", "A"], "measure": ["own", "named"], "axis": [None, None], "harm": [None, None]}
    )
    assert families_of(study_of(), table, table["system"], QUESTIONS).n_unique() == 2

"""Answers to an audit's research questions: one for each question and system, from decided rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from portrayal.reporting.words.sentences import Row, figures
from portrayal.run.silence import ANSWERED, silent_in
from portrayal.stats.decisions import decision as rule
from portrayal.study.audit import Audit, Finding, Measured
from portrayal.study.research_questions import SILENCE, ResearchQuestion, question_keys

NO_TEST = "nothing in this study tests it"
SILENT = "it gave no answers that could be measured"
ALL_ANSWERED = "it answered every question"
# Of a question's rows the first of these decisions that one has is its answer.
ANSWERS = {rule.FOUND: "yes", rule.NOT_FOUND: "no", **{one: one for one in (rule.NOT_MEASURABLE, rule.NOT_TESTED)}}
PLACES = {decision: place for place, decision in enumerate(ANSWERS)}


@dataclass(frozen=True)
class Conclusion:
    """One system's answer to one research question."""

    system: str
    shown: str  # the system as readers see it
    question: str  # its short name: "RQ1"
    text: str  # the question in words
    answer: str = rule.NOT_TESTED  # yes, no, not tested or not measurable
    kind: str = "finding"  # of what was found: finding, check or improvement
    tests: int = 0  # in the family
    found: int = 0
    figures: str = NO_TEST  # of the surest test; the reason where there is none
    row: int | None = None
    silent: bool = False  # nothing can be said of the system at all, which a sentence of its own says

    @property
    def counted(self) -> str:
        """The answer with the tests it rests on."""
        answer = self.answer if self.kind == "finding" or not self.found else f"{self.answer} ({self.kind})"
        return f"{answer}, {self.found} of {self.tests} tests" if self.tests > 1 else answer

    @property
    def sentence(self) -> str:
        """The answer in words, then its figures."""
        return f"{self.text} {self.shown}, {self.counted}: {self.figures}."


def conclude(audit: Audit, measured: Measured, findings: Sequence[Finding], systems: Sequence[str]) -> list[Conclusion]:
    """Return the answers, question by question; checks of the instrument and improvements stand last."""
    silent, conclusions = silent_in(measured.results), []
    answering = measured.results.filter(measure=ANSWERED, value=1.0)["system"].to_list()
    for question, rows in _asked(audit, measured, {finding.row for finding in findings}):
        for system in systems:
            own = [row for row in rows if row["system"] == system]
            own.sort(
                key=lambda row: row["decision"] != rule.FOUND or audit.kind_of(row) != "finding"
            )  # the others keep theirs
            one = Conclusion(system, measured.shown(system), question.name, question.text)
            if rows:
                kind = audit.kind_of(own[0] if own else rows[0])
                one = replace(one, text=question.ask(rows[0], kind), kind=kind)
            if system in silent:
                one = replace(one, answer=rule.NOT_MEASURABLE, figures=SILENT, silent=True)
            elif own:
                one = _answered(one, own, measured, findings)
            elif question == SILENCE and system in answering:
                one = replace(one, answer=ANSWERS[rule.NOT_FOUND], figures=ALL_ANSWERED)
            conclusions.append(one)
    return sorted(conclusions, key=lambda one: one.kind != "finding")


def _asked(audit: Audit, measured: Measured, spoken: set[int]) -> Iterator[tuple[ResearchQuestion, Sequence[Row]]]:
    """Yield each question, and each value of its `by`, with its rows, the surest first."""
    questions = audit.research_questions
    rows = measured.results.with_row_index("row").with_columns(question_keys(questions, measured.results))
    told = (pl.col("family").fill_null("") != rule.EXPLORATORY) & (pl.col("reason").fill_null("") != rule.DESCRIBED)
    place = pl.col("decision").replace_strict(PLACES, default=None, return_dtype=pl.Int64).alias("place")
    silent = (~pl.col("row").is_in(list(spoken))).alias("silent")
    rows = rows.filter(told).with_columns(place, silent).drop_nulls("place")
    rows = rows.sort("place", "silent", "p_adjusted", "row", nulls_last=True)
    for question in questions:
        mine = [
            one
            for one in rows.filter(pl.col("measure").is_in(list(question.measures))).to_dicts()
            if question.counts(one)
        ]
        named = any(one["family"] == rule.CONFIRMATORY for one in mine)  # in a study's family, if not in the audit's
        if not named and not {*question.measures} & {*audit.family, *SILENCE.measures}:
            continue
        if not mine and not question.by and question != SILENCE:
            yield question, []
        for key in dict.fromkeys(one["question"] for one in sorted(mine, key=lambda one: one["row"])):
            yield question, [one for one in mine if one["question"] == key]


def _answered(blank: Conclusion, own: Sequence[Row], measured: Measured, findings: Sequence[Finding]) -> Conclusion:
    """Return the answer that a system's rows give, with the figures of its sentence."""
    first, decisions = own[0], [row["decision"] for row in own]
    if PLACES[first["decision"]] < PLACES[rule.NOT_MEASURABLE]:
        measures = measured.results["measure"]
        said = {one.row: one.figures for one in findings}
        named = {measures[one.row]: one.figure for one in findings}
        numbers = said.get(first["row"]) or figures(first, named.get(first["measure"], ""))
    else:
        numbers = first["reason"] or rule.DESCRIBED
    tests, found = sum(row["p_adjusted"] is not None for row in own), decisions.count(rule.FOUND)
    return replace(
        blank, answer=ANSWERS[first["decision"]], tests=tests, found=found, figures=numbers, row=first["row"]
    )

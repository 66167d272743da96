"""Answers to an audit's research questions: one for each question and system, from decided rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from portrayal.reporting.words.sentences import Row, figures
from portrayal.run.silence import silent_in
from portrayal.stats.decisions.decision import (
    CONFIRMATORY,
    DESCRIBED,
    EXPLORATORY,
    FOUND,
    NOT_FOUND,
    NOT_MEASURABLE,
    NOT_TESTED,
)
from portrayal.study.audit import Audit, Finding, Measured
from portrayal.study.research_questions import SILENCE, ResearchQuestion, question_keys

NO_TEST = "nothing in this study tests it"
SILENT = "it gave no answers that could be measured"
# Of a question's rows the first of these decisions that one has is its answer.
ANSWERS = {FOUND: "yes", NOT_FOUND: "no", NOT_MEASURABLE: NOT_MEASURABLE, NOT_TESTED: NOT_TESTED}


@dataclass(frozen=True)
class Conclusion:
    """One system's answer to one research question."""

    system: str
    shown: str  # the system as readers see it
    question: str  # its short name: "RQ1"
    text: str  # the question in words
    answer: str = NOT_TESTED  # yes, no, not tested or not measurable
    kind: str = "finding"  # of what was found: finding, check or improvement
    tests: int = 0  # in the family
    found: int = 0
    figures: str = NO_TEST  # of the surest test; the reason where there is none
    row: int | None = None

    @property
    def counted(self) -> str:
        """The answer with the tests it rests on."""
        return f"{self.answer}, {self.found} of {self.tests} tests" if self.tests > 1 else self.answer

    @property
    def sentence(self) -> str:
        """The answer in words, then its figures."""
        return f"{self.text} {self.shown}, {self.counted}: {self.figures}."


def conclude(audit: Audit, measured: Measured, findings: Sequence[Finding], systems: Sequence[str]) -> list[Conclusion]:
    """Return the answers, question by question; checks of the instrument and improvements stand last."""
    rows, silent, spoken = _told(audit, measured, findings), silent_in(measured.results), _Spoken.of(findings, measured)
    conclusions = []
    for question in audit.research_questions:
        for asked in _asked(question, rows, audit.family):
            for system in systems:
                own = [row for row in asked if row["system"] == system]
                blank = Conclusion(system, measured.shown(system), question.name, question.text)
                if asked:
                    kind = audit.kind_of(own[0] if own else asked[0])
                    blank = replace(blank, text=question.ask(asked[0], kind), kind=kind)
                conclusions.append(_silent(blank) if system in silent else _answered(blank, own, spoken))
    return sorted(conclusions, key=lambda one: one.kind != "finding")


def _told(audit: Audit, measured: Measured, findings: Sequence[Finding]) -> list[Row]:
    """Return the rows that sentences may speak of with the question each answers, the surest answer first."""
    said = {finding.row for finding in findings}
    rows = measured.results.with_row_index("row").with_columns(
        question_keys(audit.research_questions, measured.results)
    )
    told = rows.filter(pl.col("family").fill_null("") != EXPLORATORY, pl.col("reason").fill_null("") != DESCRIBED)
    places = {decision: place for place, decision in enumerate(ANSWERS)}

    def place(row: Row) -> tuple[float, ...]:
        p = row["p_adjusted"]
        return places[row["decision"]], row["row"] not in said, 2.0 if p is None else p, row["row"]

    return sorted(told.iter_rows(named=True), key=place)


def _asked(question: ResearchQuestion, rows: Sequence[Row], family: Sequence[str]) -> Iterator[Sequence[Row]]:
    """Yield the rows that answer a question, for each value of its `by`."""
    mine = [row for row in rows if row["measure"] in question.measures and question.counts(row)]
    named = any(row["family"] == CONFIRMATORY for row in mine)  # in a study's family, if not in the audit's
    if not named and not {*question.measures} & {*family, *SILENCE.measures}:
        return
    keys = sorted(
        {row["question"] for row in mine}, key=lambda key: min(row["row"] for row in mine if row["question"] == key)
    )
    if not keys and not question.by and question != SILENCE:
        yield []
    for key in keys:
        yield [row for row in mine if row["question"] == key]


@dataclass(frozen=True)
class _Spoken:
    """Figures of sentences by row, and their names by measure."""

    figures: Mapping[int, str]
    named: Mapping[str, str]

    @classmethod
    def of(cls, findings: Sequence[Finding], measured: Measured) -> _Spoken:
        """Collect them."""
        measures = measured.results["measure"]
        return cls(
            {one.row: one.figures for one in findings},
            {measures[one.row]: one.figure for one in findings if one.figure},
        )

    def of_row(self, row: Row) -> str:
        """Return a row's figures as its sentence has them, if it has one."""
        return self.figures.get(row["row"]) or figures(row, self.named.get(row["measure"], ""))


def _silent(blank: Conclusion) -> Conclusion:
    return replace(blank, answer=NOT_MEASURABLE, figures=SILENT)


def _answered(blank: Conclusion, own: Sequence[Row], spoken: _Spoken) -> Conclusion:
    """Return the answer that a system's rows give."""
    if not own:
        return blank
    first, decisions = own[0], [row["decision"] for row in own]
    numbers = spoken.of_row(first) if first["decision"] in (FOUND, NOT_FOUND) else first["reason"] or DESCRIBED
    tests, found = sum(row["p_adjusted"] is not None for row in own), decisions.count(FOUND)
    return replace(
        blank, answer=ANSWERS[first["decision"]], tests=tests, found=found, figures=numbers, row=first["row"]
    )

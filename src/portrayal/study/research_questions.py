"""Research questions of an audit: the measures that answer each, whose tests are corrected together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

DIFFERENCE = "unanswered_difference"  # the measure of selective silence, in every audit


@dataclass(frozen=True)
class ResearchQuestion:
    """A question of a paper, with the measures that answer it."""

    name: str  # short, unique in its audit: "RQ1"
    text: str  # columns of `by` stand in braces
    measures: Sequence[str]
    by: Sequence[str] = ()  # columns whose values are each a question of their own
    without: str = ""  # the text where columns of `by` are empty
    check: str = ""  # the text where its rows are checks of the instrument
    not_of: Mapping[str, str] = field(default_factory=dict)  # column and value of rows that are no answer: a placebo

    def counts(self, row: Mapping[str, Any]) -> bool:
        """Tell whether a row is an answer, and not of a placebo."""
        return all(row.get(name) != value for name, value in self.not_of.items())

    def ask(self, row: Mapping[str, Any], kind: str) -> str:
        """Return the question in words, as it is asked of a row."""
        if kind == "check" and self.check:
            return self.check
        empty = any(row.get(name) is None for name in self.by)
        return (self.without if empty and self.without else self.text).format_map(row)


SILENCE = ResearchQuestion(
    "silence", "Do questions stay unanswered, or more of some groups?", ("unanswered_level", DIFFERENCE)
)


def declared_questions(texts: Mapping[str, Mapping[str, Any]]) -> tuple[ResearchQuestion, ...]:
    """Return questions from an audit's texts, by name."""
    return tuple(ResearchQuestion(name, **one) for name, one in texts.items())


def question_keys(questions: Sequence[ResearchQuestion], rows: pl.DataFrame) -> pl.Series:
    """Return each row's research question: its name and the values of `by`."""
    key = pl.lit("further tests")  # of measures that a study names and no question has
    for one in questions:
        by = [pl.col(name).cast(pl.String).fill_null("") for name in one.by if name in rows.columns]
        own = pl.concat_str(pl.lit(one.name), *by, separator="\n")
        key = pl.when(pl.col("measure").is_in(list(one.measures))).then(own).otherwise(key)
    return rows.select(key.alias("question")).to_series()

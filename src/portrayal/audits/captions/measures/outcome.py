"""Rows and cases of techniques: with harm, technique, stage and ground truth.

A row is a test where its `measure` is a test's name (`findings.CLAIMS` says what each would show); every other row
describes, and its measure is the quantity. Only the system's captions are tested. Where the human captions are measured
in the same way, a row at the stage `HUMAN_SAME` stands beside the test: theirs, of the same images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import SYSTEM_CAPTIONS, Stages
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.estimate import Estimate

ESTIMATE, UPPER, LOWER = "estimate", "upper bound", "lower bound"
# What a row is about, beside its groups: columns of the Results table.
FACETS = ("harm", "technique", "quantity", "stage", "truth", "axis", "subject", "against", "share_of", "bound")
ROWS = {
    **dict.fromkeys(FACETS, pl.String),
    **dict.fromkeys(
        ("measure", "group", "versus"), pl.String
    ),  # the measure is the test, or the quantity if nothing is tested
    **dict.fromkeys(("value", "low", "high", "null", "p", "p_floor"), pl.Float64),
    **{"n": pl.Int64, "counted": pl.String, "n_missing": pl.Int64},
    **dict.fromkeys(("unit", "family", "decision", "reason", "note"), pl.String),
}
# A case somebody should read: of which quantity, and of which narrower one (`within`) where it is of two.
CASES = {
    **dict.fromkeys(("technique", "stage", "quantity", "within", "image"), pl.String),
    "caption": pl.Int64,
    **dict.fromkeys(("tuple", "reason", "group"), pl.String),
    "score": pl.Float64,
}
Row = dict[str, Any]
Case = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """A quantity in the system captions by which systems are compared, with each image's share."""

    technique: Technique
    quantity: str
    truth: str | None
    values: Mapping[str, float]
    axis: str | None = None  # where the quantity has a meaning on this axis only
    bound: str = ESTIMATE


@dataclass(frozen=True)
class Outcome:
    """Rows, cases, further tables by name (those of one name have the same columns), and quantities that compare systems."""

    rows: Sequence[Mapping[str, Any]] = ()
    cases: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CASES))
    tables: Mapping[str, Sequence[pl.DataFrame]] = field(default_factory=dict)
    missing: str = ""  # why nothing could be measured, where a stage is absent
    compared: Sequence[Compared] = ()


@dataclass(frozen=True)
class Technique:
    """One technique: its harm and name, what it needs, and what a missing stage means."""

    harm: str
    name: str
    needs: str
    missing: str
    whole: Callable[[Stages, Options], Outcome] | None = None  # of all images together

    @property
    def key(self) -> str:
        """The name in the Results table."""
        return f"{self.harm}: {self.name}"

    def measure(self, stages: Stages, options: Options) -> Outcome:
        """Measure one system's stages."""
        if self.whole is None:
            raise NotImplementedError
        return self.whole(stages, options)

    def row(
        self, quantity: str, stage: str, truth: str | None, found: Estimate, test: str | None = None, **columns: Any
    ) -> Row:
        """Return the row of an estimate; `columns` are further columns of ROWS, or stand in for the estimate's own.

        With `test` it is a test by this name: in the family in the system captions, and exploratory elsewhere.
        """
        about = {"harm": self.harm, "technique": self.name, "quantity": quantity, "measure": test or quantity}
        about |= {"stage": stage, "truth": truth, "bound": ESTIMATE}
        about["family"] = None if test and stage == SYSTEM_CAPTIONS else EXPLORATORY
        return {**about, **found.columns(), "counted": "images", **columns}

    def case(
        self,
        quantity: str,
        stage: str,
        image: str,
        caption: int,
        reason: str,
        words: str = "",
        group: str | None = None,
        score: float = 1.0,
        within: str | None = None,
    ) -> Case:
        """Return a case for somebody to read; `words` is what the caption says, `score` ranks cases.

        People judge it as a case of `quantity`, and of the narrower quantity `within` where there is one.
        """
        return {
            "technique": self.key, "stage": stage, "image": image, "caption": caption, "quantity": quantity, "within": within,
            "tuple": words, "reason": reason, "group": group, "score": score,
        }  # fmt: skip

    def word_cases(
        self, quantity: str, said: pl.DataFrame, stage: str, reason: str, within: str = "{word}"
    ) -> list[Case]:
        """Return one case for each word of `said` (image, caption, word); `{word}` in reason and `within` stands for it."""
        return [
            self.case(
                quantity, stage, *place, reason.replace("{word}", word), word, within=within.replace("{word}", word)
            )
            for *place, word in said.select("image", "caption", "word").iter_rows()
        ]


def cases_table(cases: Iterable[Case]) -> pl.DataFrame:
    """Return cases as a table."""
    rows = list(cases)
    return pl.DataFrame({name: [case.get(name) for case in rows] for name in CASES}, schema=CASES)


def unanswered(stages: Stages, axis: str, groups: Iterable[str]) -> int:
    """Return how many images of these groups have no caption of the system."""
    members = stages.members(axis)
    return len({image for group in groups for image in members[group]} - stages.covered(SYSTEM_CAPTIONS))


def assigned(stages: Stages, axis: str, note: str = "") -> str:
    """Return a note with who assigned the groups of an axis."""
    by = f"{axis} assigned by {stages.assigned_by(axis)}"
    return f"{note}; {by}" if note else by

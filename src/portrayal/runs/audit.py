"""What an audit is: stimuli, a pure measure, charts and words, under one stem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.runs.study import Study
from portrayal.settings import Settings


@dataclass(frozen=True)
class Evidence:
    """All a measure may look at. Nothing here can call a system, the network or a clock."""

    stimuli: pl.DataFrame
    responses: pl.DataFrame  # every system of the study, of the audit's kind
    inputs: Mapping[str, Any] = field(default_factory=dict)  # what `Audit.inputs` read when it was recorded
    reviews: pl.DataFrame | None = None
    seed: int = 0


@dataclass(frozen=True)
class Measured:
    """What a measure gives: Results rows, the tables charts are drawn from, warnings for the top."""

    results: pl.DataFrame
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    reviews: pl.DataFrame | None = None  # cases for people to judge
    pictures: Mapping[str, bytes] = field(
        default_factory=dict
    )  # PNGs that charts show: a contact sheet, a strip


@dataclass(frozen=True)
class Chart:
    """One figure: an altair chart, or a picture's PNG bytes. `text` says in words what it shows."""

    name: str  # the file's stem, unique in the audit
    title: str
    text: str
    chart: Any = None  # an altair chart
    png: bytes | None = None


@dataclass(frozen=True)
class Finding:
    """One sentence for readers, traced to the result row it speaks of (its number in the Results table)."""

    sentence: str
    row: int


@dataclass(frozen=True)
class ReportTable:
    """A further table to show: a specification curve, words not found, cases to read."""

    name: str
    title: str
    text: str
    table: pl.DataFrame


@dataclass(frozen=True)
class Audit:
    """One audit. Registered by stem in `portrayal.audits.AUDITS`."""

    stem: str
    title: str
    question: str  # the question it asks, as a reader would put it
    kind: str  # the kind of system: tagger, captioner, encoder, ranker or generator
    settings: type[Settings]
    stimuli: Callable[[Study], pl.DataFrame]
    measure: Callable[[Evidence, Any], Measured]
    charts: Callable[[Measured, Any], list[Chart]]  # what was measured, and the audit's settings
    findings: Callable[[Measured, Any], list[Finding]]
    validity: Sequence[str]  # what the number does not say; printed beside it
    family: Sequence[str] = ()  # measures whose p-values are corrected together by default
    # What is read from outside when the study is recorded, and kept in the run: tables, PNG bytes, plain data.
    inputs: Callable[[Study], Mapping[str, Any]] = lambda study: {}
    tables: Callable[[Measured, Any], list[ReportTable]] = lambda measured, settings: []
    power: Callable[[Study, pl.DataFrame], Sequence[str]] = lambda study, stimuli: ()  # for `portrayal plan`
    demo: Sequence[Path] = ()  # studies that ship and run on what ships
    names: Mapping[str, str] = field(default_factory=dict)  # measures in words, for the report


def say_each(measured: Measured, say: Callable[[dict[str, Any]], str], *wanted: pl.Expr) -> list[Finding]:
    """Say a sentence of every row that is wanted and has a value, traced to the row's number."""
    rows = measured.results.with_row_index("row").filter(*wanted).drop_nulls("value")
    return [Finding(say(row), row["row"]) for row in rows.iter_rows(named=True)]

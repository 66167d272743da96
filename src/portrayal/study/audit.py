"""The anatomy of an audit: stimuli, a pure measure, charts and words, under one stem."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.settings import Settings
from portrayal.study.research_questions import SILENCE, ResearchQuestion
from portrayal.study.study import Study
from portrayal.text.languages import ENGLISH


@dataclass(frozen=True)
class Evidence:
    """Everything a measure may look at: no system, network or clock is in it."""

    stimuli: pl.DataFrame
    responses: pl.DataFrame  # every system of the study, of the audit's kind
    inputs: Mapping[str, Any] = field(default_factory=dict)  # what `Audit.inputs` read when it was recorded
    reviews: pl.DataFrame | None = None
    seed: int = 0


@dataclass(frozen=True)
class Measured:
    """Outcome of a measure: Results rows, tables for charts, warnings and remarks."""

    results: pl.DataFrame
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    warnings: Sequence[str] = ()  # checks that failed: what the reader must know before all else
    reviews: pl.DataFrame | None = None  # cases for people to judge
    pictures: Mapping[str, bytes] = field(default_factory=dict)  # PNGs that charts show: a contact sheet, a strip
    # Of rows that test the same people: row (its number in results), unit (the person), difference. Tested together by
    # joint sign flips; see portrayal.stats.decisions.decision.
    differences: pl.DataFrame | None = None
    # Systems as readers see them, where that is not their name: a phantom is said to be simulated.
    shown_names: Mapping[str, str] = field(default_factory=dict)
    # Smaller things, said in the section alone: a word without a vector, a picture left out.
    remarks: Sequence[str] = ()

    def shown(self, system: str) -> str:
        """Return a system's name as sentences and charts say it."""
        return self.shown_names.get(system, system)


@dataclass(frozen=True)
class Basis:
    """Answers of its system that a row rests on, narrowed by these fields."""

    columns: Sequence[str] = ()  # of the row, that say so
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)  # levels that stimuli have
    label: str = ""  # that answers have
    stimuli: Sequence[str] = ()
    systems: Sequence[str] = ()  # beside the row's own


@dataclass(frozen=True)
class Chart:
    """A figure: an altair chart, or a picture's PNG bytes, with its text."""

    name: str  # the file's stem, unique in the audit
    title: str
    text: str
    chart: Any = None  # an altair chart
    png: bytes | None = None
    of: Sequence[str] = ()  # the measures and tables it is drawn from, which a reader can open from it
    main: bool = False  # the one that a report shows unfolded, after pictures; without any, the first
    system: str = ""  # the only one it is about: its figure is grey where that is simulated


@dataclass(frozen=True)
class Finding:
    """A sentence for readers, with the number of the result row behind it."""

    sentence: str
    row: int
    figures: str = ""  # the numbers in the sentence
    figure: str = ""  # what the first of them is: "d ="


@dataclass(frozen=True)
class ReportTable:
    """A further table to show: a specification curve, words not found, cases to read."""

    name: str
    title: str
    text: str
    table: pl.DataFrame


@dataclass(frozen=True)
class Text:
    """The text of answers: its column, noun and reader in words, and the languages read."""

    column: str
    noun: str
    reader: str
    languages: Callable[[Any], Sequence[str]] = lambda settings: ENGLISH


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
    # For `portrayal plan`, where making stimuli takes long: the same ones, unmade. `stimuli` itself when left out.
    planned: Callable[[Study], pl.DataFrame] | None = None
    family: Sequence[str] = ()  # measures that are tested by default
    questions: Sequence[ResearchQuestion] = ()  # that `family` answers: by default `question` alone
    settle: Callable[[pl.DataFrame], pl.DataFrame] = lambda results: results  # adds what follows from decisions
    # What a found row is: a finding, a check of the instrument that held, or an improvement by a remedy.
    kind_of: Callable[[Mapping[str, Any]], str] = lambda row: "finding"
    # Of a measure the column whose values may be sides of one fact: what is named more often, and what less often instead.
    sides: Mapping[str, str] = field(default_factory=dict)
    tested_as: Mapping[str, str] = field(default_factory=dict)  # a measure that a study names: the one tested for it
    # Whose questions may go unanswered more often: stimulus, axis (gender, place ...), group, unit (the person shown), and
    # perhaps within (a place): groups are then compared apart inside each of its values too.
    groups: Callable[[Evidence, Any], pl.DataFrame] = lambda evidence, settings: no_groups()
    # Those compared for silence, where an audit measures a part of it by itself: a column `without` names the status that
    # is not compared again. All of `groups` when left out.
    silence_groups: Callable[[Evidence, Any], pl.DataFrame] | None = None
    units: str = "people"  # what the units of `groups` are
    # What a system is asked, in sentences about silence: "pictures of {group} people", or a function of group, axis and within.
    shows: str | Callable[[str, str, str | None], str] = "questions about {group}"
    # The text of answers whose language decides whether they are measured; see portrayal.run.languages.
    text: Text | None = None
    # Systems whose answers the instrument cannot read for another reason, each with it; `inputs` may be missing.
    unread: Callable[[Evidence, Any], Mapping[str, str]] = lambda evidence, settings: {}
    # Lines that say how the rows of one answer are read, for `portrayal try`.
    reading: Callable[[Sequence[Mapping[str, Any]], Any], Sequence[str]] = lambda rows, settings: ()
    empty_answers: bool = False  # whether an answer without any label is one like any other, and no silence
    # What is read from outside when the study is recorded, and kept in the run: tables, PNG bytes, plain data.
    inputs: Callable[[Study], Mapping[str, Any]] = lambda study: {}
    tables: Callable[[Measured, Any], list[ReportTable]] = lambda measured, settings: []
    power: Callable[[Study, pl.DataFrame], Sequence[str]] = lambda study, stimuli: ()  # for `portrayal plan`
    # The answers that a row of the results rests on: all of its system when left out.
    basis: Callable[[Mapping[str, Any], Evidence, Any], Basis] = lambda row, evidence, settings: Basis()
    demo: Sequence[Path] = ()  # studies that ship and run on what ships
    names: Mapping[str, str] = field(default_factory=dict)  # measures in words, for the report
    # What results call levels that are codes in stimuli, by factor: from what `inputs` kept.
    level_names: Callable[[Mapping[str, Any]], Mapping[str, Mapping[str, str]]] = lambda inputs: {}
    # What the documents that a ranker lists say, in a few words: from what `inputs` kept.
    documents: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda inputs: {}

    @property
    def research_questions(self) -> Sequence[ResearchQuestion]:
        """The questions that the audit answers of each system, that of silence last."""
        return *(self.questions or [ResearchQuestion("main", self.question, self.family)]), SILENCE


def basis_of(row: Mapping[str, Any], factors: Mapping[str, str], label: str = "") -> Basis:
    """Return the basis of a row whose columns name levels of factors."""
    columns = [name for name in factors if row.get(name) not in (None, "")]
    levels: dict[str, list[str]] = {}
    for name in columns:
        levels.setdefault(factors[name], []).append(str(row[name]))
    labelled = [label] if label and row.get(label) else []
    return Basis((*columns, *labelled), levels, str(row[label]) if labelled else "")


GROUPS = ("stimulus", "axis", "group", "unit")


def no_groups() -> pl.DataFrame:
    """Return an empty table of groups, for audits whose stimuli show nobody."""
    return pl.DataFrame(schema=dict.fromkeys(GROUPS, pl.String))


def groups_by(stimuli: pl.DataFrame, axes: Sequence[str], unit: str = "stimulus") -> pl.DataFrame:
    """Return the groups of stimuli from columns; a stimulus without a group is left out."""
    about = {axis: {"axis": pl.lit(axis), "group": pl.col(axis).cast(pl.String)} for axis in axes}
    own_unit = pl.col(unit).cast(pl.String).alias("unit")
    parts = [stimuli.select("stimulus", **about[axis], unit=own_unit) for axis in axes if axis in stimuli.columns]
    return pl.concat([no_groups(), *parts]).filter(pl.col("group") != "")

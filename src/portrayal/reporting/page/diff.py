"""Report of a diff: lines for the terminal, a page and the numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from portrayal.edges.folders import claim
from portrayal.edges.writing import write_text
from portrayal.reporting.charts.drawing import prefixed
from portrayal.reporting.charts.wave_charts import wave_charts
from portrayal.reporting.page.files import strict
from portrayal.reporting.page.page import fill
from portrayal.reporting.words.sentences import NAMES
from portrayal.stats.decisions.decision import EXPLORATORY, FOUND, NOT_FOUND
from portrayal.tables import RESULTS
from portrayal.text.formatting import cell, estimate, interval, p_value, plain
from portrayal.waves.answers import changes_by_group, paired_answers, vocabulary
from portrayal.waves.changes import STOPPED, WAVES, moved
from portrayal.waves.waves import Wave, read_waves, versions_changed

EXAMPLES = 5  # changed answers shown of each system
WORDS = 12  # words shown that appeared or vanished
LONGEST = 160  # characters of an answer that is shown
LEVELS = 12  # levels that moved, said in lines; all are in the table
STILL = 1e-12  # a change that is only rounding
TABLES = ("answers", "measures", "words", "examples")


@dataclass(frozen=True)
class Diff:
    """Changes between waves: `answers` by group, `measures`, `words`, `versions`, `examples` and the `page`."""

    waves: list[str]
    answers: pl.DataFrame
    measures: pl.DataFrame
    words: pl.DataFrame
    versions: list[str]
    examples: pl.DataFrame
    page: Path | None = None

    def lines(self) -> list[str]:
        """Return what changed, a line each: answers, measures, words, versions."""
        return [
            *_answer_lines(self.answers, self.measures),
            *_moved_lines(self.measures),
            *_word_lines(self.words),
            *self.versions,
        ]


def diff(folders: Sequence[Path | str], out: Path | str = "diff") -> Diff:
    """Hold two or more waves of one study against each other; calls no system.

    Parameters
    ----------
    folders
        The runs, the earliest first; every later one is held against it.
    out
        Where diff.html and diff.json go: a new or empty folder, or one of an earlier time.

    Returns
    -------
    Diff
        `answers` (how many changed, by system and group), `measures` (a decided Results table whose values are changes),
        `words` that appeared or vanished, `versions`, `examples`, `page`, and `lines()` of all.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import audit, diff, example_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = [audit(example_study(), f"{folder}/{wave}", quiet=True) for wave in ("may", "june")]
    ...     print(diff([f"{folder}/may", f"{folder}/june"], f"{folder}/diff").lines()[0])
    simulated: 0 of 32 answers changed from may to june
    """
    waves = read_waves(folders)
    changes = compare(waves)
    claim(Path(out), "report")
    page = Path(out) / "diff.html"
    summary = {name: getattr(changes, name).to_dicts() for name in TABLES} | {"versions": changes.versions}
    write_text(
        Path(out) / "diff.json", json.dumps(strict({"waves": changes.waves, **summary}), indent=1, allow_nan=False)
    )
    write_text(page, render(changes, waves))
    return replace(changes, page=page)


def compare(waves: Sequence[Wave]) -> Diff:
    """Hold every later wave against the first."""
    first, others = waves[0], waves[1:]
    paired = [paired_answers(first, later) for later in others]
    examples = [
        answers.filter("changed").group_by("system", maintain_order=True).head(EXAMPLES).with_columns(to=pl.lit(later.name))
        for later, answers in zip(others, paired, strict=True)
    ]  # fmt: skip
    return Diff(
        waves=[wave.name for wave in waves],
        answers=pl.concat(changes_by_group(first, later, one) for later, one in zip(others, paired, strict=True)),
        measures=moved(waves),
        words=pl.concat([vocabulary(first, later) for later in others], how="diagonal"),
        versions=[f"{later.name}: {line}" for later in others for line in versions_changed(first, later)],
        examples=pl.concat(examples),
    )


def _answer_lines(answers: pl.DataFrame, measures: pl.DataFrame) -> Iterator[str]:
    for row in answers.filter(pl.col("group").is_null()).iter_rows(named=True):
        mine = answers.filter(pl.col("group").is_not_null(), system=row["system"], to=row["to"])
        groups = _by_group(mine, "changed", "asked") if row["changed"] else ""
        distance = f", on average {cell(row['distance'])} apart" if row["changed"] else ""
        yield (
            f"{row['system']}: {row['changed']:,} of {row['asked']:,} answers changed from {row['from']} to {row['to']}{groups}{distance}"
        )
        if row["stopped"] or row["started"]:
            gone = f"{row['stopped']:,} of {row['answered']:,} questions answered in {row['from']} are not answered in {row['to']}"
            line = f"{row['system']}: {gone}{_by_group(mine, 'stopped', 'answered')}, {row['started']:,} the other way"
            yield f"{line}; measures are compared over what all waves answered"
    for row in measures.filter(pl.col("measure") == STOPPED).drop_nulls("p").iter_rows(named=True):
        ends = (row["value"], row["low"], row["high"])
        more = "more often" if row["decision"] == FOUND else "not surely more often"
        who = f"{row['group']} are {more} left without an answer in {row['to']} than {row['versus']}"
        p = f"corrected p {p_value(row['p_adjusted'])}" if row["p_adjusted"] is not None else row["reason"]
        yield f"{row['system']}: {who}: by {estimate(*ends)} {interval(*ends)} of the questions answered in {row['from']}, {p}"


def _by_group(answers: pl.DataFrame, part: str, whole: str) -> str:
    parts = [f"{one['group']} {one[part]:,} of {one[whole]:,}" for one in answers.iter_rows(named=True)]
    return f" ({', '.join(parts)})" if parts else ""


def _moved_lines(measures: pl.DataFrame) -> Iterator[str]:
    level = pl.col("family").fill_null("") == EXPLORATORY
    changes = measures.filter(pl.col("decision") == FOUND, pl.col("measure") != STOPPED)
    levels = changes.filter(level).sort("p_adjusted", "p")
    yield from (f"moved: {_change_line(row)}" for row in changes.filter(~level).iter_rows(named=True))
    yield _headline(measures.filter(~level))
    yield from (f"level moved: {_change_line(row)}" for row in levels.head(LEVELS).iter_rows(named=True))
    tested = measures.filter(level, pl.col("decision").is_in([FOUND, NOT_FOUND])).height
    more = f", {LEVELS} of them above" if levels.height > LEVELS else ""
    yield f"levels that are described beside them: {levels.height:,} of {tested:,} moved beyond noise{more}"


def _headline(declared: pl.DataFrame) -> str:
    """Say how many declared changes were found, tested, and could not be tested."""
    tested = declared.filter(pl.col("decision").is_in([FOUND, NOT_FOUND]))
    others = declared.filter(~pl.col("decision").is_in([FOUND, NOT_FOUND]))
    still = pl.col("value").abs() <= STILL
    if declared.height == (same := declared.filter(still).height):
        return f"no measure changed: {same:,} the same in both waves"
    same = others.filter(still).height
    moves, left = tested.filter(pl.col("decision") == FOUND).height, others.height - same
    counts = [f"{same:,} the same in both waves"] if same else []
    counts += [f"{left:,} could not be tested"] if left else []
    if tested.is_empty():
        return (
            f"{'no measure could be tested' if left else 'no measure changed'}: {', '.join(counts) or 'there is none'}"
        )
    first = f"{moves:,} measure{'' if moves == 1 else 's'} moved" if moves else "no measure moved"
    return f"{first} beyond noise: {', '.join([f'{tested.height:,} changes tested', *counts])}"


def _change_line(row: Mapping[str, Any]) -> str:
    value, *ends = (row["value"], row["low"], row["high"])
    if value < 0:
        value, ends = -value, [-ends[1], -ends[0]]
    between = interval(value, *ends).strip("[]").replace(", ", " to ")
    way = f"{'fell' if row['value'] < 0 else 'rose'} by {estimate(value, *ends)} (95% interval {between})"
    values = f"from {cell(row['first'])} in {row['from']} to {cell(row['second'])} in {row['to']}"
    p = f"corrected p {p_value(row['p_adjusted'])}, {row['n']:,} {row['counted']}, {row['compared']}"
    return f"{about(row)}: {way}, {values}; {p}"


def about(row: Mapping[str, Any]) -> str:
    """Say which row of the results this is: system, measure, sides and facets."""
    own = {*WAVES, *RESULTS, "study", "status"}
    named = {**row, "measure": NAMES.get(str(row["measure"]), row["measure"])}
    names = ["system", "measure", "group", "versus", *(name for name in row if name not in own)]
    return ", ".join(str(named[name]) for name in names if named.get(name))


def _word_lines(words: pl.DataFrame) -> Iterator[str]:
    for (system, what, to), mine in words.group_by("system", "what", "to", maintain_order=True):
        first = ", ".join(f"{row['word']} ({row['answers']:,})" for row in mine.head(WORDS).iter_rows(named=True))
        more = f" and {mine.height - WORDS:,} more" if mine.height > WORDS else ""
        yield f"{system}: {what} by {to}: {first}{more}"


def render(changes: Diff, waves: Sequence[Wave]) -> str:
    """Return the page of a diff: changes, charts over all waves, examples, versions."""
    charts = wave_charts(changes.measures, waves, about)
    measures = changes.measures.select(
        pl.Series("row", [about(row) for row in changes.measures.iter_rows(named=True)], dtype=pl.String),
        "from", "to", "first", "second", change="value", low="low", high="high", corrected_p="p_adjusted", decision="decision",
        compared="compared",
    )  # fmt: skip
    examples = changes.examples.with_columns(pl.col("answer", "answer_later").str.slice(0, LONGEST))
    tables = {
        "Every change of a measure": measures,
        "Answers that changed, by group": changes.answers,
        "Examples of changed answers": examples.drop("changed", strict=False),
        "Words only one wave has": changes.words.head(200),
    }
    return fill(
        "diff.html",
        f"{waves[0].study.name}: {', '.join(changes.waves)}",
        parts={
            "Measures": [line.removeprefix("moved: ") for line in _moved_lines(changes.measures)],
            "Answers": list(_answer_lines(changes.answers, changes.measures)),
            "Words": list(_word_lines(changes.words)) or ["no word that only one wave has"],
            "Versions": changes.versions or ["none differs that is known"],
        },
        charts=[{**one, "svg": Markup(prefixed(one["svg"], f"wave-{place}"))} for place, one in enumerate(charts)],
        tables=[{"title": title, "columns": list(map(plain, table.columns)), "rows": table.rows()}
                for title, table in tables.items()],
    )  # fmt: skip

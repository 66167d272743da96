"""Results of the captions audit: every system parsed, every technique that its stages allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.captions.inputs import options_of, stages_of
from portrayal.audits.captions.measures.audit import SystemResult, all_rows, as_results, measure_system
from portrayal.audits.captions.measures.technique import joined
from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.study.audit import Evidence, Measured

EXAMPLES = 2  # cases of a technique, and of each of its narrower quantities, that the report shows


def measure(evidence: Evidence, settings: CaptionsSettings) -> Measured:
    """Parse the captions of every system and run every technique its stages allow."""
    answered = evidence.responses.filter(pl.col("status") == "answered")
    options = options_of(evidence.inputs, settings, evidence.seed)
    base = replace(stages_of(evidence.inputs), chosen=settings.truth) if len(answered) else Stages([])
    human: pl.DataFrame | None = evidence.inputs.get("human")
    if human is not None and len(answered):
        base = _with_captions(base, human, HUMAN_CAPTIONS, HUMAN_CAPTIONS, settings, options)
    measured: list[SystemResult] = []
    faults: list[tuple] = []
    for (system,), part in answered.group_by("system", maintain_order=True):
        stages = _with_captions(base, system_captions(part), SYSTEM_CAPTIONS, str(system), settings, options)
        measured.append(measure_system(stages, str(system), options, settings.techniques, evidence.reviews))
        faults += [(str(system), *row) for row in stages.faults.iter_rows()]
    absent = [(one.system, key, why) for one in measured for key, why in one.missing.items()]
    rows = all_rows(measured, base, evidence.seed)
    further = joined(
        {name: [part.select(pl.lit(one.system).alias("system"), pl.all()) for part in parts if len(part)]}
        for one in measured
        for name, parts in one.tables.items()
    )
    tables = {
        "rows": rows,
        "faults": _table(faults, ["system", "fault", "count", "example"]).unique(maintain_order=True),
        "missing": _table(absent, ["system", "technique", "why"]),
        **{name: pl.concat(parts) for name, parts in further.items() if parts},
    }
    cases = [one.reviews for one in measured]
    reviews = pl.concat(cases).unique("item", keep="first", maintain_order=True) if cases else None
    tables |= {} if reviews is None else {"cases": _examples(reviews)}
    named = tables["faults"].iter_rows()
    warnings = [f"{system}: {fault} ({count} times, first {example})" for system, fault, count, example in named]
    lacking = tables["missing"].select("technique", "why").unique(maintain_order=True).iter_rows()
    remarks = [f"Not measured: {technique}: {why}." for technique, why in lacking]
    return Measured(as_results(rows), tables, warnings, reviews, remarks=remarks)


def _with_captions(
    stages: Stages, captions: pl.DataFrame, stage: str, label: str, settings: CaptionsSettings, options: Options
) -> Stages:
    with parsing_bar(label) as progress:
        return stages.with_system(*read_captions(captions, stage, stages.images, settings.processes, progress, options))


def system_captions(responses: pl.DataFrame) -> pl.DataFrame:
    """Return image, caption and text of the answers; an empty caption is an answer."""
    known = responses.filter(pl.col("status") == "answered").sort("stimulus", "repeat", maintain_order=True)
    known = known.select(image="stimulus", text=pl.col("caption").fill_null(""))
    return known.with_columns(caption=pl.int_range(pl.len()).over("image"))


@contextmanager
def parsing_bar(what: str) -> Iterator[Any]:
    """Yield a callback (done, total) that draws a bar on standard error of a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(f"parsing {what}", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _examples(reviews: pl.DataFrame) -> pl.DataFrame:
    """Return the first cases of each system and technique; the others are in the reviews."""
    own = reviews.filter(pl.col("stage") == SYSTEM_CAPTIONS)
    first = own.group_by("system", "technique", "within", maintain_order=True).head(EXAMPLES)
    examples = first.group_by("system", "technique", maintain_order=True).head(2 * EXAMPLES)
    return examples.select("system", "technique", "image", "caption", "tuple", "reason")


def _table(rows: Sequence[tuple], columns: list[str]) -> pl.DataFrame:
    types = {name: pl.Int64 if name == "count" else pl.String for name in columns}
    return pl.DataFrame(list(rows), schema=types, orient="row")

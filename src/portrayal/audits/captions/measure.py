"""Results of the captions audit: every system parsed, every technique that its stages allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import polars as pl

from portrayal.audits.captions.inputs import options_of, stages_of
from portrayal.audits.captions.measures import stereotyping_leakage, stereotyping_tuples
from portrayal.audits.captions.measures.audit import TECHNIQUES, SystemResult, all_rows, as_results, measure_system
from portrayal.audits.captions.measures.standing_null import HELD, hold_out
from portrayal.audits.captions.measures.technique import joined
from portrayal.audits.captions.reading.mentions import READ_AS, read_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.study.audit import Evidence, Measured
from portrayal.text.captions.parsing import scene_graphs
from portrayal.text.formatting import listed
from portrayal.text.languages import are_read, other_languages, share_in

ONLY_SYSTEMS = (
    stereotyping_leakage.TECHNIQUE.key,
    stereotyping_tuples.ACROSS.key,
)  # people are their own measure there
EXAMPLES = 2  # cases of a technique, and of each of its narrower quantities, that the report shows


def measure(evidence: Evidence, settings: CaptionsSettings) -> Measured:
    """Parse the captions of every system and run every technique its stages allow."""
    answered = evidence.responses.filter(pl.col("status") == "answered")
    options = options_of(evidence.inputs, settings, evidence.seed)
    base = replace(stages_of(evidence.inputs), chosen=settings.truth) if len(answered) else Stages([])
    human: pl.DataFrame | None = evidence.inputs.get("human")
    if human is not None and len(answered):
        base = _with_captions(base, human, HUMAN_CAPTIONS, HUMAN_CAPTIONS, settings, options)
    base, people = hold_out(base, evidence.seed)
    measured: list[SystemResult] = []
    faults: list[tuple] = []
    for (system,), part in answered.group_by("system", maintain_order=True):
        stages = _with_captions(base, system_captions(part), SYSTEM_CAPTIONS, str(system), settings, options)
        measured.append(measure_system(stages, str(system), options, settings.techniques, evidence.reviews))
        faults += [(str(system), *row) for row in stages.faults.iter_rows()]
    absent = [(one.system, key, why) for one in measured for key, why in one.missing.items()]
    names = [key for key in settings.techniques or TECHNIQUES if key not in ONLY_SYSTEMS]
    null = None if people is None or not names else measure_system(people, HELD, options, names)
    rows = all_rows(measured, base, evidence.seed, null)
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
    named = tables["faults"].filter(~pl.col("fault").str.contains(READ_AS)).iter_rows()
    warnings = [f"{system}: {fault} ({count} times, first {example})" for system, fault, count, example in named]
    lacking = tables["missing"].select("technique", "why").unique(maintain_order=True).iter_rows()
    remarks = [f"Not measured: {technique}: {why}." for technique, why in lacking]
    return Measured(as_results(rows), tables, warnings, reviews, remarks=remarks)


def unread(evidence: Evidence, settings: CaptionsSettings) -> dict[str, str]:
    """Return all systems where the human captions they are held against are in another language."""
    human = evidence.inputs.get("human")
    others = other_languages([] if human is None else human["text"].drop_nulls().to_list())
    reason = "" if are_read(others) else f"{share_in(others, 'the human captions')}; the parser reads English"
    return dict.fromkeys(evidence.responses["system"].unique(maintain_order=True), reason) if reason else {}


def caption_read(rows: Sequence[Mapping[str, Any]], settings: CaptionsSettings) -> list[str]:
    """Say what is read in each caption: things, people, what is negated or hedged."""
    graphs = scene_graphs([row["caption"] or "" for row in rows])
    read = [(name, getattr(graph, name, ())) for graph in graphs for name in ("objects", "people", "negated", "hedged")]
    return [f"{name}: {listed(list(dict.fromkeys(map(_said, words))))}" for name, words in read if words]


def _said(word: Any) -> str:
    """Return a word, or the first mention of a person with their groups."""
    return word if isinstance(word, str) else f"{word.mentions[0]} ({listed([*word.groups.values()]) or 'no group'})"


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

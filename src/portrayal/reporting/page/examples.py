"""The same questions answered by every system, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from portrayal.reporting.answers.answers import factors_of
from portrayal.reporting.page.section import Section
from portrayal.tables import STIMULI
from portrayal.text.formatting import plain, plural

QUESTIONS = 3  # shown of a captioner or tagger
RANKS = 5  # of a result list
SHOWN_TAGS = 6
MOST_SYSTEMS = 4
FACTORS = 4  # of a stimulus named beside it
NO_ANSWER = "no answer"


def examples_view(section: Section) -> dict[str, Any] | None:
    """Return a table of a few answers with a column per system, or None.

    The questions are spread evenly over the groups, and not chosen by what was answered.
    """
    kind = section.audit.kind
    if section.answers is None or section.stimuli is None or kind not in ROWS or section.answers.is_empty():
        return None
    systems = _systems(section.answers)
    stimuli = _evenly(section.answers, section.stimuli, QUESTIONS if kind != "ranker" else 1)
    if not systems or stimuli.is_empty():
        return None
    title, rows = ROWS[kind](section, systems[:MOST_SYSTEMS], stimuli)
    asked = section.answers["system"].n_unique()
    cut = f" {MOST_SYSTEMS} of {asked} systems." if asked > MOST_SYSTEMS else ""
    return {
        "title": title,
        "text": f"{_chosen(stimuli.height, section.stimuli.height, kind)}{cut}",
        "systems": [(section.measured.shown(name), name in section.simulated) for name in systems[:MOST_SYSTEMS]],
        "rows": rows,
    }


def _chosen(shown: int, whole: int, kind: str) -> str:
    if kind == "ranker":
        return f"The query in the middle of all {whole:,}."
    return f"{plural(shown, 'question')} of {whole:,}, spread evenly over what was varied and not chosen by what was answered."


def _systems(answers: pl.DataFrame) -> list[str]:
    """Return the systems that answered anything."""
    return answers.filter(pl.col("texts").list.len() > 0)["system"].unique(maintain_order=True).to_list()


def _evenly(answers: pl.DataFrame, stimuli: pl.DataFrame, count: int) -> pl.DataFrame:
    answered = answers.filter(pl.col("texts").list.len() > 0).select("stimulus").unique()
    there = stimuli.join(answered, on="stimulus", how="semi", maintain_order="left")
    there = there.sort(list(factors_of(there)), maintain_order=True) if factors_of(there) else there
    places = [(2 * place + 1) * there.height // (2 * count) for place in range(count)]
    return there[sorted({place for place in places if place < there.height})]


def _texts(section: Section, system: str, stimulus: str) -> list[str]:
    answers = pl.DataFrame() if section.answers is None else section.answers
    found = answers.filter(pl.col("system") == system, pl.col("stimulus") == stimulus, pl.col("repeat") == 0)
    return found["texts"][0].to_list() if found.height else []


def _captions(section: Section, systems: Sequence[str], stimuli: pl.DataFrame) -> tuple[str, list[Any]]:
    rows = [
        (_about(row, section), [(_texts(section, name, row["stimulus"]) or [NO_ANSWER])[0] for name in systems])
        for row in stimuli.iter_rows(named=True)
    ]
    return "The same pictures, as each system describes them", rows


def _tags(section: Section, systems: Sequence[str], stimuli: pl.DataFrame) -> tuple[str, list[Any]]:
    rows = [
        (
            _about(row, section),
            [", ".join(_texts(section, name, row["stimulus"])[:SHOWN_TAGS]) or NO_ANSWER for name in systems],
        )
        for row in stimuli.iter_rows(named=True)
    ]
    return "The same questions, as each system answers them", rows


def _lists(section: Section, systems: Sequence[str], stimuli: pl.DataFrame) -> tuple[str, list[Any]]:
    query = stimuli.row(0, named=True)
    listed = [_texts(section, name, query["stimulus"])[:RANKS] for name in systems]
    rows = [
        (f"{rank + 1}", [_document(section, docs[rank]) if rank < len(docs) else NO_ANSWER for docs in listed])
        for rank in range(max(map(len, listed), default=0))
    ]
    return f"The first results for the query “{query['content']}”", rows


def _document(section: Section, doc: str) -> str:
    return section.documents.get(doc, doc)


def _about(row: Mapping[str, Any], section: Section) -> str:
    """Name a stimulus by what was varied in it; a picture is never shown here."""
    told = [
        f"{plain(name)}: {section.level_names.get(name, {}).get(str(value), value)}"
        for name, value in row.items()
        if name not in STIMULI and isinstance(value, str) and value and len(value) < 40
    ]
    return ", ".join(told[:FACTORS]) or str(row["stimulus"])


# An encoder answers with numbers, and labels of generated images are better counted than read.
ROWS = {"captioner": _captions, "tagger": _tags, "ranker": _lists}

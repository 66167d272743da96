"""Pages of the answers behind the rows of a section."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from portrayal.reporting.answers.answers import factors_of, narrowed_rows
from portrayal.reporting.answers.behind import Behind
from portrayal.reporting.page.section import Section
from portrayal.tables import STIMULI
from portrayal.text.formatting import cell, number, plain

MOST_ANSWERS = 40  # on a page, evenly spread; the table beside it has them all
MOST_READ = 8  # tags or documents of one answer
MOST_FACTORS = 6
TEXTS = ("text", "prompt", "query")


@dataclass(frozen=True)
class Traced:
    """Files of the answers behind the rows of a section."""

    section: Section
    choices: Sequence[Behind]  # the different ones
    of_row: Sequence[int]  # for each row of the results the number of its choice
    factors: Sequence[str] = ()  # of the stimuli, told beside each answer
    stimuli: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by their ids

    def addresses(self) -> list[str]:
        """Return the file with the answers behind each row; none without answers."""
        return [self.file(choice) for choice in self.of_row]

    def file(self, choice: int) -> str:
        """Return the name of the page with the answers of a choice."""
        return f"{self.section.anchor}-answers-{choice + 1}.html"


def trace(section: Section) -> Traced:
    """Find the answers behind every row of a section."""
    if section.answers is None or section.stimuli is None or section.bases is None:
        return Traced(section, [], [])
    factors = factors_of(section.stimuli)
    places: dict[str, int] = {}
    choices: list[Behind] = []
    of_row: list[int] = []
    for row in section.measured.results.iter_rows(named=True):
        found = section.bases.behind(row)
        key = repr(found.chosen)
        if key not in places:
            places[key] = len(choices)
            choices.append(found)
        of_row.append(places[key])
    told = {row["stimulus"]: row for row in section.stimuli.iter_rows(named=True)}
    return Traced(section, choices, of_row, list(factors)[:MOST_FACTORS], told)


def answers_view(traced: Traced, choice: int) -> dict[str, Any]:
    """Return the content of one page: its answers, as a table."""
    section, found = traced.section, traced.choices[choice]
    answers = _all_answers(section)
    rows = narrowed_rows(answers, _stimuli(section), found.chosen)
    step = max(1, -(-len(rows) // MOST_ANSWERS))
    shown = answers[rows.gather_every(step)]
    of = ", ".join(map(section.measured.shown, found.chosen.systems)) or "all systems"
    return {
        "systems": of,
        "narrowed": list(found.narrowed_by),
        "whole": len(rows),
        "columns": ["system", "shown", *map(plain, traced.factors), "status", "answer"],
        "rows": [_cells(row, traced) for row in shown.iter_rows(named=True)],
        "behind": [number for number, at in enumerate(traced.of_row, start=1) if at == choice],
    }


def answers_table(section: Section) -> pl.DataFrame:
    """Return all answers of a section with factors, status and readings as JSON."""
    answers, stimuli = _all_answers(section), _stimuli(section)
    factors = [name for name in stimuli.columns if name not in STIMULI and not stimuli[name].dtype.is_nested()]
    read = pl.col("texts").map_elements(
        lambda texts: json.dumps(texts.to_list(), ensure_ascii=False), return_dtype=pl.String
    )
    taken = set(answers.columns)
    own = stimuli.select(
        "stimulus", *(pl.col(name).alias(f"{name} shown" if name in taken else name) for name in factors)
    )
    return (
        answers.with_columns(read=read)
        .drop("texts", "scores")
        .join(own, on="stimulus", how="left", maintain_order="left")
    )


def _all_answers(section: Section) -> pl.DataFrame:
    return pl.DataFrame() if section.answers is None else section.answers


def _stimuli(section: Section) -> pl.DataFrame:
    return pl.DataFrame() if section.stimuli is None else section.stimuli


def _cells(row: dict[str, Any], traced: Traced) -> list[str]:
    section, shown = traced.section, traced.stimuli[row["stimulus"]]
    content = shown["content"] if shown["kind"] in TEXTS else shown["stimulus"]
    levels = [section.level_names.get(name, {}).get(str(shown[name]), cell(shown[name])) for name in traced.factors]
    return [section.measured.shown(row["system"]), str(content), *levels, row["status"], _read(row, section)]


def _read(row: dict[str, Any], section: Section) -> str:
    """Write what was read from an answer: its first texts, with their scores."""
    texts = [section.documents.get(text, text) for text in row["texts"][:MOST_READ]]
    scores = row["scores"][:MOST_READ]
    told = [text if score is None else f"{text} ({number(score)})" for text, score in zip(texts, scores, strict=False)]
    more = len(row["texts"]) - len(told)
    return f"{'; '.join(told)}{f'; {more} more' if more > 0 else ''}" or (row["reason"] or "")

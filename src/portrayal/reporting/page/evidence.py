"""Answers beside a section: those behind each row, and a few examples."""

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
from portrayal.text.formatting import cell, number, plain, plural

MOST_ANSWERS = 40  # on a page, evenly spread; the table beside it has them all
MOST_READ = 8  # tags or documents of one answer
MOST_FACTORS = 6
TEXTS = ("text", "prompt", "query")
# Of the examples: questions of a captioner or tagger, ranks of a result list, tags, systems, factors named beside a stimulus.
QUESTIONS, RANKS, SHOWN_TAGS, MOST_SYSTEMS, FACTORS = 3, 5, 6, 4, 4
NO_ANSWER = "no answer"
# An encoder answers with numbers, and labels of generated images are better counted than read.
TITLES = {
    "captioner": "The same pictures, as each system describes them",
    "tagger": "The same questions, as each system answers them",
    "ranker": "The first results for the query “{content}”",
}


@dataclass(frozen=True)
class Traced:
    """Files of the answers behind the rows of a section."""

    section: Section
    choices: Sequence[Behind] = ()  # the different ones
    of_row: Sequence[int] = ()  # for each row of the results the number of its choice
    factors: Sequence[str] = ()  # of the stimuli, told beside each answer
    stimuli: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by their ids

    def addresses(self) -> list[str]:
        """Return the file with the answers behind each row; none without answers."""
        return [f"{self.section.anchor}-answers-{choice + 1}.html" for choice in self.of_row]

    def pages(self) -> list[str]:
        """Return the names of the pages: all rows, then the answers of each choice."""
        answers = (f"{self.section.anchor}-answers-{number}.html" for number in range(1, len(self.choices) + 1))
        return [f"{self.section.anchor}.html", *answers]


def trace(section: Section) -> Traced:
    """Find the answers behind every row of a section."""
    if section.answers is None or section.stimuli is None or section.bases is None:
        return Traced(section)
    factors = factors_of(section.stimuli)
    places: dict[str, int] = {}
    choices: list[Behind] = []
    of_row: list[int] = []
    for row in section.measured.results.iter_rows(named=True):
        choice = section.bases.behind(row)
        of_row.append(places.setdefault(repr(choice.chosen), len(choices)))
        if of_row[-1] == len(choices):
            choices.append(choice)
    stimuli = {row["stimulus"]: row for row in section.stimuli.iter_rows(named=True)}
    return Traced(section, choices, of_row, list(factors)[:MOST_FACTORS], stimuli)


def answers_view(traced: Traced, choice: int) -> dict[str, Any]:
    """Return the content of one page: its answers, as a table."""
    section, source = traced.section, traced.choices[choice]
    answers, stimuli = _tables(section)
    rows = narrowed_rows(answers, stimuli, source.chosen)
    step = max(1, -(-len(rows) // MOST_ANSWERS))
    return {
        "systems": ", ".join(map(section.measured.shown, source.chosen.systems)) or "all systems",
        "narrowed": list(source.narrowed_by),
        "whole": len(rows),
        "columns": ["system", "shown", *map(plain, traced.factors), "status", "answer"],
        "rows": [_cells(row, traced) for row in answers[rows.gather_every(step)].iter_rows(named=True)],
        "behind": [number for number, at in enumerate(traced.of_row, start=1) if at == choice],
    }


def answers_table(section: Section) -> pl.DataFrame:
    """Return all answers of a section with factors, status and readings as JSON."""
    answers, stimuli = _tables(section)
    factors = [name for name in stimuli.columns if name not in STIMULI and not stimuli[name].dtype.is_nested()]
    renamed = {name: f"{name} shown" for name in factors if name in answers.columns}
    texts = [json.dumps(one, ensure_ascii=False) for one in answers["texts"].to_list()]
    read = answers.with_columns(read=pl.Series(texts, dtype=pl.String)).drop("texts", "scores")
    own = stimuli.select("stimulus", *factors).rename(renamed)
    return read.join(own, on="stimulus", how="left", maintain_order="left")


def _tables(section: Section) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return answers and stimuli, empty where they are not at hand."""
    answers, stimuli = section.answers, section.stimuli
    return pl.DataFrame() if answers is None else answers, pl.DataFrame() if stimuli is None else stimuli


def _cells(row: dict[str, Any], traced: Traced) -> list[str]:
    section, about = traced.section, traced.stimuli[row["stimulus"]]
    content = about["content"] if about["kind"] in TEXTS else about["stimulus"]
    levels = [section.level_names.get(name, {}).get(str(about[name]), cell(about[name])) for name in traced.factors]
    # Of what was read from the answer the first texts, with their scores.
    texts = [section.documents.get(text, text) for text in row["texts"][:MOST_READ]]
    scored = zip(texts, row["scores"][:MOST_READ], strict=False)
    read = [text if score is None else f"{text} ({number(score)})" for text, score in scored]
    more = len(row["texts"]) - len(read)
    answer = f"{'; '.join(read)}{f'; {more} more' if more > 0 else ''}" or (row["reason"] or "")
    return [section.measured.shown(row["system"]), str(content), *levels, row["status"], answer]


def examples_view(section: Section) -> dict[str, Any] | None:
    """Return a table of a few answers with a column per system, or None.

    The questions are spread evenly over the groups, and not chosen by what was answered.
    """
    kind = section.audit.kind
    if section.answers is None or section.stimuli is None or kind not in TITLES:
        return None
    answered = section.answers.filter(pl.col("texts").list.len() > 0)
    systems = answered["system"].unique(maintain_order=True).to_list()[:MOST_SYSTEMS]
    stimuli = _evenly(section.stimuli, answered, QUESTIONS if kind != "ranker" else 1)
    if stimuli.is_empty():
        return None
    total, whole = section.answers["system"].n_unique(), section.stimuli.height
    if kind == "ranker":
        text, rows = f"The query in the middle of all {whole:,}.", _ranks(section, answered, systems, stimuli)
    else:
        spread = "spread evenly over what was varied and not chosen by what was answered"
        text = f"{plural(stimuli.height, 'question')} of {whole:,}, {spread}."
        rows = [
            (_about(row, section), [_read(_texts(answered, name, row), kind) for name in systems])
            for row in stimuli.iter_rows(named=True)
        ]
    return {
        "title": TITLES[kind].format(content=stimuli["content"][0]),
        "text": f"{text} {MOST_SYSTEMS} of {total} systems." if total > MOST_SYSTEMS else text,
        "systems": [(section.measured.shown(name), name in section.simulated) for name in systems],
        "rows": rows,
    }


def _evenly(stimuli: pl.DataFrame, answered: pl.DataFrame, count: int) -> pl.DataFrame:
    there = stimuli.join(answered.select("stimulus").unique(), on="stimulus", how="semi", maintain_order="left")
    factors = list(factors_of(there))
    there = there.sort(factors, maintain_order=True) if factors else there
    places = [(2 * place + 1) * there.height // (2 * count) for place in range(count)]
    return there[sorted({place for place in places if place < there.height})]


def _texts(answered: pl.DataFrame, system: str, stimulus: Mapping[str, Any]) -> list[str]:
    own = answered.filter(pl.col("system") == system, pl.col("stimulus") == stimulus["stimulus"], pl.col("repeat") == 0)
    return own["texts"][0].to_list() if own.height else []


def _read(texts: Sequence[str], kind: str) -> str:
    return (texts[0] if texts and kind == "captioner" else ", ".join(texts[:SHOWN_TAGS])) or NO_ANSWER


def _ranks(section: Section, answered: pl.DataFrame, systems: Sequence[str], stimuli: pl.DataFrame) -> list[Any]:
    """Return the first documents of every system's list for one query, by rank."""
    lists = [_texts(answered, name, stimuli.row(0, named=True))[:RANKS] for name in systems]
    titles = [[section.documents.get(doc, doc) for doc in docs] for docs in lists]
    longest = max(map(len, titles), default=0)
    return [
        (f"{rank + 1}", [docs[rank] if rank < len(docs) else NO_ANSWER for docs in titles]) for rank in range(longest)
    ]


def _about(row: Mapping[str, Any], section: Section) -> str:
    """Name a stimulus by what was varied in it; a picture is never shown here."""
    levels = [
        f"{plain(name)}: {section.level_names.get(name, {}).get(str(value), value)}"
        for name, value in row.items()
        if name not in STIMULI and isinstance(value, str) and value and len(value) < 40
    ]
    return ", ".join(levels[:FACTORS]) or str(row["stimulus"])

"""Sentences of the captions audit, one for each test."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions.measures import group_words
from portrayal.audits.captions.measures.cases import JUDGED
from portrayal.audits.captions.measures.standing_null import ALSO, HELD
from portrayal.audits.captions.measures.technique import ESTIMATE, UPPER
from portrayal.audits.captions.reading.stages import HUMAN_SAME, SYSTEM_CAPTIONS, TOLERANCES
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.reporting.words.sentences import Claim, Row, other_side, say, written
from portrayal.stats.decisions.decision import CONFIRMATORY
from portrayal.study.audit import Finding, Measured
from portrayal.text.formatting import listed, percent

TEXTS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8"))
CLAUSES = ("positive", "asks", "negative", "where")
NAMES_OF_ROWS = ("system", "measure", "quantity", "axis", "group", "versus")


def _claim(texts: Mapping[str, Any]) -> Claim:
    clauses: dict[str, Any] = {name: _filled(texts[name]) for name in CLAUSES if name in texts}
    says = clauses["positive"]
    if "{tolerance}" in texts["positive"]:
        clauses["positive"] = lambda row: f"{says(row)}{_known_by(row)}"
    return Claim(**clauses, figure=texts.get("figure", ""), turned=texts.get("turned", False))


def _known_by(row: Row) -> str:
    """Say that a level is a bound, or an estimate from judgments."""
    return ", by an upper bound" if row["bound"] == UPPER else ", as judged by people" if _judged(row) else ""


def _filled(template: str) -> Callable[[Row], str]:
    return lambda row: template.format_map(_words(row))


def _words(row: Row) -> Row:
    words = {name: "" if item is None else item for name, item in row.items()}
    gender = "marks the gender of people annotated {group} with an adjective"
    marks = gender if row["subject"] == "gender" else "names the {subject} of people annotated {group}"
    about = {"marks": marks.format_map(words), "nouns": f"{row['quantity'].split()[0]}s"}
    return {**words, **about, "tolerance": percent(row["null"] or 0.0, 1)}


COUNTS = tuple(test for test, claim in TEXTS["claims"].items() if "{tolerance}" in claim["positive"])
CLAIMS = {test: _claim(texts) for test, texts in TEXTS["claims"].items()}
DECLARED = {test: _claim(texts) for test, texts in TEXTS["declared"].items()}


def find_sentences(measured: Measured, settings: CaptionsSettings) -> list[Finding]:
    """Return the sentences of every test, findings first and the surest before."""
    if "stage" not in measured.results.columns:
        return []
    unmeasured = pl.col("null").is_null() & pl.col("measure").is_in(COUNTS)
    let_pass = pl.col("measure").replace_strict(
        {**TOLERANCES, **settings.tolerances}, default=settings.tolerance, return_dtype=pl.Float64
    )
    null = pl.when(unmeasured).then(let_pass).otherwise("null").alias("null")
    measured = replace(
        measured, results=measured.results.with_columns(pl.col("null").fill_nan(None)).with_columns(null)
    )
    declared = not measured.results.filter(pl.col("measure").is_in([*DECLARED]), family=CONFIRMATORY).is_empty()
    beside = partial(_beside, measured.results)
    after = {group_words.TEST: lambda row: f"{_openness(measured.results, row)} {beside(row)}"}
    claims = {
        test: replace(claim, after=after.get(test, beside), always_where=claim.where is not None)
        for test, claim in {**CLAIMS, **(DECLARED if declared else {})}.items()
    }
    said = say(measured, claims, pl.col("stage") == SYSTEM_CAPTIONS)
    kinds = measured.results.get_column("kind", default=pl.repeat(None, measured.results.height, eager=True))
    own, shared = ([one for one in said if (kinds[one.row] == ALSO) is kind] for kind in (False, True))
    return [*own, *(replace(one, sentence=f"{ALSO.capitalize()}: {one.sentence}") for one in shared)]


def _beside(results: pl.DataFrame, row: Row) -> str:
    """Return a sentence on the human captions of the same images, if measured alike."""
    original = results.row(row["row"], named=True)
    judged = _judged(original)
    same = [pl.col(name).eq_missing(pl.lit(original[name])) for name in NAMES_OF_ROWS]
    human = results.filter(pl.col("stage") == HUMAN_SAME, *same)
    if human.is_empty():  # of what only held-out captions can be measured by
        human = results.filter(pl.col("system") == HELD, *same[1:])
    if human.is_empty() or human["value"][0] is None:
        return judged
    theirs: Row = human.row(0, named=True)
    value, ends = written(other_side(theirs) if row["group"] != original["group"] else theirs)
    return f"{judged} In the human captions of the same images it is {value} (95% interval {ends}).".lstrip()


def _judged(row: Row) -> str:
    """Say who judged how much, where people's judgments stand in the place of a bound."""
    who = str(row["note"] or "").partition(";")[0]
    return f"It is estimated from people's judgments: {who}." if JUDGED in who and row["bound"] == ESTIMATE else ""


def _openness(results: pl.DataFrame, row: Row) -> str:
    """Return neutral wording and omission, because a group never named is never named wrongly."""
    rows = results.filter(
        *(pl.col(name) == row[name] for name in ("technique", "system", "axis")),
        pl.col("stage") == SYSTEM_CAPTIONS,
        pl.col("versus").is_null(),
        pl.col("group").is_in([row["group"], row["versus"]]),
    ).sort("group")
    parts = []
    for quantity in (group_words.NEUTRAL, group_words.OMITTED):
        mine = rows.filter(pl.col("measure") == quantity).select("group", "value")
        parts.append(f"{quantity}: {listed([f'{group} {percent(value, 1)}' for group, value in mine.iter_rows()])}")
    return f"Beside it, {'; '.join(parts)}."

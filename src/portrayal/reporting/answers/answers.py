"""Answers as a reader meets them: one row per question, filtered on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from portrayal.tables import STIMULI

# The column that says what an answer holds, and the number beside it.
READ: Mapping[str, tuple[str, str | None]] = {
    "tagger": ("tag", "confidence"),
    "captioner": ("caption", None),
    "encoder": ("embedding", None),
    "ranker": ("doc", "score"),
    "generator": ("label", "score"),
}
LABELLED = ("tagger", "generator")
MOST_LEVELS = 60  # of a factor one can choose from
MOST_STEPS = 20  # of a number: more are a measurement and not a choice
MOST_LABELS = 400


def answers_of(responses: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return one row per question, with `texts` and `scores` read from the answer."""
    main, number = READ[kind]
    if "reason" not in responses.columns:
        responses = responses.with_columns(reason=pl.lit(None, pl.String))
    if kind == "encoder":
        width = pl.format("a vector of {} numbers", pl.col("embedding").list.len())
        responses = responses.with_columns(embedding=pl.when(pl.col("embedding").is_not_null()).then(width))
    if kind == "ranker":
        responses = responses.sort("system", "stimulus", "repeat", "rank", maintain_order=True)
    score = pl.lit(None, pl.Float64) if number is None else pl.col(number)
    there = pl.col(main).is_not_null()
    return responses.group_by("system", "stimulus", "repeat", maintain_order=True).agg(
        pl.col("status").first(), pl.col("reason").first(), texts=pl.col(main).filter(there), scores=score.filter(there)
    )


def factors_of(stimuli: pl.DataFrame) -> dict[str, list[str]]:
    """Return the factors of the stimuli one can choose by, with their levels as text."""
    found = {}
    for name in stimuli.columns:
        if name in STIMULI or stimuli[name].dtype.is_nested():
            continue
        levels = stimuli[name].drop_nulls().unique().sort().cast(pl.String).to_list()
        levels = [level for level in levels if level]
        most = MOST_STEPS if stimuli[name].dtype.is_float() else MOST_LEVELS
        if 1 < len(levels) <= most:
            found[name] = levels
    return found


def labels_of(answers: pl.DataFrame, kind: str) -> list[str]:
    """Return the labels systems gave, the commonest first; captions and documents have none."""
    if kind not in LABELLED:
        return []
    counted = answers.select(pl.col("texts").explode()).drop_nulls().to_series().value_counts()
    return counted.sort(["count", "texts"], descending=[True, False])["texts"].head(MOST_LABELS).to_list()


@dataclass(frozen=True)
class Chosen:
    """A reader's choice; an empty field selects everything."""

    systems: Sequence[str] = ()
    status: str = ""
    label: str = ""
    words: str = ""  # in the stimulus or in what was read
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)  # a level of each
    stimuli: Sequence[str] = ()


def narrowed(answers: pl.DataFrame, stimuli: pl.DataFrame, chosen: Chosen) -> pl.DataFrame:
    """Return the answers that match what was chosen, in their order."""
    return answers[narrowed_rows(answers, stimuli, chosen)]


def narrowed_rows(answers: pl.DataFrame, stimuli: pl.DataFrame, chosen: Chosen) -> pl.Series:
    """Return the numbers of the rows that `narrowed` returns."""
    wanted = stimuli.filter(matching(stimuli, chosen))["stimulus"]
    conditions = [pl.col("stimulus").is_in(wanted.implode())]
    if chosen.systems:
        conditions.append(pl.col("system").is_in(list(chosen.systems)))
    if chosen.status:
        conditions.append(pl.col("status") == chosen.status)
    if chosen.label:
        conditions.append(pl.col("texts").list.contains(chosen.label))
    if chosen.words:
        words = chosen.words.lower()
        told = pl.col("texts").list.join(" "), pl.col("stimulus")
        conditions.append(pl.any_horizontal(one.str.to_lowercase().str.contains(words, literal=True) for one in told))
    return answers.select(pl.arg_where(pl.all_horizontal(conditions))).to_series()


def matching(stimuli: pl.DataFrame, chosen: Chosen) -> pl.Expr:
    """Return the condition on stimuli that a choice stands for."""
    conditions = [
        pl.col(name).cast(pl.String).is_in(list(levels))
        for name, levels in chosen.factors.items()
        if levels and name in stimuli.columns
    ]
    if chosen.stimuli:
        conditions.append(pl.col("stimulus").is_in(list(chosen.stimuli)))
    return pl.all_horizontal(conditions) if conditions else pl.lit(True)


def raw_text(raw: bytes, most: int = 20_000) -> str:
    """Return an answer's bytes as text, or their number where they are no text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"({len(raw):,} bytes that are no text)"
    return text if len(text) <= most else f"{text[:most]}\n... ({len(text) - most:,} more characters)"


def one_answer(answers: pl.DataFrame, system: str, stimulus: str, repeat: int) -> dict[str, Any] | None:
    """Return one answer's row, or None."""
    found = answers.filter(pl.col("system") == system, pl.col("stimulus") == stimulus, pl.col("repeat") == repeat)
    return found.row(0, named=True) if found.height else None

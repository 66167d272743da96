"""Answers as a reader meets them: one row per question, filtered on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    factors = {}
    for name in stimuli.columns:
        if name not in STIMULI and not stimuli[name].dtype.is_nested():
            levels = list(filter(None, stimuli[name].drop_nulls().unique().sort().cast(pl.String)))
            if 1 < len(levels) <= (MOST_STEPS if stimuli[name].dtype.is_float() else MOST_LEVELS):
                factors[name] = levels
    return factors


def labels_of(answers: pl.DataFrame, kind: str) -> list[str]:
    """Return the labels systems gave, the commonest first; captions and documents have none."""
    if kind not in ("tagger", "generator"):
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
    return answers.filter(*_conditions(stimuli, chosen))


def narrowed_rows(answers: pl.DataFrame, stimuli: pl.DataFrame, chosen: Chosen) -> pl.Series:
    """Return the numbers of the rows that `narrowed` returns."""
    return answers.select(pl.arg_where(pl.all_horizontal(*_conditions(stimuli, chosen)))).to_series()


def _conditions(stimuli: pl.DataFrame, chosen: Chosen) -> Iterator[pl.Expr]:
    wanted = [pl.col(name).cast(pl.String).is_in(list(levels)) for name, levels in chosen.factors.items()
              if levels and name in stimuli.columns]  # fmt: skip
    if chosen.stimuli:
        wanted.append(pl.col("stimulus").is_in(list(chosen.stimuli)))
    yield pl.col("stimulus").is_in((stimuli.filter(*wanted) if wanted else stimuli)["stimulus"].implode())
    if chosen.systems:
        yield pl.col("system").is_in(list(chosen.systems))
    if chosen.status:
        yield pl.col("status") == chosen.status
    if chosen.label:
        yield pl.col("texts").list.contains(chosen.label)
    if chosen.words:
        texts = (one.str.to_lowercase() for one in (pl.col("texts").list.join(" "), pl.col("stimulus")))
        yield pl.any_horizontal(text.str.contains(chosen.words.lower(), literal=True) for text in texts)


def raw_text(raw: bytes, most: int = 20_000) -> str:
    """Return an answer's bytes as text, or their number where they are no text."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"({len(raw):,} bytes that are no text)"
    return text if len(text) <= most else f"{text[:most]}\n... ({len(text) - most:,} more characters)"


def one_answer(answers: pl.DataFrame, system: str, stimulus: str, repeat: int) -> dict[str, Any] | None:
    """Return one answer's row, or None."""
    row = answers.filter(pl.col("system") == system, pl.col("stimulus") == stimulus, pl.col("repeat") == repeat)
    return row.row(0, named=True) if row.height else None

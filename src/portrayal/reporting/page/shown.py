"""Stimuli in numbers: kinds, factors, origins and examples."""

from __future__ import annotations

from typing import Any

import polars as pl

from portrayal.tables import STIMULI
from portrayal.text.formatting import cell, listed, plain, plural

LEVELS = 8  # of a factor named one by one
FACTORS = 10
EXAMPLES = 6
LONGEST = 140  # letters of an example
TEXTS = ("text", "prompt", "query")
MANY = {"query": "queries"}
NOT_RECORDED = "not recorded"  # consent: to leave it out would let backgrounds speak for the people before them


def shown_view(stimuli: pl.DataFrame | None) -> dict[str, Any] | None:
    """Return counts, factors, origins and examples; nothing when the stimuli are not at hand.

    Pictures are counted and never shown: a report holds no picture of a person.
    """
    if stimuli is None or stimuli.is_empty():
        return None
    rows = [(plain(name), levels) for name in _varied(stimuli) if (levels := _levels(stimuli[name]))]
    origins = [(name, levels) for name in ("source", "license") if (levels := _levels(stimuli[name]))]
    consent = stimuli["consent"].replace({"": NOT_RECORDED}).fill_null(NOT_RECORDED)
    return {
        "sentence": _kinds(stimuli["kind"]),
        "rows": [*rows[:FACTORS], *origins, ("consent", _levels(consent))],
        "examples": _examples(stimuli),
    }


def _varied(stimuli: pl.DataFrame) -> list[str]:
    """Return the factors that differ between stimuli; one that never does tells nothing."""
    factors = [name for name in stimuli.columns if name not in STIMULI]
    flat = [name for name in factors if not stimuli[name].dtype.is_nested()]
    return [name for name in flat if stimuli[name].n_unique() > 1]


def _kinds(kinds: pl.Series) -> str:
    counted = kinds.value_counts(sort=True).iter_rows()
    return listed([plural(amount, str(kind), MANY.get(str(kind))) for kind, amount in counted])


def _levels(column: pl.Series) -> str:
    """Name the levels of a factor with counts, or their number if many."""
    known = column.drop_nulls()
    known = known.filter(known != "") if known.dtype == pl.String else known
    if known.is_empty():
        return ""
    different = known.n_unique()
    if different > LEVELS:
        return f"{different:,} different{_range(known)}"
    if different == 1:
        return cell(known[0])
    counted = known.value_counts(sort=True).sort(known.name).iter_rows()
    return ", ".join(f"{cell(level)} ({amount:,})" for level, amount in counted)


def _range(known: pl.Series) -> str:
    return f", {cell(known.min())} to {cell(known.max())}" if known.dtype.is_numeric() else ""


def _examples(stimuli: pl.DataFrame) -> list[str]:
    """Return example texts from all over the table."""
    texts = stimuli.filter(pl.col("kind").is_in(TEXTS))["content"]
    step = max(1, len(texts) // EXAMPLES)
    chosen = texts.gather_every(step).head(EXAMPLES).to_list()
    if sum(map(len, chosen)) > 3 * LONGEST:
        chosen = chosen[::2]
    return [text if len(text) <= LONGEST else f"{text[:LONGEST]} …" for text in chosen]

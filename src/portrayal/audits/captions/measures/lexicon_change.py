"""What a change of a word list does to a result: the same technique with both lists, row by row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import FACETS, ROWS
from portrayal.audits.captions.measures.stages import Stages
from portrayal.audits.captions.measures.techniques import TECHNIQUES
from portrayal.text.words.harm_lists import read_list

_KEY = ["measure", "group", "versus", *FACETS]


def compare(stages: Stages, technique: str, name: str, path: Path, options: Options | None = None) -> pl.DataFrame:
    """Return the rows of a technique with the list that ships and with the file, and the difference."""
    options = options or Options()
    changed = replace(options, lists={**options.lists, name: read_list(name, path)})
    before, after = (_rows(technique, stages, chosen) for chosen in (options, changed))
    joined = before.join(after, on=_KEY, how="full", coalesce=True, suffix="_changed", nulls_equal=True)
    return joined.with_columns((pl.col("value_changed") - pl.col("value")).alias("change"))


def _rows(technique: str, stages: Stages, options: Options) -> pl.DataFrame:
    outcome = TECHNIQUES[technique].measure(stages, options)
    table = pl.DataFrame([{key: r.get(key) for key in ROWS} for r in outcome.rows], schema=ROWS)
    return table.select(*_KEY, "value", "low", "high", "n")

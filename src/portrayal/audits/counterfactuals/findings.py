"""What a study found, in sentences, each with its row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.settings import CounterfactualsSettings
from portrayal.report.words import estimate, interval, percent
from portrayal.runs.audit import Finding, Measured


def find_sentences(measured: Measured, settings: CounterfactualsSettings) -> list[Finding]:
    """Say, for each system, which labels follow the cue most, and how often anything changes at all."""
    rows = measured.results.with_row_index("place")
    return [*_slopes(rows, settings.poles), *_flips(rows)]


def _slopes(rows: pl.DataFrame, poles: list[str]) -> Iterator[Finding]:
    """Tell the two steepest labels whose interval lies clear of zero, or that there is none."""
    whole = pl.col("low").is_not_null() & ~pl.col("note").str.contains("plain")
    slopes = rows.filter((pl.col("measure") == "slope") & whole).sort(pl.col("value").abs(), descending=True)
    for (system, attribute), mine in slopes.group_by("system", "group", maintain_order=True):
        apart = mine.filter((pl.col("low") > 0) | (pl.col("high") < 0))
        for row in apart.head(2).iter_rows(named=True):
            yield Finding(_sentence(row, poles), row["place"])
        if apart.is_empty():
            sentence = f"For {system}, no label's interval along {attribute} lies clear of zero ({mine.height} labels with an interval)."
            yield Finding(sentence, mine["place"][0])


def _flips(rows: pl.DataFrame) -> Iterator[Finding]:
    for row in rows.filter(pl.col("measure") == "any_flip").iter_rows(named=True):
        sentence = (
            f"For {row['system']}, {percent(row['value'])} of {row['n']} source images get another label somewhere along "
            f"{row['group']}, with nothing else changed."
        )
        yield Finding(sentence, row["place"])


def _sentence(row: dict[str, Any], poles: list[str]) -> str:
    """Name the end of the axis towards which the label comes more often."""
    gender = ("looks more feminine", "looks more masculine")
    ends = (
        gender if row["group"] == "gender" else tuple(f"is moved towards the pole {pole!r}" for pole in poles)
    )
    slope = row["value"], row["low"], row["high"]
    return (
        f"{row['system']} gives {row['contrast']!r} more often as a face {ends[row['value'] > 0]}: "
        f"slope {estimate(*slope)} of its rate at the centre per unit (95% interval {interval(*slope)}, {row['n']} source images)."
    )

"""What a reader must know before the numbers: people left out, places not recognised, groups too small."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.report.words import percent


def warnings_of(
    results: pl.DataFrame, unusable: Sequence[tuple[str, str]], factors: Sequence[str]
) -> list[str]:
    """Return the warnings for the top of the report."""
    return [
        *_left_out(unusable),
        *_unrecognised(results),
        *_small_cells(results, factors),
        *_low_coverage(results),
    ]


def _left_out(unusable: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{person} was left out: {reason}" for person, reason in unusable]


def _unrecognised(results: pl.DataFrame) -> list[str]:
    rows = results.filter(pl.col("measure") == "recognised_background")
    found = []
    for (system,), part in rows.group_by("system", maintain_order=True):
        rare = part.filter(pl.col("value") < 0.1)["group"].str.split(" | ").list.last().to_list()
        if rare:
            named = f" ({', '.join(rare)})" if len(rare) <= 6 else ""
            found.append(
                f"{system} recognises {len(rare)} of {part.height} backgrounds{named} in under 10% of pictures."
            )
    return found


def _small_cells(results: pl.DataFrame, factors: Sequence[str]) -> list[str]:
    rows = results.filter((pl.col("measure") == "distance") & pl.col("note").str.starts_with("NA:"))
    cells = rows["group"].str.split(" | ").list.last().unique().sort().to_list()
    if not cells:
        return []
    return [f"Groups of {' and '.join(factors)} with fewer than three people are NA: {'; '.join(cells)}."]


def _low_coverage(results: pl.DataFrame) -> list[str]:
    rows = results.filter(
        (pl.col("measure") == "coverage") & (pl.col("group") == "known") & (pl.col("value") < 0.8)
    )
    return [
        f"The typology knows {percent(value)} of {system}'s tags; the others wait in reviews.csv."
        for system, value in rows.select("system", "value").iter_rows()
    ]

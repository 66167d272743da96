"""Reading results back after the groups were given other names.

The new names stand in another order in the alphabet, so code that goes by the order of names would show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

# Units without a sign, whatever the contrast.
COUNTS = ("object types", "summed squared differences of shares", "change of the summed squared differences of shares")
KEPT = ("audit", "system", "measure", "decision", "family")
RATIOS = ("ratio",)  # units of contrasts that are quotients


def with_old_names(table: pl.DataFrame, new_names: Mapping[str, str]) -> pl.DataFrame:
    """Return the table with the old names in it; `new_names` are those of each old one."""
    old = {new: name for name, new in new_names.items()}
    texts = [name for name, kind in table.schema.items() if kind == pl.String and name not in KEPT]
    return table.with_columns(pl.col(texts).str.replace_many(old))


def facing_one_way(table: pl.DataFrame) -> pl.DataFrame:
    """Turn every contrast so that its first side comes first in the alphabet."""
    rows = [_turned(row) for row in table.iter_rows(named=True)]
    return pl.DataFrame(rows, schema=table.schema)


def _turned(row: dict) -> dict:
    if None in (row["group"], row["versus"]) or row["versus"] == "the others" or row["group"] <= row["versus"]:
        return row
    turn = (lambda end: 1 / end if end else None) if row["unit"] in RATIOS else (lambda end: -end)
    return {**row, **_ends(row, turn), "group": row["versus"], "versus": row["group"]}


def _ends(row: dict, turn: Callable[[float], float | None]) -> dict:
    if row["unit"] in COUNTS:
        return {}
    names = ("value", "low", "high", "value_if_all", "value_if_none")
    value, low, high, of_all, of_none = (None if row.get(name) is None else turn(row[name]) for name in names)
    bounds = {"value_if_all": of_all, "value_if_none": of_none} if "value_if_all" in row else {}
    return {"value": value, "low": high, "high": low, **bounds}

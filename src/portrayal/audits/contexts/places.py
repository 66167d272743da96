"""Backgrounds: those that ship, or a folder with a CSV of the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.paths import path_inside
from portrayal.errors import PortrayalError
from portrayal.tables import check, read_csv

SHIPPED = Path(__file__).parent / "backgrounds"
BACKGROUNDS = {
    "background": pl.String,
    "context": pl.String,
    "file": pl.String,
    "source": pl.String,
    "license": pl.String,
}


def load_backgrounds(
    folder: Path | str | None = None, per_context: int | None = None, also: Sequence[Path] = ()
) -> pl.DataFrame:
    """Return one row per background: background, context, file (a path that exists), source, license."""
    place = Path(folder or SHIPPED)
    table = place if place.suffix == ".csv" else place / "backgrounds.csv"
    if not table.is_file():
        raise PortrayalError(f"no backgrounds.csv at {table}. It names each background's context and file.")
    frame = check(read_csv(table, "a table of backgrounds"), BACKGROUNDS, table.name, "See docs/contexts.md.")
    frame = frame.with_columns(
        file=pl.Series(
            [str(path_inside(table.parent, name, also, table.name)) for name in frame["file"]], dtype=pl.String
        )
    )
    return frame.filter(pl.int_range(pl.len()).over("context") < per_context) if per_context else frame

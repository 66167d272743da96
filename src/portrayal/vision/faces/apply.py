"""What `portrayal faces apply` does: series of a table of pictures, and who was left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from portrayal.vision.faces.attributes import steps, two_poles
from portrayal.vision.faces.build import LEFT_OUT, MANIFEST, Recipe, build
from portrayal.vision.faces.model import open_manipulator
from portrayal.vision.faces.sources import read_pictures


def apply_table(
    table: Path,
    out: Path,
    attributes: Sequence[str],
    poles: Sequence[str],
    model: Path | None = None,
    size: int = 512,
) -> str:
    """Make the series of a table of pictures; returns where they are and what was left out."""
    for attribute in attributes:
        steps(attribute)  # refuses what cannot be varied
    if "race" in attributes:
        two_poles(poles)
    recipe = Recipe(tuple(attributes), tuple(poles), placebo=False, size=size)
    folder = build(
        read_pictures(table), open_manipulator(str(model) if model else None), recipe, out.absolute()
    )
    made, left = pl.read_parquet(folder / MANIFEST), pl.read_parquet(folder / LEFT_OUT)
    reasons = left.group_by("reason").len().sort("reason").iter_rows()
    lines = [
        f"{made.height} pictures in {folder}",
        *(f"{number} picture(s): {reason}" for reason, number in reasons),
    ]
    return "\n".join(lines)

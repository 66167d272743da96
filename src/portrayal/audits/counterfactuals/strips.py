"""Before-and-after strips (Figure 6 of the paper) of generated people."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of, with_poles
from portrayal.audits.counterfactuals.measures.presence import START
from portrayal.edges.sizes import check_pixels
from portrayal.reporting.page.section import file_name

PEOPLE = 6  # a cue


def strip_pictures(stimuli: pl.DataFrame, people: int = PEOPLE) -> dict[str, bytes]:
    """Return a PNG for each axis, one generated person a row; never real people."""
    generated = with_poles(stimuli).filter(pl.col("consent") == "generated")
    found = {}
    for axis in axes_of(generated):
        mine = generated.filter(axis.where())
        one_each = spread(mine).unique("person", keep="first", maintain_order=True)["picture"].head(people)
        rows = [_row_of(mine.filter(pl.col("picture") == picture)) for picture in one_each]
        if png := strip_png([row for row in rows if row]):
            found[strip_name(axis)] = png
    return found


def strip_name(axis: Axis) -> str:
    """Return the name of an axis' strips in a run."""
    return file_name("strip", *axis.names)


def spread(stimuli: pl.DataFrame) -> pl.DataFrame:
    """Put people of different starting groups in turn, so that few rows show all."""
    if START not in stimuli.columns:
        return stimuli
    people = stimuli.unique("person", keep="first", maintain_order=True).select("person", START)
    turn = people.with_columns(turn=pl.int_range(pl.len()).over(START)).select("person", "turn")
    return stimuli.join(turn, on="person", maintain_order="left").sort("turn", maintain_order=True)


def _row_of(series: pl.DataFrame) -> list[str]:
    ordered = series.sort(pl.col("value").fill_null(float("-inf")))
    return [path for path in ordered["content"].to_list() if Path(path).exists()]


def strip_png(rows: Sequence[Sequence[str]], side: int = 128) -> bytes | None:
    """Lay pictures out in rows and return a PNG, or None."""
    from PIL import Image

    if not rows:
        return None
    sheet = Image.new("RGB", (side * max(map(len, rows)), side * len(rows)), "white")
    for down, row in enumerate(rows):
        for across, path in enumerate(row):
            with Image.open(path) as picture:
                check_pixels(picture)
                sheet.paste(_square(picture, side), (across * side, down * side))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def _square(picture: Any, side: int) -> Any:
    """Cut the middle square and shrink it."""
    from PIL import ImageOps

    return ImageOps.fit(picture.convert("RGB"), (side, side), centering=(0.5, 0.35))

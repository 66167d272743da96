"""A contact sheet: every cell of the design at a glance, people down, backgrounds across."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from portrayal.vision.images import open_image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

CELL = (96, 72)
MARGIN = 56


def contact_sheet(manifest: pl.DataFrame, cell: tuple[int, int] = CELL, most_people: int = 40) -> bytes:
    """Return a PNG of all pictures: a row per person (alone first), a column per background (alone in the first row).

    Parameters
    ----------
    manifest
        From `compose_all`.
    cell
        Width and height of one picture on the sheet.
    most_people
        With more people, only so many are shown.
    """
    from PIL import Image, ImageDraw

    backgrounds = manifest.filter(pl.col("role") == "background")["background"].unique().sort().to_list()
    people = manifest.filter(pl.col("role") == "baseline")["person"].unique().sort().to_list()[:most_people]
    size = MARGIN + cell[0] * (len(backgrounds) + 1), 20 + cell[1] * (len(people) + 1)
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    _titles(pen, people, backgrounds, cell)
    for row in manifest.filter(pl.col("file").is_not_null()).iter_rows(named=True):
        _paste(sheet, row, people, backgrounds, cell)
    return _png(sheet)


def _titles(pen: Any, people: Sequence[str], backgrounds: Sequence[str], cell: tuple[int, int]) -> None:
    for place, name in enumerate(["alone", *backgrounds]):
        pen.text((MARGIN + place * cell[0] + 4, 4), name, fill="black")
    for place, name in enumerate(["no person", *people]):
        pen.text((2, 20 + place * cell[1] + cell[1] // 2 - 6), name[:10], fill="black")


def _paste(
    sheet: Picture,
    row: dict[str, Any],
    people: Sequence[str],
    backgrounds: Sequence[str],
    cell: tuple[int, int],
) -> None:
    if row["person"] is not None and row["person"] not in people:
        return
    across = 0 if row["background"] is None else 1 + backgrounds.index(row["background"])
    down = 0 if row["person"] is None else 1 + people.index(row["person"])
    small = open_image(row["file"]).image.convert("RGB")
    small.thumbnail((cell[0] - 2, cell[1] - 2))
    sheet.paste(small, (MARGIN + across * cell[0] + 1, 20 + down * cell[1] + 1))


def _png(sheet: Picture) -> bytes:
    buffer = io.BytesIO()
    sheet.quantize(128).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

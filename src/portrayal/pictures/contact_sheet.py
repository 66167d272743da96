"""Contact sheet of a design: people down, backgrounds across."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from portrayal.pictures.images import open_image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

CELL = (96, 72)
MARGIN = 56
TITLE = 28  # two lines of text
LETTER = 6  # the width of one, about
STRIP = (160, 120)  # of a place that stands for itself


def contact_sheet(
    manifest: pl.DataFrame, names: Mapping[str, str] | None = None, cell: tuple[int, int] = CELL, most_people: int = 40
) -> bytes:
    """Return a PNG with a row per person and a column per background."""
    from PIL import Image, ImageDraw

    backgrounds = manifest.filter(pl.col("role") == "background")["background"].unique().sort().to_list()
    people = manifest.filter(pl.col("role") == "baseline")["person"].unique().sort().to_list()[:most_people]
    size = MARGIN + cell[0] * (len(backgrounds) + 1), TITLE + cell[1] * (len(people) + 1)
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    _titles(pen, people, [(names or {}).get(name, name) for name in backgrounds], cell)
    for row in manifest.filter(pl.col("file").is_not_null()).iter_rows(named=True):
        _paste(sheet, row, people, backgrounds, cell)
    return _png(sheet)


def _titles(pen: Any, people: Sequence[str], backgrounds: Sequence[str], cell: tuple[int, int]) -> None:
    for place, name in enumerate(["alone", *backgrounds]):
        pen.text((MARGIN + place * cell[0] + 4, 2), _lines(name, cell[0]), fill="black", spacing=1)
    for place, name in enumerate(["no person", *people]):
        pen.text((2, TITLE + place * cell[1] + cell[1] // 2 - 6), name[:10], fill="black")


def _lines(name: str, width: int) -> str:
    return "\n".join(textwrap.wrap(name, (width - 4) // LETTER)[:2])


def named_strip(pictures: Sequence[tuple[str, str]], cell: tuple[int, int] = STRIP, across: int = 4) -> bytes:
    """Return a PNG of pictures (name, file) in rows of `across`, each under its name."""
    from PIL import Image, ImageDraw

    down = -(-len(pictures) // across)
    high = cell[1] + TITLE
    sheet = Image.new("RGB", (cell[0] * across, high * down), "white")
    pen = ImageDraw.Draw(sheet)
    for at, (name, file) in enumerate(pictures):
        left, top = at % across * cell[0], at // across * high
        pen.text((left + 2, top + 4), _lines(name, cell[0]), fill="black", spacing=1)
        small = open_image(file).image.convert("RGB")
        small.thumbnail((cell[0] - 4, cell[1]))
        sheet.paste(small, (left + 2, top + TITLE))
    return _png(sheet)


def _paste(
    sheet: Picture, row: dict[str, Any], people: Sequence[str], backgrounds: Sequence[str], cell: tuple[int, int]
) -> None:
    if row["person"] is not None and row["person"] not in people:
        return
    across = 0 if row["background"] is None else 1 + backgrounds.index(row["background"])
    down = 0 if row["person"] is None else 1 + people.index(row["person"])
    small = open_image(row["file"]).image.convert("RGB")
    small.thumbnail((cell[0] - 2, cell[1] - 2))
    sheet.paste(small, (MARGIN + across * cell[0] + 1, TITLE + down * cell[1] + 1))


def _png(sheet: Picture) -> bytes:
    buffer = io.BytesIO()
    sheet.quantize(128).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

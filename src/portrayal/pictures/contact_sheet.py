"""Contact sheet of a design: people down, backgrounds across."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from portrayal.pictures.images import open_image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

CELL = (96, 72)
MARGIN = 56
TITLE = 28  # two lines of text
LETTER = 6  # the width of one, about
STRIP = (160, 120)  # of a place that stands for itself
ACROSS = 4  # of them in a row
MOST_PEOPLE = 40


def contact_sheet(
    manifest: pl.DataFrame, names: Mapping[str, str] | None = None, cell: tuple[int, int] = CELL
) -> bytes:
    """Return a PNG with a row per person and a column per background."""
    from PIL import Image, ImageDraw

    backgrounds = [None, *manifest.filter(role="background")["background"].unique().sort()]
    people = [None, *manifest.filter(role="baseline")["person"].unique().sort()[:MOST_PEOPLE]]
    sheet = Image.new("RGB", (MARGIN + cell[0] * len(backgrounds), TITLE + cell[1] * len(people)), "white")
    pen = ImageDraw.Draw(sheet)
    for place, name in enumerate(backgrounds):
        title = "alone" if name is None else (names or {}).get(name, name)
        pen.text((MARGIN + place * cell[0] + 4, 2), _lines(title, cell[0]), fill="black", spacing=1)
    for place, name in enumerate(people):
        pen.text((2, TITLE + place * cell[1] + cell[1] // 2 - 6), (name or "no person")[:10], fill="black")
    pictures = manifest.filter(pl.col("file").is_not_null()).select("person", "background", "file")
    for person, background, file in pictures.iter_rows():
        if person in people:
            left, top = MARGIN + backgrounds.index(background) * cell[0], TITLE + people.index(person) * cell[1]
            _paste(sheet, file, (cell[0] - 2, cell[1] - 2), (left + 1, top + 1))
    return _png(sheet)


def named_strip(pictures: Sequence[tuple[str, str]]) -> bytes:
    """Return a PNG of pictures (name, file) in rows, each under its name."""
    from PIL import Image, ImageDraw

    wide, high = STRIP[0], STRIP[1] + TITLE
    sheet = Image.new("RGB", (wide * ACROSS, high * -(-len(pictures) // ACROSS)), "white")
    pen = ImageDraw.Draw(sheet)
    for at, (name, file) in enumerate(pictures):
        left, top = at % ACROSS * wide + 2, at // ACROSS * high
        pen.text((left, top + 4), _lines(name, wide), fill="black", spacing=1)
        _paste(sheet, file, (wide - 4, STRIP[1]), (left, top + TITLE))
    return _png(sheet)


def _lines(name: str, width: int) -> str:
    return "\n".join(textwrap.wrap(name, (width - 4) // LETTER)[:2])


def _paste(sheet: Picture, file: str, most: tuple[int, int], corner: tuple[int, int]) -> None:
    small = open_image(file).image.convert("RGB")
    small.thumbnail(most)
    sheet.paste(small, corner)


def _png(sheet: Picture) -> bytes:
    buffer = io.BytesIO()
    sheet.quantize(128).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()

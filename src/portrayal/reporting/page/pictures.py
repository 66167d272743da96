"""Pictures of the page: photographs as data, and the small charts of its cards.

A sheet of photographs is a megabyte as PNG. The page carries it as WebP and links to the PNG, which lies beside it unchanged.
"""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from portrayal.edges.sizes import is_picture
from portrayal.reporting.charts.drawing import Drawing
from portrayal.reporting.charts.looks import Look, Looks, swatch
from portrayal.reporting.charts.theme import PALETTE
from portrayal.reporting.page.results import Scale
from portrayal.reporting.page.section import Section
from portrayal.tables import facets
from portrayal.text.formatting import is_missing

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGE = 100_000  # bytes of a PNG from which on WebP is tried
SAVES = 0.5  # WebP loses some detail: it must be this much smaller, as photographs are and drawings are not
QUALITY = 85
ROWS = 4  # of a small chart
WIDTH, STEP = 240, 25  # pixels of a small chart, and of a row in it
LETTERS = 40


def pictures_view(drawings: Sequence[Drawing]) -> Iterator[dict[str, Any]]:
    """Yield the figures that are pictures, ready to stand in the page."""
    for drawing in drawings:
        if drawing.png and not drawing.svg:
            whole = drawing.png.startswith(SIGNATURE) and len(drawing.png) >= 24
            width, height = (max(1, side) for side in (struct.unpack(">II", drawing.png[16:24]) if whole else (1, 1)))
            kind, data = light(drawing.png)
            picture = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
            figure = {"chart": drawing.chart, "name": drawing.name, "picture": picture}
            yield {**figure, "width": width, "height": height}


def light(png: bytes) -> tuple[str, bytes]:
    """Return a picture's kind and bytes: WebP where that is much smaller."""
    from PIL import Image

    if len(png) >= LARGE and is_picture(png):
        try:
            with Image.open(io.BytesIO(png)) as picture:
                written = io.BytesIO()
                picture.save(written, "WEBP", quality=QUALITY, method=2)
        except Exception:  # what Pillow raises depends on where the file breaks off
            return "png", png
        if written.tell() <= SAVES * len(png):
            return "webp", written.getvalue()
    return "png", png


def miniature(section: Section, row: int | None, looks: Looks) -> dict[str, Any] | None:
    """Return the cited row and its neighbours for a small chart; None without an estimate."""
    results = section.measured.results.with_row_index("row")
    if row is None or is_missing(results["value"][row]):
        return None
    cited = results.row(row, named=True)
    columns = facets(section.measured.results)
    rows = _alike(results, cited, [one.row for one in section.findings], [*columns, "group", "versus"])
    # The column that tells these rows apart.
    apart = (name for name in ("system", *columns, "group") if len({str(one.get(name)) for one in rows}) == len(rows))
    naming = next(apart, "group")
    scale = Scale.of(rows, WIDTH, 8.0)
    lines = []
    for place, one in enumerate(rows):
        system = section.measured.shown(str(one["system"]))
        name = system if naming == "system" else str(one.get(naming) or "")
        look = looks.get(system, Look(PALETTE[0], "circle", (1, 0)))
        at, start, end = (scale.at(one[end]) for end in ("value", "low", "high"))
        lines.append({"name": name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…", "y": STEP * place + 19, "at": at,
                      "start": start, "end": end, "color": look.color, "outline": swatch(look, 4.0),
                      "decision": one["decision"]})  # fmt: skip
    zero = scale.at(float(cited["null"] or 0.0)) or 0.0
    return {"lines": lines, "cited": cited, "zero": zero, "width": WIDTH, "height": STEP * len(rows) + 4}


def _alike(
    results: pl.DataFrame, cited: dict[str, Any], spoken: Sequence[int], about: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the cited row and a few others of its measure."""
    same = results.filter(
        pl.col("measure") == cited["measure"],
        pl.col("unit").eq_missing(pl.lit(cited["unit"], pl.String)),
        pl.col("value").is_not_null(),
        pl.col("row") != cited["row"],
    ).to_dicts()
    order = {row: place for place, row in enumerate(spoken)}
    alike = {one["row"] for one in same if all(one[name] == cited[name] for name in about)}  # of other systems
    others = sorted(same, key=lambda one: (one["row"] not in alike, order.get(int(one["row"]), len(order))))
    return [cited, *others[: ROWS - 1]]

"""Pictures as data in the page, several in a row at one height.

A sheet of photographs is a megabyte as PNG. The page carries it as WebP and links to the PNG, which lies beside it unchanged.
"""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Sequence
from typing import Any

from portrayal.edges.sizes import is_picture
from portrayal.reporting.charts.drawing import Drawing

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGE = 100_000  # bytes of a PNG from which on WebP is tried
SAVES = 0.5  # WebP loses some detail: it must be this much smaller, as photographs are and drawings are not
QUALITY = 85


def pictures_view(drawings: Sequence[Drawing]) -> list[dict[str, Any]]:
    """Return the figures that are pictures."""
    return [picture_view(one) for one in drawings if one.png and not one.svg]


def picture_view(drawing: Drawing) -> dict[str, Any]:
    """Return a picture ready to stand in the page."""
    png = drawing.png or b""
    width, height = dimensions(png)
    kind, data = light(png)
    return {
        "chart": drawing.chart,
        "name": drawing.name,
        "picture": f"data:image/{kind};base64,{base64.b64encode(data).decode()}",
        "width": width,
        "height": height,
        "ratio": round(width / height, 3),
    }


def dimensions(png: bytes) -> tuple[int, int]:
    """Return width and height of a PNG; 1 by 1 of what is none.

    Examples
    --------
    >>> dimensions(b"no picture")
    (1, 1)
    """
    if not png.startswith(SIGNATURE) or len(png) < 24:
        return 1, 1
    width, height = struct.unpack(">II", png[16:24])
    return max(1, width), max(1, height)


def light(png: bytes) -> tuple[str, bytes]:
    """Return a picture's kind and bytes: WebP where that is much smaller.

    Examples
    --------
    >>> light(b"no picture")
    ('png', b'no picture')
    """
    webp = _webp(png) if len(png) >= LARGE else None
    return ("webp", webp) if webp and len(webp) <= SAVES * len(png) else ("png", png)


def _webp(png: bytes) -> bytes | None:
    """Write a PNG as WebP; None where it cannot be decoded."""
    from PIL import Image

    if not is_picture(png):
        return None
    try:
        with Image.open(io.BytesIO(png)) as picture:
            written = io.BytesIO()
            picture.save(written, "WEBP", quality=QUALITY, method=2)
            return written.getvalue()
    except Exception:  # what Pillow raises depends on where the file breaks off
        return None

"""Pictures in the page: PNG bytes as data, with their proportions, so that several stand beside each other at one height."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any

from portrayal.report.drawing import Drawing

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def pictures_view(drawings: Sequence[Drawing]) -> list[dict[str, Any]]:
    """Return the figures that are pictures."""
    return [picture_view(one) for one in drawings if one.png and not one.svg]


def picture_view(drawing: Drawing) -> dict[str, Any]:
    """Return a picture ready to stand in the page."""
    png = drawing.png or b""
    width, height = dimensions(png)
    return {
        "chart": drawing.chart,
        "name": drawing.name,
        "picture": base64.b64encode(png).decode(),
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

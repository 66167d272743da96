"""JSON and tab-separated files of data sets, and boxes as shares of the image."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions.reading.stages import BOXES, FAULTS
from portrayal.edges.sizes import open_unpacked
from portrayal.errors import PortrayalError

Pixels = tuple[str, str, float, float, float, float]  # image, synset, left, top, width, height


def need(data: Any, key: str, path: Path, what: str) -> Any:
    """Return data[key], or say what was expected."""
    if not isinstance(data, Mapping) or key not in data:
        content = ", ".join(map(str, list(data)[:8])) if isinstance(data, Mapping) else type(data).__name__
        raise PortrayalError(f"{path.name} lacks {key!r} (found: {content}). Expected {what}.")
    return data[key]


def read_lines(path: Path, what: str) -> Iterator[list[str]]:
    """Yield the fields of a tab-separated file, gzipped or not."""
    csv.field_size_limit(sys.maxsize)
    try:
        with open_unpacked(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
            yield from csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise PortrayalError(f"{path} cannot be read as {what}: {str(error).splitlines()[0]}.") from None


def relative_boxes(
    boxes: Iterable[Pixels], sizes: Mapping[str, tuple[float, float]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (boxes as shares of the image, faults); boxes without area inside are left out."""
    inside: list[tuple] = []
    faults: dict[str, list[str]] = {}
    for image, synset, *pixels in boxes:
        box, fault = _relative(pixels, *sizes.get(image, (0, 0)))
        if fault:
            faults.setdefault(fault, []).append(image)
        if box:
            inside.append((image, synset, *box))
    rows = [(fault, len(images), images[0]) for fault, images in faults.items()]
    return pl.DataFrame(inside, schema=BOXES, orient="row"), pl.DataFrame(rows, schema=FAULTS, orient="row")


def _relative(pixels: list[float], across: float, down: float) -> tuple[tuple[float, ...] | None, str]:
    if min(across, down) <= 0:
        return None, "box of an image without a size, left out"
    left, top, width, height = (float(value) for value in pixels)
    right, bottom = min(left + width, across), min(top + height, down)
    cut_left, cut_top = max(left, 0.0), max(top, 0.0)
    if right <= cut_left or bottom <= cut_top:
        return None, "box outside the image or without area, left out"
    # Half a pixel of rounding is no fault.
    outside = min(left, top) < -0.5 or left + width > across + 0.5 or top + height > down + 0.5
    box = (cut_left / across, cut_top / down, (right - cut_left) / across, (bottom - cut_top) / down)
    return box, "box partly outside the image, cut" if outside else ""

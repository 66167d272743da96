"""Boxes in pixels as shares of the image; parts outside are cut and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from portrayal.audits.captions.reading.stages import BOXES, FAULTS

Pixels = tuple[str, str, float, float, float, float]  # image, synset, left, top, width, height


def relative_boxes(
    boxes: Iterable[Pixels], sizes: Mapping[str, tuple[float, float]]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (boxes as shares of the image, faults); boxes without area inside are left out."""
    kept: list[tuple] = []
    faults: dict[str, tuple[int, str]] = {}
    for image, synset, *pixels in boxes:
        if image not in sizes or min(sizes[image]) <= 0:
            _note(faults, "box of an image without a size, left out", image)
            continue
        box, fault = _relative(pixels, sizes[image])
        if fault:
            _note(faults, fault, image)
        if box:
            kept.append((image, synset, *box))
    rows = [(fault, count, example) for fault, (count, example) in faults.items()]
    return pl.DataFrame(kept, schema=BOXES, orient="row"), pl.DataFrame(rows, schema=FAULTS, orient="row")


def _relative(pixels: list[float], size: tuple[float, float]) -> tuple[tuple[float, float, float, float] | None, str]:
    left, top, width, height = (float(value) for value in pixels)
    across, down = size
    right, bottom = min(left + width, across), min(top + height, down)
    cut_left, cut_top = max(left, 0.0), max(top, 0.0)
    if right <= cut_left or bottom <= cut_top:
        return None, "box outside the image or without area, left out"
    # Half a pixel of rounding is no fault.
    outside = min(left, top) < -0.5 or left + width > across + 0.5 or top + height > down + 0.5
    box = (cut_left / across, cut_top / down, (right - cut_left) / across, (bottom - cut_top) / down)
    return box, "box partly outside the image, cut" if outside else ""


def _note(faults: dict[str, tuple[int, str]], fault: str, image: str) -> None:
    count, example = faults.get(fault, (0, image))
    faults[fault] = (count + 1, example)

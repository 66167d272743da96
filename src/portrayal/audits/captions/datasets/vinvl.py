"""Labels, boxes and captions of VinVL (Zhang et al. 2021, CVPR), in TSV and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions.datasets.caption_tables import CAPTIONS
from portrayal.audits.captions.datasets.data_files import Pixels, read_lines, relative_boxes
from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.audits.captions.reading.stages import SYSTEM_LABELS
from portrayal.edges.sizes import parse_json
from portrayal.errors import PortrayalError
from portrayal.tables import reads
from portrayal.text.captions.senses import synset_of


@reads("VinVL's labels")
def read_labels(path: Path, least: float = 0.0) -> pl.DataFrame:
    """Return the labels of at least this confidence as mentions."""
    rows = []
    for image, objects in _rows(path):
        for item in objects["objects"] if isinstance(objects, dict) else objects:
            if item.get("conf", 1.0) >= least:
                noun = item["class"].strip().lower()
                rows.append((image, 0, "object", None, noun, None))
                rows += [(image, 0, "attribute", noun, a.strip().lower(), None) for a in item.get("attributes", ())]
    return with_synsets(dict.fromkeys(rows), SYSTEM_LABELS)


@reads("VinVL's boxes")
def read_boxes(path: Path, least: float = 0.0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (boxes, faults) of objects with a `rect`, in images with a size."""
    boxes: list[Pixels] = []
    sizes: dict[str, tuple[float, float]] = {}
    for image, row in _rows(path):
        if not isinstance(row, dict) or "image_w" not in row:
            continue
        sizes[image] = float(row["image_w"]), float(row["image_h"])
        for item in row["objects"]:
            if "rect" in item and item.get("conf", 1.0) >= least:
                left, top, right, bottom = (float(end) for end in item["rect"])
                synset = synset_of(item["class"].strip().lower(), "n")
                if synset is not None:
                    boxes.append((image, synset, left, top, right - left, bottom - top))
    return relative_boxes(boxes, sizes)


@reads("VinVL's captions")
def read_captions(path: Path) -> pl.DataFrame:
    """Return image, caption and text."""
    rows = [(image, number, item["caption"]) for image, captions in _rows(path) for number, item in enumerate(captions)]
    return pl.DataFrame(rows, schema=CAPTIONS, orient="row")


def _rows(path: Path) -> list[tuple[str, Any]]:
    rows = []
    for number, fields in enumerate(read_lines(path, "VinVL output"), start=1):
        try:
            rows.append((fields[0], parse_json(fields[1])))
        except (IndexError, ValueError):
            raise PortrayalError(f"{path.name} line {number} is not an id, a tab and JSON, as VinVL writes.") from None
    return rows

"""Caption and instance files of COCO (Chen et al. 2015, arXiv:1504.00325)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.datasets.boxes import relative_boxes
from portrayal.audits.captions.datasets.data_files import need
from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.audits.captions.reading.senses import synset_of
from portrayal.audits.captions.reading.stages import HUMAN_LABELS
from portrayal.errors import PortrayalError
from portrayal.tables import read_json, reads

CAPTIONS = {"image": pl.String, "caption": pl.Int64, "text": pl.String}


@reads("COCO captions")
def read_captions(path: Path) -> pl.DataFrame:
    """Read captions_*.json: image, caption (its id) and text."""
    rows = need(read_json(path, "COCO captions"), "annotations", path, "a COCO captions file")
    return _captions(((r.get("image_id"), r.get("id"), r.get("caption")) for r in rows), path)


def _captions(rows, path: Path) -> pl.DataFrame:
    table = [(None if image is None else str(image), number, text) for image, number, text in rows]
    if any(image is None for image, _, _ in table):
        raise PortrayalError(f"{path.name} has a caption without image_id. Expected image_id and caption.")
    return pl.DataFrame(table, schema=CAPTIONS, orient="row")


@reads("COCO instances")
def read_instances(path: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Read instances_*.json: (labels, boxes, faults); crowds count like any other object."""
    data = read_json(path, "COCO instances")
    what = "a COCO instances file with images, annotations and categories"
    names = {c["id"]: c["name"] for c in need(data, "categories", path, what)}
    sizes = {str(i["id"]): (i.get("width", 0), i.get("height", 0)) for i in need(data, "images", path, what)}
    found = [(str(a["image_id"]), names[a["category_id"]], a["bbox"]) for a in need(data, "annotations", path, what)]
    said = dict.fromkeys((image, 0, "object", None, name, None) for image, name, _ in found)
    boxes, faults = relative_boxes(((i, synset_of(n, "n") or n, *box) for i, n, box in found), sizes)
    return with_synsets(said, HUMAN_LABELS), boxes, faults

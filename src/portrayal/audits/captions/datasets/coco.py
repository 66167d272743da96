"""Caption and instance files of COCO (Chen et al. 2015, arXiv:1504.00325)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.datasets.caption_tables import CAPTIONS
from portrayal.audits.captions.datasets.data_files import need, relative_boxes
from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.audits.captions.reading.stages import HUMAN_LABELS
from portrayal.errors import PortrayalError
from portrayal.tables import read_json, reads
from portrayal.text.captions.senses import synset_of


@reads("COCO captions")
def read_captions(path: Path) -> pl.DataFrame:
    """Read captions_*.json: image, caption (its id) and text."""
    rows = need(read_json(path, "COCO captions"), "annotations", path, "a COCO captions file")
    if any(r.get("image_id") is None for r in rows):
        raise PortrayalError(f"{path.name} has a caption without image_id. Expected image_id and caption.")
    table = [(str(r["image_id"]), r.get("id"), r.get("caption")) for r in rows]
    return pl.DataFrame(table, schema=CAPTIONS, orient="row")


@reads("COCO instances")
def read_instances(path: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Read instances_*.json: (labels, boxes, faults); crowds count like any other object."""
    data = read_json(path, "COCO instances")
    what = "a COCO instances file with images, annotations and categories"
    names = {c["id"]: c["name"] for c in need(data, "categories", path, what)}
    sizes = {str(i["id"]): (i.get("width", 0), i.get("height", 0)) for i in need(data, "images", path, what)}
    annotations = need(data, "annotations", path, what)
    for one in annotations:
        if one.get("category_id") not in names:
            where = f"object {one.get('id')} of image {one.get('image_id')}"
            raise PortrayalError(
                f"{path.name}: {where} is of category {one.get('category_id')!r}. Expected an id listed in `categories`."
            )
    objects = [(str(one["image_id"]), names[one["category_id"]], one["bbox"]) for one in annotations]
    labels = dict.fromkeys((image, 0, "object", None, name, None) for image, name, _ in objects)
    boxes, faults = relative_boxes(((i, synset_of(n, "n") or n, *box) for i, n, box in objects), sizes)
    return with_synsets(labels, HUMAN_LABELS), boxes, faults

"""Visual Genome (Krishna et al. 2017, IJCV 123): objects, attributes and relationships with synsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions.datasets.data_files import relative_boxes
from portrayal.audits.captions.reading.stages import HUMAN_LABELS, MENTIONS
from portrayal.errors import PortrayalError
from portrayal.tables import read_json, reads
from portrayal.text.captions.senses import synset_of
from portrayal.text.words import wordnet

Noun = tuple[str | None, str | None]  # the word and its synset
BLANK: Noun = (None, None)


@reads("Visual Genome's image data")
def read_image_data(path: Path, coco: bool = True) -> tuple[dict[int, str], dict[str, tuple[float, float]]]:
    """Read image_data.json: Visual Genome's id -> our image (preferably the COCO id), and sizes."""
    rows = read_json(path, "Visual Genome image data")
    names = {r["image_id"]: str((r.get("coco_id") if coco else None) or r["image_id"]) for r in rows}
    return names, {names[r["image_id"]]: (r["width"], r["height"]) for r in rows}


@reads("Visual Genome's objects")
def read_objects(
    path: Path, names: Mapping[int, str], sizes: Mapping[str, tuple[float, float]]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Read objects.json: (labels, boxes, faults)."""
    objects = [(names[i], o) for i, o in _each(path, "objects", names)]
    rows = [_mention(image, "object", BLANK, _label(o), BLANK) for image, o in objects]
    boxes = ((image, _label(o)[1] or _label(o)[0], o["x"], o["y"], o["w"], o["h"]) for image, o in objects)
    return _table(rows), *relative_boxes(boxes, sizes)


@reads("Visual Genome's attributes")
def read_attributes(path: Path, names: Mapping[int, str]) -> pl.DataFrame:
    """Read attributes.json: one mention for each attribute of an object."""
    rows = []
    for i, o in _each(path, "attributes", names):
        for word in o.get("attributes") or ():
            clean = word.strip().lower()
            rows.append(_mention(names[i], "attribute", _label(o), (clean, synset_of(clean, "a")), BLANK))
    return _table(rows)


@reads("Visual Genome's relationships")
def read_relationships(path: Path, names: Mapping[int, str]) -> pl.DataFrame:
    """Read relationships.json: subject, predicate, object."""
    rows = []
    for i, r in _each(path, "relationships", names):
        word = r["predicate"].strip().lower()
        middle = (word, _known(r.get("synsets")) or synset_of(word, "v"))
        rows.append(_mention(names[i], "relation", _label(r["subject"]), middle, _label(r["object"])))
    return _table(rows)


def _each(path: Path, key: str, names: Mapping[int, str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for image in read_json(path, f"Visual Genome {key}"):
        if key not in image:
            raise PortrayalError(f"{path.name} has an image without {key!r}. Expected Visual Genome's {key}.json.")
        if image["image_id"] in names:
            yield from ((image["image_id"], item) for item in image[key])


def _label(item: Mapping[str, Any]) -> tuple[str, str | None]:
    word = str((item.get("names") or [item.get("name", "")])[0]).strip().lower()
    return word, _known(item.get("synsets")) or synset_of(word, "n")


def _known(synsets: list[str] | None) -> str | None:
    """The first synset given that WordNet 3.0 has; other versions number some differently."""
    table = wordnet.load()
    for synset in synsets or ():
        try:
            return table.names[table.number(synset)]
        except PortrayalError:
            continue
    return None


def _mention(image: str, kind: str, subject: Noun, word: Noun, target: Noun) -> tuple:
    words = subject[0], word[0], target[0]
    return image, HUMAN_LABELS, 0, kind, *words, word[1], subject[1], target[1]


def _table(rows: list[tuple]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=MENTIONS, orient="row").unique(maintain_order=True)

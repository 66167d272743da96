"""Plain tables (CSV, TSV, JSON lines, Parquet) of captions, labels, boxes and annotated people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

from portrayal.audits.captions.datasets.data_files import read_lines, relative_boxes
from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.audits.captions.reading.stages import PEOPLE
from portrayal.errors import PortrayalError
from portrayal.tables import check, read_table, reads
from portrayal.text.captions.senses import synset_of

CAPTIONS = {"image": pl.String, "caption": pl.Int64, "text": pl.String}
_BOX = dict.fromkeys(["left", "top", "width", "height", "image_width", "image_height"], pl.Float64)


@reads("captions")
def read_captions(path: Path) -> pl.DataFrame:
    """Read captions; `image_id` may stand for `image`, and `caption` for `text`."""
    table = read_table(path)
    names = {"image_id": "image"}
    if "text" not in table.columns and "caption" in table.columns:
        names["caption"] = "text"
    table = table.rename({old: new for old, new in names.items() if old in table.columns and new not in table.columns})
    table = check(table, {"image": pl.String, "text": pl.String}, path.name, "Captions need image and text.")
    numbered = ["caption"] if "caption" in table.columns else []
    return table.select("image", *(pl.col(c).cast(pl.Int64) for c in numbered), "text")


@reads("Conceptual Captions")
def read_conceptual_captions(path: Path) -> pl.DataFrame:
    """Read Conceptual Captions (Sharma et al. 2018, ACL): a TSV of caption and address."""
    rows = []
    seen: Counter[str] = Counter()  # an address given twice has two captions
    for number, fields in enumerate(read_lines(path, "Conceptual Captions"), start=1):
        if len(fields) != 2:
            expected = "Expected two, caption and address."
            raise PortrayalError(f"{path.name} line {number} has {len(fields)} columns. {expected}")
        text, image = fields
        rows.append((image, seen[image], text))
        seen[image] += 1
    return pl.DataFrame(rows, schema=CAPTIONS, orient="row")


@reads("labels")
def read_labels(path: Path, stage: str) -> pl.DataFrame:
    """Read labels as mentions of a stage."""
    table = read_table(path)
    for column in ("subject", "object"):
        if column not in table.columns:
            table = table.with_columns(pl.lit(None, dtype=pl.String).alias(column))
    contract = dict.fromkeys(["image", "kind", "subject", "word", "object"], pl.String)
    table = check(table, contract, path.name, "Labels need image, kind and word.")
    strange = set(table["kind"]) - {"object", "attribute", "relation"}
    if strange:
        kind = sorted(map(str, strange))[0]
        raise PortrayalError(f"{path.name} has kind {kind!r}. Expected object, attribute or relation.")
    rows = table.select("image", pl.lit(0), "kind", "subject", "word", "object").iter_rows()
    return with_synsets(rows, stage)


@reads("boxes")
def read_boxes(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read boxes in pixels: (boxes as shares of the image, faults)."""
    contract = {"image": pl.String, "object": pl.String, **_BOX}
    table = check(read_table(path), contract, path.name, "Boxes are in pixels, with the image's size.")
    sizes = {r["image"]: (r["image_width"], r["image_height"]) for r in table.iter_rows(named=True)}
    rows = table.select("image", "object", "left", "top", "width", "height").iter_rows()
    return relative_boxes(((image, synset_of(word, "n") or word, *box) for image, word, *box in rows), sizes)


@reads("people")
def read_people(path: Path) -> pl.DataFrame:
    """Read the group of each image's largest person, and who assigned it."""
    hint = "Say who assigned each group: self-reported, annotators, the words of captions, a classifier."
    return check(read_table(path), PEOPLE, path.name, hint).select(*PEOPLE)

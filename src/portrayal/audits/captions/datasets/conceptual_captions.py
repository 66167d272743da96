"""Conceptual Captions (Sharma et al. 2018, ACL): a TSV of caption and address."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.datasets.data_files import read_lines
from portrayal.errors import PortrayalError
from portrayal.tables import reads


@reads("Conceptual Captions")
def read_conceptual_captions(path: Path) -> pl.DataFrame:
    """Return image (the address), caption 0 and text; an address given twice has two captions."""
    rows = []
    seen: dict[str, int] = {}
    for number, fields in enumerate(read_lines(path, "Conceptual Captions"), start=1):
        if len(fields) != 2:
            raise PortrayalError(
                f"{path.name} line {number} has {len(fields)} columns. Expected two, caption and address."
            )
        text, image = fields
        rows.append((image, seen.get(image, 0), text))
        seen[image] = seen.get(image, 0) + 1
    schema = {"image": pl.String, "caption": pl.Int64, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")

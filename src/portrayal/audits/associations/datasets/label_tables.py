"""Recorded labels of generated images, one row an image.

Columns: `group` (whom the prompt named), `seed`, `label`, `status` (answered, or filtered where the generator blocked the
image); further `prompt`, `system`, `age`, `face`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.tables import check, check_stimuli, read_table

YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
NEEDED = {"group": pl.String, "seed": pl.String, "status": pl.String, "label": pl.String}


def label_table(path: Path) -> pl.DataFrame:
    """Read a table of labels, with a `stimulus` id per image and all columns."""
    if not path.is_file():
        raise PortrayalError(f"no table of labels at {path}. Check the path.")
    table = check(read_table(path), NEEDED, path.name, "See docs/associations_generators.md, labels.")
    for name, kind in (("system", pl.String), ("prompt", pl.String), ("age", pl.Float64), ("face", pl.String)):
        values = pl.col(name) if name in table.columns else pl.lit(None)
        table = table.with_columns(values.cast(kind).alias(name))
    table = table.with_columns(
        pl.col("face").str.to_lowercase().replace_strict(YES_NO, default=None, return_dtype=pl.Boolean)
    )
    parts = [pl.col(name).cast(pl.String).fill_null("") for name in ("group", "age", "seed")]
    return table.with_columns(stimulus=pl.concat_str(parts, separator="/"))


def label_stimuli(table: pl.DataFrame) -> pl.DataFrame:
    """Return the Stimuli behind a table of labels: what was prompted, which nobody prompts again."""
    rows = table.unique("stimulus", maintain_order=True).select("stimulus", "group", "age", "seed", "prompt")
    hashes = [hashlib.sha256(name.encode()).hexdigest() for name in rows["stimulus"]]
    return check_stimuli(
        rows.with_columns(
            kind=pl.lit("prompt"),
            content=pl.col("prompt").fill_null("(not recorded)"),
            hash=pl.Series(hashes, dtype=pl.String),
            source=pl.lit("recorded labels"),
            license=pl.lit(""),
            consent=pl.lit("generated"),
        )
    )

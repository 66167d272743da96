"""Stimuli from a table alone: recorded tags are measured without the pictures they speak of.

A people CSV has `image_id` and one column per factor. Columns named `person`, `context`, `background` and `role` are not factors:
with them a recorded factorial design comes back whole; without them every image is a person alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from portrayal.audits.contexts.datasets.people_folder import read_person_table
from portrayal.errors import PortrayalError

ROLES = ("baseline", "composite", "background")


def recorded_stimuli(table: Path | str) -> pl.DataFrame:
    """Return Stimuli for a people CSV: one row per image, with `role`, `person`, `context`, `background` and the factors."""
    frame = read_person_table(table)
    name = Path(table).name
    if "image_id" not in frame.columns:
        frame = frame.with_columns(pl.col("person").alias("image_id"))
    frame = frame.with_columns(_absent(column) for column in ("context", "background") if column not in frame.columns)
    if "role" not in frame.columns:
        composite = pl.col("context").is_not_null() & pl.col("person").is_not_null()
        frame = frame.with_columns(
            pl.when(composite).then(pl.lit("composite")).otherwise(pl.lit("baseline")).alias("role")
        )
    strange = set(frame["role"].drop_nulls()) - set(ROLES)
    if strange:
        raise PortrayalError(f"{name} has role {sorted(strange)[0]!r}. Expected one of {', '.join(ROLES)}.")
    return _as_stimuli(frame, name)


def _absent(column: str) -> pl.Expr:
    return pl.lit(None, dtype=pl.String).alias(column)


def _as_stimuli(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    hashes = [hashlib.sha256(f"{name}:{image}".encode()).hexdigest() for image in frame["image_id"]]
    described = {"source": f"recorded: {name}", "license": "not stated", "consent": "recorded answers only"}
    filled = frame.with_columns(pl.lit(text).alias(key) for key, text in described.items() if key not in frame.columns)
    filled = filled.with_columns(
        pl.col("image_id").alias("stimulus"), pl.lit("image").alias("kind"), pl.col("image_id").alias("content"),
        pl.Series("hash", hashes, dtype=pl.String), pl.col("background").fill_null(pl.col("context")),
    )  # fmt: skip
    first = (
        "stimulus",
        "kind",
        "content",
        "hash",
        "source",
        "license",
        "consent",
        "role",
        "person",
        "context",
        "background",
    )
    return filled.select(*first, pl.exclude(*first, "image_id", "file"))

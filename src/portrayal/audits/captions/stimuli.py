"""Stimuli of captioners: generated scenes, or the images of a table."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.captions import world as generated
from portrayal.audits.captions.settings import CaptionsSettings
from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError
from portrayal.study.study import Study
from portrayal.tables import read_table

# Enough of everything a phantom of the demonstration needs.
DEMO_WORLD = generated.World(wheelchair=0.3, elderly=0.3)


def make_stimuli(study: Study) -> pl.DataFrame:
    """Return the scenes, or the images of the table."""
    settings: CaptionsSettings = study.settings
    if settings.scenes:
        return generated.stimuli(make_scenes(study))
    return pl.DataFrame([_stimulus(row, study) for row in image_table(study).iter_rows(named=True)])


def _stimulus(row: dict[str, Any], study: Study) -> dict[str, Any]:
    """Return the stimulus of an image; one without a path stands for recorded captions alone."""
    table = study.folder / str(study.settings.images)
    allowed = [*study.picture_folders(), table.parent]
    image = row["image"]
    path = path_inside(study.folder, row["path"], allowed, table.name) if row.get("path") else None
    content = {"content": str(path) if path else image, "hash": _hash(path, image), "source": table.name}
    rights = {"license": row.get("license", "not stated"), "consent": row.get("consent", "")}
    return {"stimulus": image, "kind": "image", **content, **rights}


def make_scenes(study: Study) -> list[generated.Scene]:
    """Return the scenes of the study's seed."""
    return generated.make_scenes(study.settings.scenes, study.seed, DEMO_WORLD)


def image_table(study: Study) -> pl.DataFrame:
    """Read the table of images, one row each."""
    path = study.folder / study.settings.images
    table = read_table(path)
    if "image" not in table.columns and "image_id" in table.columns:
        table = table.rename({"image_id": "image"})
    if "image" not in table.columns:
        raise PortrayalError(f"{path.name} lacks column 'image' (found: {', '.join(table.columns)}).")
    return table.with_columns(pl.col("image").cast(pl.String)).unique("image", maintain_order=True)


def _hash(path: Path | None, image: str) -> str:
    if path is None:
        return hashlib.sha256(f"recorded image {image}".encode()).hexdigest()
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise PortrayalError(f"image {image!r} cannot be read: {error}. Check the column path.") from None

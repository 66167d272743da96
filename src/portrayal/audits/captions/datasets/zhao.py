"""Perceived gender and skin tone of people in COCO (Zhao, Wang, Russakovsky 2021, ICCV)."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.audits.captions.reading.stages import FAULTS, PEOPLE
from portrayal.errors import PortrayalError
from portrayal.tables import read_table, reads

COLUMNS = {"image": ("id", "image_id", "cocoid"), "gender": ("bb_gender", "gender"), "skin": ("bb_skin", "skin")}
GROUPS = {
    "gender": {"male": "male", "female": "female"},
    "skin": {"light": "lighter", "lighter": "lighter", "dark": "darker", "darker": "darker"},
}
ASSIGNED = "annotators' perception (Zhao et al. 2021)"


@reads("annotations of Zhao et al.")
def read_zhao(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return (people, faults); people marked unsure, both or nothing are counted as faults."""
    table = read_table(path)
    names = {key: _column(table, key, path) for key in COLUMNS}
    people, faults = [], []
    for axis, groups in GROUPS.items():
        label = pl.col(names[axis]).cast(pl.String).str.strip_chars().str.to_lowercase()
        part = table.select(pl.col(names["image"]).cast(pl.String).alias("image"), label.alias("said"))
        known = part.filter(pl.col("said").is_in(list(groups)))
        about = {"axis": pl.lit(axis), "group": pl.col("said").replace_strict(groups), "assigned_by": pl.lit(ASSIGNED)}
        people.append(known.select("image", **about).unique(maintain_order=True))
        other = part.join(known, on="image", how="anti")
        if len(other):
            faults.append((f"{axis}: not annotated or unsure, left out", len(other), other["image"][0]))
    annotations = pl.concat(people).select(pl.col(name).cast(kind) for name, kind in PEOPLE.items())
    return annotations, pl.DataFrame(faults, schema=FAULTS, orient="row")


def _column(table: pl.DataFrame, key: str, path: Path) -> str:
    for name in COLUMNS[key]:
        if name in table.columns:
            return name
    wanted, columns = ", ".join(COLUMNS[key]), ", ".join(table.columns)
    raise PortrayalError(f"{path.name} lacks a column for the {key}, one of {wanted} (found: {columns}).")

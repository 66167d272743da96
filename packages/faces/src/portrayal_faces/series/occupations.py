"""Who is shown for an occupation, as the reader of perceived gender sees it: pictures in, one reading each out.

`portrayal.audits.counterfactuals.measures.world.shares_through_reader` makes shares of the readings. Nothing is manipulated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from portrayal.edges.paths import path_inside
from portrayal.errors import PortrayalError
from portrayal.tables import read_csv
from portrayal_faces.series.build import UNREADABLE, open_or_none
from portrayal_faces.series.suitability import inspect_face

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
SIZE = 512  # pixels of the longer side of what is read
# `group` is the label where one is known; `read` is null where nobody could be read, and `reason` says why.
READINGS = {
    "file": pl.String,
    "occupation": pl.String,
    "group": pl.String,
    "read": pl.String,
    "female": pl.Float64,
    "reason": pl.String,
}


def read_perceived_gender(where: Path) -> pl.DataFrame:
    """Read the perceived gender of the person closest to the centre of each picture.

    Returns
    -------
    polars.DataFrame
        Columns of `READINGS`. Whoever is read as under 20, is seen from the side or has no face is missing.
    """
    entries = list(_from_folder(where)) if where.is_dir() else list(_from_table(where))
    if not entries:
        raise PortrayalError(f"no picture in {where}. Expected a folder of pictures for each occupation, or a CSV.")
    rows = [(str(path), occupation, group, *_reading(path)) for path, occupation, group in entries]
    return pl.DataFrame(rows, schema=READINGS, orient="row")


def _from_folder(folder: Path) -> Iterator[tuple[Path, str | None, str | None]]:
    for path in sorted(folder.glob("*/*")):
        if path.suffix.lower() in PICTURES:
            yield path, path.parent.name, None


def _from_table(table: Path) -> Iterator[tuple[Path, str | None, str | None]]:
    rows = read_csv(table, "a table of pictures", "Expected a CSV with file, and occupation or group.")
    if "file" not in rows.columns or not {"occupation", "group"} & set(rows.columns):
        raise PortrayalError(
            f"{table.name} has the columns {', '.join(rows.columns)}. Expected file, and occupation, group or both."
        )
    for row in rows.iter_rows(named=True):
        path = path_inside(table.parent, str(row["file"]), (), table.name)
        if not path.is_file():
            raise PortrayalError(f"{table.name} names {row['file']!r}, which is not there.")
        yield path, row.get("occupation"), row.get("group")


def _reading(path: Path) -> tuple[str | None, float | None, str]:
    """Return the group read, P(female), and why there is none."""
    picture = open_or_none(path, SIZE)
    if picture is None:
        return None, None, UNREADABLE
    seen = inspect_face(picture, strict=False)
    if seen.reason:
        return None, None, seen.reason
    return ("Female" if seen.female >= 0.5 else "Male"), seen.female, ""

"""Any folder of pictures with a CSV: `image_id`, optionally `file`, and one column per factor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.paths import path_inside
from portrayal.errors import PortrayalError
from portrayal.tables import read_csv

# Every loader gives these columns, then the factors.
PEOPLE = ("person", "file", "source", "license", "consent")
ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif")


def load_people(
    table: Path | str, source: str = "", license_name: str = "not stated", consent: str = "", also: Sequence[Path] = ()
) -> pl.DataFrame:
    """Return one row per person: person, file, source, license, consent, and the factors."""
    frame = read_person_table(table)
    folder = Path(table).parent
    if "file" not in frame.columns:
        frame = frame.with_columns(file=pl.Series([_find(folder, name) for name in frame["person"]], dtype=pl.String))
    else:
        frame = frame.with_columns(
            file=pl.Series(
                [str(path_inside(folder, name, also, Path(table).name)) for name in frame["file"]], dtype=pl.String
            )
        )
    described = {"source": source or Path(table).name, "license": license_name, "consent": consent}
    frame = frame.with_columns(
        pl.lit(text).alias(name) for name, text in described.items() if name not in frame.columns
    )
    return frame.select(*PEOPLE, pl.exclude(*PEOPLE))


def read_person_table(table: Path | str) -> pl.DataFrame:
    """Read a people CSV; the id becomes `person`, every other column stays text."""
    path = Path(table)
    frame = read_csv(path, "a CSV of people")
    if "person" not in frame.columns and "image_id" in frame.columns:
        frame = frame.with_columns(pl.col("image_id").alias("person"))
    if "person" not in frame.columns:
        raise PortrayalError(
            f"{path.name} lacks column 'image_id' (found: {', '.join(frame.columns)}). One row per picture; see docs/contexts.md."
        )
    return frame


def _find(folder: Path, name: str) -> str:
    for ending in ENDINGS:
        if (folder / f"{name}{ending}").is_file():
            return str(path_inside(folder, f"{name}{ending}", (), "the CSV"))
    raise PortrayalError(f"no picture of {name!r} in {folder}. Add a column 'file' to the CSV.")

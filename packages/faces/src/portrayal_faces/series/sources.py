"""Pictures to manipulate: generated people, or a table with source and consent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError, check_name
from portrayal.pictures.images import generated_people
from portrayal.pictures.series.folder import labelled_age, require_consent
from portrayal.tables import read_csv

# One row per picture. `age` is the labelled age or the lower end of a range; null leaves it to the age reader.
PICTURES = {
    "picture": pl.String,
    "person": pl.String,
    "file": pl.String,
    "source": pl.String,
    "license": pl.String,
    "consent": pl.String,
    "age": pl.Float64,
}
EXPECTED = "Expected a CSV in UTF-8 with file, source and consent."
OPENPEOPLE = ("studio_portrait", "amateur_selfie", "studio_posture", "amateur_posture")


def openpeople_pictures(kinds: tuple[str, ...] = OPENPEOPLE) -> pl.DataFrame:
    """Return the pictures of the generated people, one row each; kinds are of OPENPEOPLE."""
    for kind in kinds:
        check_name(kind, OPENPEOPLE, "kind of picture of the generated people")
    rows = []
    for person, assets, labels in generated_people():
        for kind in kinds:
            rows.append(
                {
                    "picture": f"{person} {kind.replace('_', ' ')}", "person": person, "file": str(assets / f"{kind}.jpg"),
                    "source": "openpeople 0.1.2, generated", "license": "MIT", "consent": "generated",
                    "age": float(labels["age_range"].partition("-")[0]),
                }
            )  # fmt: skip
    return pl.DataFrame(rows, schema=PICTURES)


def read_pictures(table: Path, also: Sequence[Path] = ()) -> pl.DataFrame:
    """Read a table of pictures (CSV) with file, source and consent.

    Files lie in the table's folder, or in those of `also`. People labelled under 20 stay in the table: `build` never manipulates
    them, and names them among those left out.
    """
    if not table.is_file():
        raise PortrayalError(f"no table of pictures at {table}. {EXPECTED}")
    rows = read_csv(table, "a table of pictures", EXPECTED)
    if "file" not in rows.columns:
        raise PortrayalError(f"{table.name} lacks column 'file' (found: {', '.join(rows.columns)}).")
    if rows.is_empty():
        raise PortrayalError(
            f"{table.name} has no rows below its header. Add a row with file, source and consent for each picture."
        )
    pictures = pl.DataFrame([_row(row, table, also) for row in rows.iter_rows(named=True)], schema=PICTURES)
    _refuse_twice(pictures, table.name)
    return check_pictures(pictures)


def _refuse_twice(pictures: pl.DataFrame, table: str) -> None:
    """Refuse a picture listed twice, whose series would overwrite each other."""
    files: dict[Path, int] = {}
    names: dict[str, int] = {}
    for row, (name, file) in enumerate(pictures.select("picture", "file").iter_rows(), 1):
        if (first := files.setdefault(Path(file).resolve(), row)) != row:
            raise PortrayalError(
                f"{table} lists {Path(file).name!r} twice, in rows {first} and {row} below the header. Keep one of them."
            )
        if (first := names.setdefault(name, row)) != row:
            raise PortrayalError(
                f"{table} calls two files {name!r}, in rows {first} and {row} below the header. Give each picture a name of its own "
                "in column picture, or leave that empty: the file's name is taken then."
            )


def check_pictures(pictures: pl.DataFrame) -> pl.DataFrame:
    """Refuse pictures without source or consent."""
    for row in pictures.iter_rows(named=True):
        require_consent(row, row["picture"])
    return pictures


def _row(row: dict[str, str | None], table: Path, also: Sequence[Path]) -> dict[str, str | float | None]:
    name = row["file"] or ""
    return {
        "picture": row.get("picture") or name,
        "person": row.get("person") or name,
        "file": str(path_inside(table.parent, name, also, table.name)),
        "source": row.get("source") or "",
        "license": row.get("license") or "",
        "consent": row.get("consent") or "",
        "age": labelled_age(row.get("age"), name),
    }

"""Pictures to manipulate: the generated people that ship, or a table that names source and consent for each file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.paths import path_inside
from portrayal.errors import PortrayalError, check_name
from portrayal.parts.table import part_folder
from portrayal.pictures.faces.reader import ADULT
from portrayal.tables import read_csv
from portrayal_faces.series.series import require_consent

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
AGE = re.compile(r"^(?:more than )?(?P<years>\d+(?:\.\d+)?)(?: ?- ?\d+(?:\.\d+)?)?$")
EXPECTED = "Expected a CSV in UTF-8 with file, source and consent."
OPENPEOPLE = ("studio_portrait", "amateur_selfie", "studio_posture", "amateur_posture")


def generated_people() -> Iterator[tuple[str, Path, dict[str, str]]]:
    """Yield id, folder of pictures and labels (age_range, sex, ethnicity, skin_tone) of the ten adults of `openpeople`."""
    curated = part_folder("openpeople", "generated people") / "data" / "curated"
    for folder in sorted(curated.iterdir()):
        if (folder / "metadata.json").exists():
            words = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
            yield folder.name, folder / "assets", words["character_details"]["demographics"]


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
    """Read a table of pictures (CSV): file, source and consent are needed; person, license and age are welcome.

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
    """Refuse a picture listed twice: one series would be written over the other, and one person counted as two."""
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


def labelled_age(text: str | None, picture: str) -> float | None:
    """Return a labelled age, or the lower end of its range; None where nothing is labelled.

    Examples
    --------
    >>> labelled_age("20-29", "a.png"), labelled_age("more than 70", "a.png"), labelled_age("", "a.png")
    (20.0, 70.0, None)
    """
    if not (text or "").strip():
        return None
    match = AGE.match(str(text).strip().lower())
    if match is None:
        raise PortrayalError(
            f"picture {picture!r} has the age {text!r}. Expected years such as 34, a range such as 30-39, "
            f"'more than 70', or nothing."
        )
    return float(match["years"])


def labelled_young(age: float | None) -> bool:
    """Say whether a labelled age, or the lower end of its range, lies under 20."""
    return age is not None and not age >= ADULT


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

"""People of a study: a CSV, generated adults, or the Chicago Face Database.

Ma, Correll, Wittenbrink (2015), The Chicago face database, Behavior Research Methods 47, 1122-1135: users obtain it
themselves (chicagofaces.org). The ten generated adults are those of `openpeople` (MIT), labelled before they were made.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError
from portrayal.pictures.images import generated_people
from portrayal.tables import STIMULI, read_csv

# Every loader gives these columns, then the factors.
PEOPLE = ("person", "file", "source", "license", "consent")
ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif")
ROLES = ("baseline", "composite", "background")
LIGHTER = ("I", "II", "III")
RACES = {"A": "Asian", "B": "Black", "L": "Latinx", "W": "White", "M": "Multiracial", "I": "Indian"}
GENDERS = {"F": "female", "M": "male"}
# CFD-AF-200-228-N.jpg: set, race and gender, model, picture, expression (N: neutral; HO, HC, A, F: others)
NAME = re.compile(r"^(CFD)-?(?:IND|MR)?-?([ABLWMI])([FM])-(\d+)-(\d+)-(N|HO|HC|A|F)$")


def load_people(
    table: Path | str, source: str = "", license_name: str = "not stated", consent: str = "", also: Sequence[Path] = ()
) -> pl.DataFrame:
    """Return one row per person: person, file, source, license, consent, and the factors."""
    frame, path = read_person_table(table), Path(table)
    if "file" in frame.columns:
        files = [str(path_inside(path.parent, name, also, path.name)) for name in frame["file"]]
    else:
        files = [_find(path.parent, name) for name in frame["person"]]
    described = {"source": source or path.name, "license": license_name, "consent": consent}
    return _first(_fill(frame.with_columns(file=pl.Series(files, dtype=pl.String)), described), PEOPLE)


def read_person_table(table: Path | str) -> pl.DataFrame:
    """Read a people CSV; the id becomes `person`, every other column stays text."""
    path = Path(table)
    frame = read_csv(path, "a CSV of people")
    if "person" not in frame.columns and "image_id" in frame.columns:
        frame = frame.with_columns(pl.col("image_id").alias("person"))
    if "person" not in frame.columns:
        there = f"(found: {', '.join(frame.columns)})"
        raise PortrayalError(f"{path.name} lacks column 'image_id' {there}. One row per picture; see docs/contexts.md.")
    return frame


def _find(folder: Path, name: str) -> str:
    for ending in ENDINGS:
        if (folder / f"{name}{ending}").is_file():
            return str(path_inside(folder, f"{name}{ending}", (), "the CSV"))
    raise PortrayalError(f"no picture of {name!r} in {folder}. Add a column 'file' to the CSV.")


def recorded_stimuli(table: Path | str) -> pl.DataFrame:
    """Return one stimulus per image of a people CSV, with role, person, context and factors."""
    frame, name = read_person_table(table), Path(table).name
    if "image_id" not in frame.columns:
        frame = frame.with_columns(pl.col("person").alias("image_id"))
    frame = _fill(frame, {"context": None, "background": None})
    if "role" not in frame.columns:
        composite = pl.col("context").is_not_null() & pl.col("person").is_not_null()
        frame = frame.with_columns(role=pl.when(composite).then(pl.lit("composite")).otherwise(pl.lit("baseline")))
    strange = set(frame["role"].drop_nulls()) - set(ROLES)
    if strange:
        raise PortrayalError(f"{name} has role {sorted(strange)[0]!r}. Expected one of {', '.join(ROLES)}.")
    # Of the picture's name alone: a table that was renamed or gained a row asks about the same pictures.
    hashes = [hashlib.sha256(f"recorded picture {image}".encode()).hexdigest() for image in frame["image_id"]]
    described = {"source": f"recorded: {name}", "license": "not stated", "consent": "recorded answers only"}
    filled = _fill(frame, described).with_columns(
        pl.col("image_id").alias("stimulus"), pl.lit("image").alias("kind"), pl.col("image_id").alias("content"),
        pl.Series("hash", hashes, dtype=pl.String), pl.col("background").fill_null(pl.col("context")),
    )  # fmt: skip
    return _first(filled, (*STIMULI, "role", "person", "context", "background")).drop("image_id", "file", strict=False)


def load_openpeople(picture: str = "studio_portrait") -> pl.DataFrame:
    """Return one row per generated person: person, file, source, license, consent, gender, skin, skin_type, age."""
    rows = []
    about = {"source": "openpeople 0.1.2, generated", "license": "MIT", "consent": "generated"}
    for name, assets, labels in generated_people():
        skin = labels["skin_tone"].removeprefix("Fitzpatrick ").strip()
        looks = {"skin": "lighter" if skin in LIGHTER else "darker", "skin_type": skin, "age": labels["age_range"]}
        file = str(assets / f"{picture}.jpg")
        rows.append({"person": name, "file": file, **about, "gender": labels["sex"], **looks})
    return pl.DataFrame(rows)


def _fill(frame: pl.DataFrame, missing: Mapping[str, str | None]) -> pl.DataFrame:
    """Add the columns that are not there."""
    return frame.with_columns(
        pl.lit(text, pl.String).alias(name) for name, text in missing.items() if name not in frame.columns
    )


def _first(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return frame.select(*names, pl.exclude(*names))


def load_chicago_faces(
    folder: Path | str, norming: Path | str | None = None, consent: str = "", expression: str = "N"
) -> pl.DataFrame:
    """Return one row per person with a picture of the expression (neutral unless said otherwise)."""
    rows = [row for path in sorted(Path(folder).rglob("CFD*.*")) if (row := _picture(path, expression, consent))]
    if not rows:
        raise PortrayalError(
            f"no Chicago Face Database picture under {folder}. Expected names like CFD-AF-200-228-N.jpg."
        )
    people = pl.DataFrame(rows).unique("person", keep="first", maintain_order=True)
    if norming is not None:
        people = people.join(_read_norming(Path(norming)), on="person", how="left")
    return people.select(*PEOPLE, pl.exclude(*PEOPLE))


def _picture(path: Path, expression: str, consent: str) -> dict[str, str] | None:
    match = NAME.match(path.stem)
    if match is None or match[6] != expression:
        return None
    return {
        "person": f"{match[2]}{match[3]}-{match[4]}", "file": str(path), "source": "Chicago Face Database",
        "license": "CFD terms of use, research only", "consent": consent, "gender": GENDERS[match[3]], "race": RACES[match[2]],
    }  # fmt: skip


def _read_norming(path: Path) -> pl.DataFrame:
    """Read the sheet; factors the file name already gives are not taken twice."""
    frame = read_csv(path, hint="Save the sheet as CSV.")
    if "Model" not in frame.columns:
        raise PortrayalError(f"{path.name} lacks column 'Model'. Save the main sheet of the norming data as CSV.")
    taken = [name for name in frame.columns if name.lower() in ("gender", "race", *PEOPLE)]
    return frame.drop(taken).rename({"Model": "person"}).unique("person")

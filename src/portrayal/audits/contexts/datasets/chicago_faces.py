"""Chicago Face Database (chicagofaces.org), which users obtain themselves: pictures and norming sheet.

Ma, Correll, Wittenbrink (2015), The Chicago face database, Behavior Research Methods 47, 1122-1135.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from portrayal.audits.contexts.datasets.people import PEOPLE
from portrayal.errors import PortrayalError
from portrayal.tables import read_csv

RACES = {"A": "Asian", "B": "Black", "L": "Latinx", "W": "White", "M": "Multiracial", "I": "Indian"}
GENDERS = {"F": "female", "M": "male"}
# CFD-AF-200-228-N.jpg: set, race and gender, model, picture, expression (N: neutral; HO, HC, A, F: others)
NAME = re.compile(r"^(CFD)-?(?:IND|MR)?-?([ABLWMI])([FM])-(\d+)-(\d+)-(N|HO|HC|A|F)$")


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

"""Counterfactual pictures made elsewhere: a folder that says, for each file, its source picture and attribute value."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stimuli.faces.series import require_consent

NAMED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[a-z]+)_(?P<value>[+-]?\d+(\.\d+)?)$")
UNEDITED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[a-z]+)_unedited$")


def folder_stimuli(folder: Path, source: str = "", license_: str = "", consent: str = "") -> pl.DataFrame:
    """Return the stimuli of a folder.

    Parameters
    ----------
    folder
        Either with `series.csv` (file, picture, attribute, value; person, source, license and consent where known;
        an empty value is the unedited photograph), or with files named PICTURE_ATTRIBUTE_VALUE.png,
        such as `anna_gender_-1.33.png`, and PICTURE_ATTRIBUTE_unedited.png.
    source, license_, consent
        What holds for all files, where the table does not say.

    Raises
    ------
    PortrayalError
        When there is nothing to read, or a file has no source or consent.
    """
    table = folder / "series.csv"
    rows = pl.read_csv(table, infer_schema=False).to_dicts() if table.is_file() else _by_name(folder)
    if not rows:
        raise PortrayalError(
            f"no series in {folder}. Expected series.csv, or files named PICTURE_ATTRIBUTE_VALUE.png."
        )
    if lacking := {"file", "picture", "attribute", "value"} - set(rows[0]):
        raise PortrayalError(
            f"{table} lacks column {sorted(lacking)[0]!r}. It needs file, picture, attribute, value."
        )
    return pl.DataFrame(
        [_stimulus(row, folder, source, license_, consent) for row in rows], infer_schema_length=None
    )


def _by_name(folder: Path) -> list[dict[str, str | None]]:
    rows: list[dict[str, str | None]] = []
    for path in sorted(folder.glob("*")):
        match = NAMED.match(path.stem) or UNEDITED.match(path.stem)
        if match and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"):
            rows.append({"file": path.name, "value": None, **match.groupdict()})
    return rows


def _stimulus(
    row: dict[str, str | None], folder: Path, source: str, license_: str, consent: str
) -> dict[str, object]:
    path = folder / str(row["file"])
    entry = {"source": row.get("source") or source, "consent": row.get("consent") or consent}
    require_consent(entry, str(row["file"]))
    if not path.is_file():
        raise PortrayalError(f"{folder / 'series.csv'} names {row['file']!r}, which is not there.")
    if row["attribute"] == "age":
        raise PortrayalError("age is never varied. Leave series of age out of the folder.")
    return {
        "stimulus": path.stem,
        "kind": "image",
        "content": str(path),
        "hash": hashlib.sha256(path.read_bytes()).hexdigest(),
        "source": entry["source"],
        "license": row.get("license") or license_,
        "consent": entry["consent"],
        "picture": row["picture"],
        "person": row.get("person") or row["picture"],
        "attribute": row["attribute"],
        "condition": "edited" if row["value"] not in (None, "") else "unedited",
        "value": float(row["value"]) if row["value"] not in (None, "") else None,
    }

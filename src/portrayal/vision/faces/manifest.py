"""The manifest of a folder of series: `manifest.json`, which says of each picture who it shows and what was varied.

docs/counterfactuals.md ("A folder of series") lists its fields. Whatever else it holds (seeds, style vectors, readings) is kept
and not looked at.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from portrayal.edges.sizes import LARGEST_TABLE, check_size
from portrayal.errors import PortrayalError

MANIFEST = "manifest.json"
KINDS = ("face only", "whole")
NEEDED = ("file", "person", "attribute", "value")
COMMON = ("source", "license", "consent", "age", "kind")  # what the manifest may say once for all
CHECKS = {
    "check": pl.String, "attribute": pl.String, "pole_low": pl.String, "pole_high": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "unit": pl.String, "needs": pl.String, "passed": pl.Boolean,
    "note": pl.String,
}  # fmt: skip

Entry = dict[str, str | None]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a folder's manifest.

    Raises
    ------
    PortrayalError
        When it is no JSON object with a list `pictures`, or a picture lacks a field.
    """
    path = folder / MANIFEST
    check_size(path, LARGEST_TABLE)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        pictures = told["pictures"]
        lacking = [(picture, name) for picture in pictures for name in NEEDED if name not in picture]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PortrayalError(
            f"{path} is no manifest of series. Expected a JSON object with a list `pictures`; see docs/counterfactuals.md."
        ) from None
    if lacking:
        picture, name = lacking[0]
        raise PortrayalError(
            f"{path}: picture {picture.get('file')!r} lacks {name!r}. Each needs {', '.join(NEEDED)}."
        )
    return dict(told)


def manifest_entries(told: Mapping[str, Any]) -> list[Entry]:
    """Return one entry a picture, as `folder.read_folder` reads them; what holds for all, or for a person, is filled in."""
    often = Counter(str(picture["file"]) for picture in told["pictures"])
    people = told.get("people") or {}
    return [
        _entry(picture, told, people.get(str(picture["person"])) or {}, often) for picture in told["pictures"]
    ]


def manifest_checks(told: Mapping[str, Any], kind: str | None) -> pl.DataFrame | None:
    """Return the checks of a manifest for one kind of series, or None where it has none."""
    rows = [row for row in told.get("checks") or () if row.get("kind") in (None, "", kind)]
    if not rows:
        return None
    return pl.DataFrame([_check(row) for row in rows], schema=CHECKS)


def listed_pictures(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield file (a path that opens), person, attribute, poles, value and kind of every picture of a folder."""
    for entry in manifest_entries(read_manifest(folder)):
        poles = [entry["pole_low"], entry["pole_high"]] if entry["pole_low"] else []
        yield {
            "file": str(folder / str(entry["file"])),
            "person": entry["person"],
            "attribute": entry["attribute"],
            "poles": poles,
            "value": float(entry["value"]) if entry["value"] else None,
            "kind": entry["kind"],
        }


def _entry(
    picture: Mapping[str, Any], told: Mapping[str, Any], person: Mapping[str, Any], often: Counter[str]
) -> Entry:
    """Return one picture as text; a file named twice (a centre that two series share) gets a name for each."""
    low, high = _poles(picture)
    attribute, value = str(picture["attribute"]), picture["value"]
    stem = str(PurePosixPath(str(picture["file"])).with_suffix(""))
    axis = (attribute, *filter(None, (low, high)))
    common = {name: picture.get(name) or person.get(name) or told.get(name) for name in COMMON}
    return {
        "file": str(picture["file"]),
        "stimulus": stem if often[str(picture["file"])] == 1 else " ".join((stem, *axis)),
        "person": str(picture["person"]),
        "picture": str(picture.get("picture") or picture["person"]),
        "attribute": attribute,
        "pole_low": low,
        "pole_high": high,
        "value": None if value is None else str(value),
        "start": _text(picture.get("start") or person.get(attribute)),
        **{name: _text(said) for name, said in common.items()},
    }


def _poles(picture: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the two poles of a picture, the negative end first; two Nones where none are told."""
    poles: Sequence[Any] = picture.get("poles") or ()
    if len(poles) not in (0, 2) or (poles and poles[0] == poles[1]):
        raise PortrayalError(
            f"{MANIFEST}: picture {picture['file']!r} has the poles {list(poles)}. Expected two, the negative end first, or none."
        )
    return (str(poles[0]), str(poles[1])) if poles else (None, None)


def _check(row: Mapping[str, Any]) -> dict[str, Any]:
    low, high = _poles({"poles": row.get("poles"), "file": row.get("check")})
    kept: dict[str, Any] = {name: row.get(name) for name in CHECKS}
    number = {name: None if kept[name] is None else float(kept[name]) for name in ("value", "low", "high")}
    return {
        **kept,
        **number,
        "pole_low": low,
        "pole_high": high,
        "needs": kept["needs"] or "",
        "note": kept["note"] or "",
    }


def _text(said: Any) -> str | None:
    return None if said is None or said == "" else str(said)

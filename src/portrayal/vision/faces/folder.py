"""Counterfactual pictures made elsewhere: a folder that says, for each file, its source picture and attribute value.

The same rules hold as for pictures manipulated here: source and consent are needed, age is never varied, and whoever is
labelled under 20, or put there by the age reader, is left out by name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from portrayal.edges.paths import path_inside
from portrayal.errors import PortrayalError, check_name
from portrayal.vision.faces.build import LEFT_OUT_COLUMNS, UNSEEN, YOUNG, open_or_none
from portrayal.vision.faces.manifest import (
    KINDS,
    MANIFEST,
    Entry,
    manifest_checks,
    manifest_entries,
    read_manifest,
)
from portrayal.vision.faces.series import require_consent
from portrayal.vision.faces.sources import labelled_age, labelled_young
from portrayal.vision.faces.suitability import inspect_face

# Letters of either case, so that a file of another attribute is refused and not passed over.
NAMED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_(?P<value>[+-]?\d+(\.\d+)?)$")
UNEDITED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_unedited$")
AGED = re.compile(
    r"\d|\b(age|aged|young(er)?|old(er)?|youth|child(ren)?|kid|teen(ager)?|minor|baby|elderly|adult|senior)s?\b",
    re.I,
)
ATTRIBUTES = ("gender", "race", "placebo")
TABLE = "series.csv"
TYPES = {
    **dict.fromkeys(("pole_low", "pole_high", "start"), pl.String),
    "value": pl.Float64,
    "age": pl.Float64,
}
Pair = tuple[str | None, str | None]  # the poles, or nothing
LOOKED_AT = 512  # pixels of the longer side of what the age reader is shown


@dataclass(frozen=True)
class Chosen:
    """Which series of a folder a study shows; None is all there are."""

    kind: str | None = None
    attributes: Sequence[str] | None = None
    pairs: Sequence[tuple[str, str]] | None = None


class FolderSeries(NamedTuple):
    """What a folder holds: the stimuli, who was left out of it and why, and the checks its manifest tells."""

    stimuli: pl.DataFrame
    left_out: pl.DataFrame
    checks: pl.DataFrame | None = None


def read_folder(
    folder: Path,
    source: str = "",
    license_: str = "",
    consent: str = "",
    age: str = "",
    chosen: Chosen = Chosen(),
) -> FolderSeries:
    """Return the stimuli of a folder, and who was left out of it and why.

    Parameters
    ----------
    folder
        With `manifest.json` (see `portrayal.vision.faces.manifest`), with `series.csv` (file, picture, attribute, value; person,
        pole_low, pole_high, kind, start, source, license, consent and age where known; an empty value is the unedited
        photograph), or with files named PICTURE_ATTRIBUTE_VALUE.png, such as `anna_gender_-1.33.png`, and
        PICTURE_ATTRIBUTE_unedited.png.
    source, license_, consent, age
        What holds for all files, where the table does not say. Without an age the age reader decides; who has neither
        an age nor a face it can look at is left out.
    chosen
        Kind, attributes and pairs of poles wanted. Where no kind is, and both are there, face only.

    Raises
    ------
    PortrayalError
        When there is nothing to read, a file has no source or consent, another attribute than gender, race or
        placebo is varied, or nothing of what is wanted is there.
    """
    rows = read_entries(folder)
    for row in rows:
        row["attribute"] = _attribute(row)  # whatever is wanted: a folder that varies age is refused
    kind = _kind(rows, chosen.kind, folder)
    shown = [row for row in rows if row.get("kind") in (None, "", kind)]
    _check_pairs(shown, chosen, folder)
    beside = _placebo_poles(shown)
    wanted = [row for row in shown if _is_wanted(row, chosen, beside)]
    if not wanted:
        raise PortrayalError(
            f"{folder} has no series of what the study asks for. Mend attributes, poles or kind."
        )
    given: Entry = {"source": source, "license": license_, "consent": consent, "age": age}
    made = [
        _stimulus(given | {name: value for name, value in row.items() if value}, folder) for row in wanted
    ]
    stimuli = pl.DataFrame(made, schema_overrides=TYPES, infer_schema_length=None)
    stimuli = stimuli.drop("start") if stimuli["start"].null_count() == stimuli.height else stimuli
    left_out = pl.DataFrame(list(_adulthood(stimuli)), schema=LEFT_OUT_COLUMNS, orient="row")
    young = left_out.filter(pl.col("left_out"))["picture"].to_list()
    kept = stimuli.filter(~pl.col("picture").is_in(young)).drop("age")
    return FolderSeries(kept, left_out, _checks(folder, kind))


def read_entries(folder: Path) -> list[Entry]:
    """Return what a folder says of each of its pictures, by its manifest, its table or the names of its files."""
    if (folder / MANIFEST).is_file():
        return manifest_entries(read_manifest(folder))
    table = folder / TABLE
    rows = pl.read_csv(table, infer_schema=False).to_dicts() if table.is_file() else _by_name(folder)
    if not rows:
        raise PortrayalError(
            f"no series in {folder}. Expected {MANIFEST}, {TABLE}, or files named PICTURE_ATTRIBUTE_VALUE.png."
        )
    if lacking := {"file", "picture", "attribute", "value"} - set(rows[0]):
        raise PortrayalError(
            f"{table} lacks column {sorted(lacking)[0]!r}. It needs file, picture, attribute, value."
        )
    return [{**row, "stimulus": Path(str(row["file"])).stem} for row in rows]


def _kind(rows: Sequence[Entry], wanted: str | None, folder: Path) -> str | None:
    """Return the kind of series to show: one of them, since the two kinds of one person are not two people."""
    kinds = sorted({str(row["kind"]) for row in rows if row.get("kind")})
    if strange := [kind for kind in kinds if kind not in KINDS]:  # of a table: a manifest's were looked at
        raise PortrayalError(f"{folder} has series of kind {strange[0]!r}. Expected {' or '.join(KINDS)}.")
    if wanted and kinds and wanted not in kinds:
        raise PortrayalError(f"{folder} has no series of kind {wanted!r}. It has: {', '.join(kinds)}.")
    return wanted or (kinds[0] if kinds else None)


def _check_pairs(rows: Sequence[Entry], chosen: Chosen, folder: Path) -> None:
    """Refuse poles that a folder's race does not have: left out in silence, a study would have lost that pair, or race."""
    there = {_pair(row) for row in rows if row["attribute"] == "race" and _pair(row)[0]}
    if not there or "race" not in (chosen.attributes or ["race"]):
        return
    for pair in chosen.pairs or ():
        for pole in pair:
            check_name(pole, sorted({str(one) for known in there for one in known}), "race pole")
        if pair not in there:
            known = "; ".join(sorted(f"{low} to {high}" for low, high in there))
            raise PortrayalError(
                f"{folder} has no series of what the study asks for: race from {pair[0]} to {pair[1]}. It has {known}. Mend poles."
            )


def _is_wanted(row: Entry, chosen: Chosen, beside: set[Pair]) -> bool:
    if chosen.attributes is not None and row["attribute"] not in chosen.attributes:
        return False
    pair = _pair(row)
    if row["attribute"] == "placebo" and not _has_axis(pair, chosen.attributes, beside):
        return False
    return not (chosen.pairs and pair[0]) or pair in chosen.pairs


def _placebo_poles(rows: Sequence[Entry]) -> set[Pair]:
    return {_pair(row) for row in rows if row["attribute"] == "placebo"}


def _has_axis(pair: Pair, attributes: Sequence[str] | None, beside: set[Pair]) -> bool:
    """Say whether a placebo stands beside an axis that is shown: one of race's poles, or one of gender that race may have to share."""
    if attributes is None:
        return True
    if pair[0]:
        return "race" in attributes
    return "gender" in attributes or beside == {pair}


def _pair(row: Entry) -> Pair:
    return row.get("pole_low") or None, row.get("pole_high") or None


def _checks(folder: Path, kind: str | None) -> pl.DataFrame | None:
    return manifest_checks(read_manifest(folder), kind) if (folder / MANIFEST).is_file() else None


def _by_name(folder: Path) -> list[Entry]:
    rows: list[Entry] = []
    for path in sorted(folder.glob("*")):
        match = NAMED.match(path.stem) or UNEDITED.match(path.stem)
        if match and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"):
            rows.append({"file": path.name, "value": None, **match.groupdict()})
    return rows


def _stimulus(row: Entry, folder: Path) -> dict[str, object]:
    for name in ("file", "picture"):
        if not row.get(name):
            raise PortrayalError(
                f"{folder}: an entry of its table has no {name!r}. Name the file and the source picture."
            )
    path = path_inside(folder, str(row["file"]), (), folder.name)
    require_consent(row, str(row["file"]))
    if not path.is_file():
        raise PortrayalError(f"{folder} names {row['file']!r}, which is not there.")
    value = _value(row)
    return {
        "stimulus": row["stimulus"], "kind": "image", "content": str(path),
        "hash": hashlib.sha256(path.read_bytes()).hexdigest(), "source": row["source"],
        "license": row["license"], "consent": row["consent"], "picture": row["picture"],
        "person": row.get("person") or row["picture"], "attribute": row["attribute"],
        "pole_low": row.get("pole_low"), "pole_high": row.get("pole_high"),
        "condition": "unedited" if value is None else "edited", "value": value, "start": row.get("start"),
        "age": labelled_age(row["age"], str(row["file"])),
    }  # fmt: skip


def _attribute(row: Entry) -> str:
    """Return the attribute in small letters; another than the three is refused, whatever it is called."""
    attribute = str(row.get("attribute") or "").strip().lower()
    if attribute not in ATTRIBUTES:
        raise PortrayalError(
            f"{row['file']!r} varies {row.get('attribute') or ''!r}. Expected gender, race or placebo, and nothing else: "
            f"age is never varied. Leave other series out of the folder."
        )
    for pole in filter(None, (row.get("pole_low"), row.get("pole_high"))):
        if AGED.search(pole):
            raise PortrayalError(
                f"{row['file']!r} has the pole {pole!r}. Expected a group: age is never varied."
            )
    return attribute


def _value(row: Entry) -> float | None:
    if not (row.get("value") or "").strip():
        return None
    try:
        return float(str(row["value"]))
    except ValueError:
        raise PortrayalError(
            f"{row['file']!r} has the value {row['value']!r}. Expected a number, or nothing for the unedited photograph."
        ) from None


def _adulthood(stimuli: pl.DataFrame) -> Iterator[tuple[str, str, bool]]:
    """Yield picture, reason and whether it is left out, for whoever is no adult or could not be looked at."""
    for (picture,), mine in stimuli.group_by("picture", maintain_order=True):
        if any(labelled_young(age) for age in mine["age"]):
            yield str(picture), YOUNG, True
            continue
        # The unedited photograph before the centre, and the centre before what was changed more.
        first = mine.sort(pl.col("value").abs().fill_null(-1.0), maintain_order=True).row(0, named=True)
        reason = _reason_seen(first["content"], first["hash"])
        if reason == "not adult":
            yield str(picture), reason, True
        elif reason == "no face" and mine["age"].null_count() == mine.height:
            yield str(picture), UNSEEN, True


@cache
def _reason_seen(path: str, _content: str) -> str:
    """Return the reason `inspect_face` gives against a file; asked once for each content, since a study reads its folder twice."""
    picture = open_or_none(Path(path), LOOKED_AT)
    return "no face" if picture is None else inspect_face(picture).reason

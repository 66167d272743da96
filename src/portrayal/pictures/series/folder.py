"""Stimuli of a folder of counterfactual pictures, under the rules of pictures manipulated here."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from portrayal.errors import PortrayalError, check_name
from portrayal.pictures.faces.reader import read_person
from portrayal.pictures.images import is_readable, open_or_none
from portrayal.pictures.series.entries import (
    LEFT_OUT_COLUMNS,
    UNREADABLE,
    UNSEEN,
    YOUNG,
    Pair,
    Step,
    clean_entries,
    kinds_of,
    labelled_young,
    pair_of,
    require_consent,
    step_of,
    with_race_poles,
)
from portrayal.pictures.series.manifest import (
    MANIFEST,
    Entry,
    manifest_checks,
    manifest_entries,
    read_manifest,
    stimulus_name,
)
from portrayal.pictures.series.values import axis_title, even_values
from portrayal.tables import read_csv

# Letters of either case, so that a file of another attribute is refused and not passed over.
NAMED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_(?P<value>[+-]?\d+(\.\d+)?)$")
UNEDITED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_unedited$")
TABLE = "series.csv"
TYPES = {**dict.fromkeys(("pole_low", "pole_high", "start"), pl.String), "value": pl.Float64, "age": pl.Float64}
AXIS = ("attribute", "pole_low", "pole_high")
LOOKED_AT = 512  # pixels of the longer side of what the age reader is shown


@dataclass(frozen=True)
class Chosen:
    """Choice of the series of a folder; None takes all there are."""

    kind: str | None = None
    attributes: Sequence[str] | None = None
    pairs: Sequence[tuple[str, str]] | None = None


class FolderSeries(NamedTuple):
    """Stimuli of a folder, people left out with reasons, and checks of its manifest."""

    stimuli: pl.DataFrame
    left_out: pl.DataFrame
    checks: pl.DataFrame | None = None


def read_folder(
    folder: Path, source: str = "", license_: str = "", consent: str = "", age: str = "", chosen: Chosen = Chosen()
) -> FolderSeries:
    """Return the stimuli of a folder, and the people left out with reasons."""
    rows = clean_entries(read_entries(folder))
    kind = _kind(rows, chosen.kind, folder)
    shown = [row for row in rows if row.get("kind") in (None, "", kind)]
    _check_pairs(shown, chosen, folder)
    beside = _placebo_poles(shown)
    wanted = [row for row in shown if _is_wanted(row, chosen, beside)]
    if not wanted:
        raise PortrayalError(f"{folder} has no series of what the study asks for. Mend attributes, poles or kind.")
    given: Entry = {"source": source, "license": license_, "consent": consent, "age": age}
    named = with_race_poles(wanted, chosen.pairs or ())
    told = [given | {name: said for name, said in row.items() if said} for row in named]
    made = [_stimulus(step_of(row, folder)) for row in told]
    stimuli = pl.DataFrame(made, schema_overrides=TYPES, infer_schema_length=None)
    stimuli = stimuli.drop("start") if stimuli["start"].null_count() == stimuli.height else stimuli
    left_out = pl.DataFrame(list(_left_out(stimuli, folder)), schema=LEFT_OUT_COLUMNS, orient="row")
    gone = left_out.filter(pl.col("left_out"))["picture"].to_list()
    kept = stimuli.filter(~pl.col("picture").is_in(gone)).drop("age")
    _check_values(kept)
    return FolderSeries(kept, left_out, _checks(folder, kind))


def _check_values(stimuli: pl.DataFrame) -> None:
    """Refuse values without a measurable slope, before anything is asked and paid for."""
    for (attribute, low, high), mine in stimuli.group_by(*AXIS, maintain_order=True):
        even_values(mine["value"].drop_nulls(), axis_title(str(attribute), *(low, high) if low else ()))


def read_entries(folder: Path) -> list[Entry]:
    """Return an entry per picture, from manifest, table or file names."""
    if (folder / MANIFEST).is_file():
        return manifest_entries(read_manifest(folder))
    table = folder / TABLE
    rows = _by_table(table) if table.is_file() else _by_name(folder)
    if not rows:
        raise PortrayalError(
            f"no series in {folder}. Expected {MANIFEST}, {TABLE}, or files named PICTURE_ATTRIBUTE_VALUE.png."
        )
    if lacking := {"file", "picture", "attribute", "value"} - set(rows[0]):
        raise PortrayalError(f"{table} lacks column {sorted(lacking)[0]!r}. It needs file, picture, attribute, value.")
    often = Counter(row["file"] for row in rows)
    return [{**row, "stimulus": _name(row, often[row["file"]] > 1)} for row in rows]


def _by_table(table: Path) -> list[Entry]:
    return read_csv(
        table, "a table of series", "Expected a CSV in UTF-8 with file, picture, attribute, value."
    ).to_dicts()


def _name(row: Entry, shared: bool) -> str:
    axis = (row["attribute"], row.get("pole_low"), row.get("pole_high"))
    return stimulus_name(str(row["file"]), axis, shared)


def _kind(rows: Sequence[Entry], wanted: str | None, folder: Path) -> str | None:
    """Return the one kind to show: two kinds of a person are not two people."""
    kinds = kinds_of(rows, folder)
    if wanted and kinds and wanted not in kinds:
        raise PortrayalError(f"{folder} has no series of kind {wanted!r}. It has: {', '.join(kinds)}.")
    return wanted or (kinds[0] if kinds else None)


def _check_pairs(rows: Sequence[Entry], chosen: Chosen, folder: Path) -> None:
    """Refuse poles that a folder's race does not have, instead of losing them silently."""
    there = {pair_of(row) for row in rows if row["attribute"] == "race" and pair_of(row)[0]}
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
    pair = pair_of(row)
    if row["attribute"] == "placebo" and not _has_axis(pair, chosen.attributes, beside):
        return False
    return not (chosen.pairs and pair[0]) or pair in chosen.pairs


def _placebo_poles(rows: Sequence[Entry]) -> set[Pair]:
    return {pair_of(row) for row in rows if row["attribute"] == "placebo"}


def _has_axis(pair: Pair, attributes: Sequence[str] | None, beside: set[Pair]) -> bool:
    """Return whether a placebo stands beside an axis that is shown."""
    if attributes is None:
        return True
    if pair[0]:
        return "race" in attributes
    return "gender" in attributes or beside == {pair}


def _checks(folder: Path, kind: str | None) -> pl.DataFrame | None:
    return manifest_checks(read_manifest(folder), kind) if (folder / MANIFEST).is_file() else None


def _by_name(folder: Path) -> list[Entry]:
    rows: list[Entry] = []
    for path in sorted(folder.glob("*")):
        match = NAMED.match(path.stem) or UNEDITED.match(path.stem)
        if match and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"):
            rows.append({"file": path.name, "value": None, **match.groupdict()})
    return rows


def _stimulus(step: Step) -> dict[str, object]:
    row = step.entry
    require_consent(row, str(row["file"]))
    return {
        "stimulus": row["stimulus"], "kind": "image", "content": str(step.path),
        "hash": hashlib.sha256(step.path.read_bytes()).hexdigest(), "source": row["source"],
        "license": row["license"], "consent": row["consent"], "picture": row["picture"],
        "person": row.get("person") or row["picture"], "attribute": row["attribute"],
        "pole_low": row.get("pole_low"), "pole_high": row.get("pole_high"),
        "condition": "unedited" if step.value is None else "edited", "value": step.value, "start": row.get("start"),
        "age": step.age,
    }  # fmt: skip


def _left_out(stimuli: pl.DataFrame, folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield picture, reason and True for people who are not adult or unreadable."""
    for (picture,), mine in stimuli.group_by("picture", maintain_order=True):
        if any(labelled_young(age) for age in mine["age"]):
            yield str(picture), YOUNG, True
        elif broken := first_unreadable(map(Path, mine["content"]), folder):
            yield str(picture), f"{UNREADABLE}: {broken}", True
        elif reason := _reason_of_age(mine):
            yield str(picture), reason, True


def _reason_of_age(series: pl.DataFrame) -> str:
    """Return why a source picture may not show an adult, or nothing."""
    # The unedited photograph before the centre, and the centre before what was changed more.
    first = series.sort(pl.col("value").abs().fill_null(-1.0), maintain_order=True).row(0, named=True)
    reason = _reason_seen(first["content"], first["hash"])
    if reason == "not adult":
        return reason
    return UNSEEN if reason == "no face" and series["age"].null_count() == series.height else ""


def first_unreadable(files: Iterable[Path], folder: Path) -> str | None:
    """Return the path within the folder of the first unreadable picture."""
    broken = next((path for path in files if not _readable(path, path.stat().st_mtime_ns)), None)
    return None if broken is None else os.path.relpath(broken, folder)


@cache
def _readable(path: Path, _changed: int) -> bool:
    """Return whether a file is readable, cached until it changes."""
    return is_readable(path)


@cache
def _reason_seen(path: str, _content: str) -> str:
    """Return the age reader's reason against a file, cached by content."""
    picture = open_or_none(Path(path), LOOKED_AT)
    return "no face" if picture is None else read_person(picture).reason

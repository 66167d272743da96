"""Stimuli of a folder of counterfactual pictures, under the rules of pictures manipulated here."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError, check_name
from portrayal.pictures.faces import ADULT, read_person
from portrayal.pictures.images import is_readable, open_or_none
from portrayal.pictures.series import manifest
from portrayal.pictures.series.manifest import KINDS, MANIFEST, Entry
from portrayal.pictures.series.values import axis_title, even_values
from portrayal.tables import read_csv

AGED = re.compile(
    r"\d|\b(age|aged|young(er)?|old(er)?|youth|child(ren)?|kid|teen(ager)?|minor|baby|elderly|adult|senior)s?\b", re.I
)
AGE = re.compile(r"^(?:more than )?(?P<years>\d+(?:\.\d+)?)(?: ?- ?\d+(?:\.\d+)?)?$")
# Letters of either case, so that a file of another attribute is refused and not passed over.
NAMED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_(?P<value>[+-]?\d+(\.\d+)?)$")
UNEDITED = re.compile(r"^(?P<picture>.+)_(?P<attribute>[A-Za-z]+)_unedited$")
# Words that are no source and no consent; "generated" and words of your own ("signed 2026-03-01") are.
NO_SOURCE = ("", "none", "unknown", "null", "nan", "n/a", "na", "-", "?")
NO_CONSENT = ("no", "not given", "no consent", "refused", "denied", "withdrawn", "revoked", "pending", "false", "0")
NOTHING = (*NO_SOURCE, *NO_CONSENT)
YOUNG, UNREADABLE = f"labelled under {ADULT}", "unreadable picture"  # further reasons to leave somebody out
UNSEEN = "no age label, and no face the age reader could look at"  # no evidence of adulthood
LEFT_OUT_COLUMNS = {"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean}
ATTRIBUTES = ("gender", "race", "placebo")
TABLE = "series.csv"
TYPES = {**dict.fromkeys(("pole_low", "pole_high", "start"), pl.String), "value": pl.Float64, "age": pl.Float64}
AXIS = ("attribute", "pole_low", "pole_high")
LOOKED_AT = 512  # pixels of the longer side of what the age reader is shown
Pair = tuple[str | None, str | None]  # the poles, or nothing


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


class Step(NamedTuple):
    """One checked picture of a folder, with its file, value and labelled age."""

    entry: Entry
    path: Path
    value: float | None
    age: float | None


def read_folder(
    folder: Path, source: str = "", license_: str = "", consent: str = "", age: str = "", chosen: Chosen = Chosen()
) -> FolderSeries:
    """Return the stimuli of a folder, and the people left out with reasons."""
    rows = clean_entries(read_entries(folder))
    kinds = kinds_of(rows, folder)
    if chosen.kind and kinds and chosen.kind not in kinds:
        raise PortrayalError(f"{folder} has no series of kind {chosen.kind!r}. It has: {', '.join(kinds)}.")
    kind = chosen.kind or (kinds[0] if kinds else None)  # one of them: two kinds of a person are not two people
    entries = [row for row in rows if row.get("kind") in (None, "", kind)]
    _check_pairs(entries, chosen, folder)
    beside = _placebo_poles(entries)
    wanted = [row for row in entries if _is_wanted(row, chosen, beside)]
    if not wanted:
        raise PortrayalError(f"{folder} has no series of what the study asks for. Mend attributes, poles or kind.")
    common: Entry = {"source": source, "license": license_, "consent": consent, "age": age}
    named = with_race_poles(wanted, chosen.pairs or ())
    filled = [common | {name: text for name, text in row.items() if text} for row in named]
    made = [_stimulus(step_of(row, folder)) for row in filled]
    stimuli = pl.DataFrame(made, schema_overrides=TYPES, infer_schema_length=None)
    stimuli = stimuli.drop("start") if stimuli["start"].null_count() == stimuli.height else stimuli
    left_out = pl.DataFrame(list(_left_out(stimuli, folder)), schema=LEFT_OUT_COLUMNS, orient="row")
    gone = left_out.filter(pl.col("left_out"))["picture"].to_list()
    usable = stimuli.filter(~pl.col("picture").is_in(gone)).drop("age")
    for (attribute, low, high), mine in usable.group_by(*AXIS, maintain_order=True):  # before anything is paid for
        even_values(mine["value"].drop_nulls(), axis_title(str(attribute), *(low, high) if low else ()))
    checks = manifest.manifest_checks(manifest.read_manifest(folder), kind) if (folder / MANIFEST).is_file() else None
    return FolderSeries(usable, left_out, checks)


def read_entries(folder: Path) -> list[Entry]:
    """Return an entry per picture, from manifest, table or file names."""
    if (folder / MANIFEST).is_file():
        return manifest.manifest_entries(manifest.read_manifest(folder))
    table, wanted = folder / TABLE, ("file", "picture", "attribute", "value")
    columns = ", ".join(wanted)
    hint = f"Expected a CSV in UTF-8 with {columns}."
    tabled = table.is_file()
    rows: list[Entry] = read_csv(table, "a table of series", hint).to_dicts() if tabled else list(_by_name(folder))
    if not rows:
        raise PortrayalError(
            f"no series in {folder}. Expected {MANIFEST}, {TABLE}, or files named PICTURE_ATTRIBUTE_VALUE.png."
        )
    if lacking := set(wanted) - set(rows[0]):
        raise PortrayalError(f"{table} lacks column {sorted(lacking)[0]!r}. It needs {columns}.")
    often = Counter(row["file"] for row in rows)
    return [
        {
            **row,
            "stimulus": manifest.stimulus_name(
                str(row["file"]), [row.get(name) for name in AXIS], often[row["file"]] > 1
            ),
        }
        for row in rows
    ]


def _by_name(folder: Path) -> Iterator[Entry]:
    for path in sorted(folder.glob("*")):
        match = NAMED.match(path.stem) or UNEDITED.match(path.stem)
        if match and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp"):
            yield {"file": path.name, "value": None, **match.groupdict()}


def clean_entries(rows: Sequence[Entry]) -> list[Entry]:
    """Return entries with checked attribute and poles; a folder that varies age is refused."""
    return [{**row, "attribute": _attribute(row), **_poles(row)} for row in rows]


def kinds_of(rows: Sequence[Entry], folder: Path) -> list[str]:
    """Return the kinds of series there are, or refuse one that is none."""
    kinds = sorted({str(row["kind"]) for row in rows if row.get("kind")})
    if strange := [kind for kind in kinds if kind not in KINDS]:  # of a table: a manifest's were looked at
        raise PortrayalError(f"{folder} has series of kind {strange[0]!r}. Expected {' or '.join(KINDS)}.")
    return kinds


def pair_of(row: Entry) -> Pair:
    """Return the poles of an entry, or nothing twice."""
    return row.get("pole_low") or None, row.get("pole_high") or None


def with_race_poles(rows: Sequence[Entry], pairs: Sequence[tuple[str, str]] = ()) -> Iterator[Entry]:
    """Yield the entries, with the study's pair where race has no poles."""
    there = {pair_of(row) for row in rows if row["attribute"] == "race" and row.get("pole_low")}
    for row in rows:
        if row["attribute"] != "race" or row.get("pole_low"):
            yield row
            continue
        # An unedited photograph lies at neither end: of it the only pair of the folder will do.
        known: list[Pair] = [*pairs] or ([] if is_edited(row) else [*there])
        if len(known) != 1:
            raise PortrayalError(
                f"{row.get('file')!r} varies race without poles. Expected two groups, the negative end first: `poles` in a manifest, "
                f"pole_low and pole_high in a table, or one pair as `poles` of the study."
            )
        named: Entry = {**row, "pole_low": known[0][0], "pole_high": known[0][1]}
        yield {**named, **_poles(named)}


def is_edited(row: Entry) -> bool:
    """Return whether an entry has a value; the unedited photograph has none."""
    return bool((row.get("value") or "").strip())


def step_of(row: Entry, folder: Path) -> Step:
    """Return an entry with its file and its numbers."""
    for name in ("file", "picture"):
        if not row.get(name):
            raise PortrayalError(
                f"{folder}: an entry of its table has no {name!r}. Name the file and the source picture."
            )
    path = path_inside(folder, str(row["file"]), (), folder.name)
    if not path.is_file():
        raise PortrayalError(f"{folder} names {row['file']!r}, which is not there.")
    return Step(row, path, _value(row), labelled_age(row.get("age"), str(row["file"])))


def _attribute(row: Entry) -> str:
    attribute = str(row.get("attribute") or "").strip().lower()
    if attribute not in ATTRIBUTES:
        raise PortrayalError(
            f"{row['file']!r} varies {row.get('attribute') or ''!r}. Expected gender, race or placebo, and nothing else: "
            f"age is never varied. Leave other series out of the folder."
        )
    return attribute


def _poles(row: Entry) -> Entry:
    low, high = ((row.get(name) or "").strip() for name in AXIS[1:])
    for pole in filter(None, (low, high)):
        if AGED.search(pole):
            raise PortrayalError(f"{row['file']!r} has the pole {pole!r}. Expected a group: age is never varied.")
    if bool(low) != bool(high) or (low and low.casefold() == high.casefold()):
        raise PortrayalError(
            f"{row['file']!r} has the poles {low!r} and {high!r}. Expected two different groups, the negative end first, or none."
        )
    return {"pole_low": low or None, "pole_high": high or None}


def _value(row: Entry) -> float | None:
    if not is_edited(row):
        return None
    try:
        value = float(str(row["value"]))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise PortrayalError(
            f"{row['file']!r} has the value {row['value']!r}. Expected a number, or nothing for the unedited photograph."
        )
    return value


def labelled_age(text: str | None, picture: str) -> float | None:
    """Return a labelled age, or the lower end of its range; None without label."""
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
    """Return whether a labelled age, or the lower end of its range, lies under 20."""
    return age is not None and not age >= ADULT


def require_consent(entry: Mapping[str, Any], name: str) -> None:
    """Refuse a picture whose entry names no source or no consent."""
    for field in ("source", "consent"):
        text = str(entry.get(field) or "").strip()
        if text.lower() in NOTHING:
            fault = f"the {field} entry {text!r}, which records none" if text else f"no {field} entry"
            raise PortrayalError(
                f"picture {name!r} has {fault}. A face is manipulated only with a recorded source and consent."
            )


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


def _placebo_poles(rows: Sequence[Entry]) -> set[Pair]:
    return {pair_of(row) for row in rows if row["attribute"] == "placebo"}


def _is_wanted(row: Entry, chosen: Chosen, beside: set[Pair]) -> bool:
    """Return whether a row was chosen; a placebo only beside an axis that is shown."""
    pair = pair_of(row)
    if chosen.attributes is not None:
        has_axis = "race" in chosen.attributes if pair[0] else "gender" in chosen.attributes or beside == {pair}
        if row["attribute"] not in chosen.attributes or (row["attribute"] == "placebo" and not has_axis):
            return False
    return not (chosen.pairs and pair[0]) or pair in chosen.pairs


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
    broken = next((path for path in files if not is_readable(path, path.stat().st_mtime_ns)), None)
    return None if broken is None else os.path.relpath(broken, folder)


@cache
def _reason_seen(path: str, _content: str) -> str:
    """Return the age reader's reason against a file, cached by content."""
    picture = open_or_none(Path(path), LOOKED_AT)
    return "no face" if picture is None else read_person(picture).reason

"""Rules for the entries of a folder of series, whatever names them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from portrayal.edges.folders import path_inside
from portrayal.errors import PortrayalError
from portrayal.pictures.faces.reader import ADULT
from portrayal.pictures.series.manifest import KINDS, Entry

AGED = re.compile(
    r"\d|\b(age|aged|young(er)?|old(er)?|youth|child(ren)?|kid|teen(ager)?|minor|baby|elderly|adult|senior)s?\b", re.I
)
AGE = re.compile(r"^(?:more than )?(?P<years>\d+(?:\.\d+)?)(?: ?- ?\d+(?:\.\d+)?)?$")
# Words that are no source and no consent; "generated" and words of your own ("signed 2026-03-01") are.
NO_SOURCE = ("", "none", "unknown", "null", "nan", "n/a", "na", "-", "?")
NO_CONSENT = ("no", "not given", "no consent", "refused", "denied", "withdrawn", "revoked", "pending", "false", "0")
NOTHING = (*NO_SOURCE, *NO_CONSENT)
YOUNG, UNREADABLE = f"labelled under {ADULT}", "unreadable picture"  # further reasons to leave somebody out
UNSEEN = "no age label, and no face the age reader could look at"  # no evidence of adulthood
LEFT_OUT_COLUMNS = {"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean}
ATTRIBUTES = ("gender", "race", "placebo")
Pair = tuple[str | None, str | None]  # the poles, or nothing


class Step(NamedTuple):
    """One checked picture of a folder, with its file, value and labelled age."""

    entry: Entry
    path: Path
    value: float | None
    age: float | None


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
    told = {pair_of(row) for row in rows if row["attribute"] == "race" and row.get("pole_low")}
    for row in rows:
        if row["attribute"] != "race" or row.get("pole_low"):
            yield row
            continue
        known: list[Pair] = [*pairs] or ([] if is_edited(row) else [*told])
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
    """Return the attribute in small letters; refuse any but the three."""
    attribute = str(row.get("attribute") or "").strip().lower()
    if attribute not in ATTRIBUTES:
        raise PortrayalError(
            f"{row['file']!r} varies {row.get('attribute') or ''!r}. Expected gender, race or placebo, and nothing else: "
            f"age is never varied. Leave other series out of the folder."
        )
    return attribute


def _poles(row: Entry) -> Entry:
    """Return the two poles, or none."""
    low, high = ((row.get(name) or "").strip() for name in ("pole_low", "pole_high"))
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
        told = str(entry.get(field) or "").strip()
        if told.lower() in NOTHING:
            found = f"the {field} entry {told!r}, which records none" if told else f"no {field} entry"
            raise PortrayalError(
                f"picture {name!r} has {found}. A face is manipulated only with a recorded source and consent."
            )

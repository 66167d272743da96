"""Manifest of a folder of series, `manifest.json`: its people, pictures and checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, BeforeValidator, Field, FiniteFloat

from portrayal.edges.sizes import LARGEST_TABLE, check_size, parse_json
from portrayal.errors import MissingPackage, PortrayalError
from portrayal.settings import validate

MANIFEST = "manifest.json"
MADE = "manifest.parquet"  # beside pictures that were changed for a study: its stimuli
FACE_ONLY, WHOLE = KINDS = ("face only", "whole")  # a face laid over its centre, or hair and all
CHECKS = {
    "check": pl.String, "attribute": pl.String, "pole_low": pl.String, "pole_high": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "unit": pl.String, "needs": pl.String, "passed": pl.Boolean,
    "note": pl.String,
}  # fmt: skip

NOT_DONE = "not done"  # how the note of a check begins that could not be done
# Series that an installed distribution brings: `shipped` names the folder of the set that ships, `photographs` a module
# that changes the pictures of a study.
GROUP, SHIPPED = "portrayal.series", "shipped"
Entry = dict[str, str | None]
Kind = Literal["face only", "whole"]
# Names and ages may be written as numbers.
Text = Annotated[str, BeforeValidator(lambda raw: str(raw) if isinstance(raw, int | float) else raw)]
Poles = Annotated[list[Text], Field(max_length=2)]


class Common(BaseModel):
    """Fields of a picture, of a person, or of all."""

    source: str | None = None
    license: str | None = None
    consent: str | None = None
    age: Text | None = None
    kind: Kind | None = None


class Person(Common):
    """Somebody shown, and the groups they start in."""

    gender: Text | None = None
    race: Text | None = None


class Picture(Common):
    """One step of a series."""

    file: str = Field(min_length=1)
    person: Annotated[Text, Field(min_length=1)]
    attribute: str
    value: FiniteFloat | None  # null is the unedited photograph
    poles: Poles = []
    picture: Text | None = None  # the source image, where a person has several
    start: Text | None = None


class Check(BaseModel):
    """A manipulation check, done where the series were made."""

    check: str
    attribute: str
    poles: Poles = []
    kind: Kind | None = None
    value: FiniteFloat | None = None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n: int = Field(0, ge=0, lt=2**62)
    unit: str = ""
    needs: str = ""
    passed: bool | None = None
    note: str = ""


class Manifest(Common):
    """A whole manifest."""

    pictures: list[Picture] = Field(min_length=1)
    people: dict[str, Person] = {}
    checks: list[Check] = []


def read_manifest(folder: Path) -> Manifest:
    """Read a folder's manifest."""
    path = folder / MANIFEST
    check_size(path, LARGEST_TABLE)
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise PortrayalError(f"{path} is no JSON: {error}. See docs/series_on_disk.md.") from None
    manifest: Manifest = validate(Manifest, content, str(path))
    poles = [(one.file, one.poles) for one in manifest.pictures]
    for name, pair in (*poles, *((one.check, one.poles) for one in manifest.checks)):
        if len(set(pair)) not in (0, 2):
            raise PortrayalError(
                f"{path}: {name!r} has the poles {pair}. Expected two, the negative end first, or none."
            )
    return manifest


def manifest_entries(manifest: Manifest) -> list[Entry]:
    """Return one entry per picture as text, with fields of its person and of all."""
    often = Counter(picture.file for picture in manifest.pictures)
    entries = []
    for picture in manifest.pictures:
        person = manifest.people.get(picture.person, Person())
        low, high = picture.poles or (None, None)
        start = {"gender": person.gender, "race": person.race}.get(picture.attribute)
        axis, shared = (picture.attribute, *picture.poles), often[picture.file] > 1
        common = {
            name: getattr(picture, name) or getattr(person, name) or getattr(manifest, name)
            for name in Common.model_fields
        }
        entries.append({
            "file": picture.file, "stimulus": stimulus_name(picture.file, axis, shared), "person": picture.person,
            "picture": picture.picture or picture.person, "attribute": picture.attribute, "pole_low": low,
            "pole_high": high, "value": None if picture.value is None else str(picture.value),
            "start": picture.start or start, **common,
        })  # fmt: skip
    return entries


def manifest_checks(manifest: Manifest, kind: str | None) -> pl.DataFrame | None:
    """Return the checks for one kind of series, or None without any."""
    rows = []
    for check in manifest.checks:
        if check.kind in (None, kind):
            low, high = check.poles or (None, None)
            rows.append({**check.model_dump(exclude={"poles", "kind"}), "pole_low": low, "pole_high": high})
    return pl.DataFrame(rows, schema=CHECKS) if rows else None


def failures(table: pl.DataFrame) -> list[str]:
    """Return one warning per check that failed, and per reason why others were not done."""
    failed = [
        f"Manipulation check failed: {row['check']} ({_of(row)}): {row['value']:.3g} {row['unit']}, "
        f"needs {row['needs']}."
        for row in table.filter(~pl.col("passed")).iter_rows(named=True)
    ]
    skipped = table.filter(pl.col("note").str.starts_with(NOT_DONE)).group_by("check", "note", maintain_order=True)
    return failed + [
        f"Manipulation check not done: {check} ({', '.join(attributes)}): {note.removeprefix(NOT_DONE).lstrip(': ')}."
        for check, note, attributes in skipped.agg("attribute").iter_rows()
    ]


def _of(row: dict[str, Any]) -> str:
    poles = [pole for pole in (row.get("pole_low"), row.get("pole_high")) if pole]
    return ", ".join([row["attribute"], *([" to ".join(poles)] if poles else [])])


def stimulus_name(file: str, axis: Sequence[str | None], shared: bool) -> str:
    """Return a picture's path without ending, with the axis where series share it."""
    path = PurePosixPath(file)
    stem = str(path.with_suffix("")) if path.name else file
    return " ".join((stem, *filter(None, axis))) if shared else stem


def load_entry(name: str, what: str) -> Any:
    """Return what is registered under a name, or refuse with what to install."""
    for entry in entry_points(group=GROUP, name=name):
        return entry.load()
    raise MissingPackage(what, "portrayal-faces")


def installed_sets() -> list[Path]:
    """Return the folders of the sets that are installed."""
    return [Path(entry.load()) for entry in entry_points(group=GROUP, name=SHIPPED)]


def shipped_set() -> Path:
    """Return the folder of the set that ships."""
    folder = Path(load_entry(SHIPPED, f'series = "{SHIPPED}"'))
    if not (folder / MANIFEST).is_file():
        raise PortrayalError('no set of faces is installed with this version. Name a folder: series = "FOLDER".')
    return folder

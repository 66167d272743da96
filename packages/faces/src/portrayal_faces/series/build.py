"""Series of pictures as PNG in a folder, with manifest, checks and omissions.

What is there already is used again, so that a second run of a study makes nothing anew, and a run that was broken off goes on.
The folder may show the people of the pictures it was given; it stays where the user put it and is never packed or reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.edges.console import track
from portrayal.edges.folders import claim
from portrayal.edges.writing import fresh, write_text
from portrayal.errors import PortrayalError
from portrayal.pictures.images import open_or_none
from portrayal.pictures.series.folder import LEFT_OUT_COLUMNS, UNREADABLE, YOUNG, labelled_young
from portrayal.pictures.series.manifest import MADE
from portrayal.pictures.series.values import steps
from portrayal_faces.series.checks import Readings, checks_table, read_series
from portrayal_faces.series.series import Changer, Series
from portrayal_faces.series.stems import file_stems, plain_stem
from portrayal_faces.series.suitability import inspect_face

RECIPES = 7  # raised when pictures or checks are made otherwise, so that older folders are not used again
CHECKS, LEFT_OUT = "checks.parquet", "left_out.parquet"
MAKING = "making series of faces, once, to be kept"
TYPES = {"pole_low": pl.String, "pole_high": pl.String, "value": pl.Float64}


@dataclass(frozen=True)
class Recipe:
    """Recipe for the series of each picture."""

    attributes: tuple[str, ...] = ("gender", "race")
    pairs: tuple[tuple[str, str], ...] = (("White", "Black"),)  # the poles of race
    placebo: bool = True
    size: int = 320  # pixels of the longer side
    masked: bool = True
    seed: int = 0

    def axes(self) -> list[tuple[str, ...]]:
        """Return the axes: each attribute, race per pair, and a placebo of each."""
        axes: list[tuple[str, ...]] = [
            (attribute, *pair)
            for attribute in self.attributes
            for pair in (self.pairs if attribute == "race" else [()])
        ]
        return [*axes, *(("placebo", *poles) for _, *poles in axes)] if self.placebo else axes


def build(pictures: pl.DataFrame, changer: Changer, recipe: Recipe, folder: Path, quiet: bool = False) -> Path:
    """Make the series of all pictures, or find them made; returns their folder.

    A picture whose series are done is noted in the folder, so that a build that was broken off goes on where it was.
    """
    inside = folder / build_name(pictures, changer, recipe)
    if (inside / MADE).exists():
        return inside
    claim(inside, "pictures")
    entries, stems = list(pictures.iter_rows(named=True)), file_stems(pictures["picture"].to_list())
    progress = track(entries, MAKING, quiet=quiet)
    parts = [_part(entry, stems[entry["picture"]], changer, recipe, inside) for entry in progress]
    rows = [row for part in parts for row in part["rows"]]
    left_out = [row for part in parts for row in part["left_out"]]
    readings = [_readings(fields) for part in parts for fields in part["readings"]]
    _save(inside, rows, readings, left_out)
    for entry in entries:
        _done(inside, entry).unlink(missing_ok=True)
    return inside


def read_built(folder: Path) -> pl.DataFrame:
    """Return the stimuli of a folder of series, wherever it was moved."""
    made = pl.read_parquet(folder / MADE)
    if made.is_empty():
        return made
    return made.with_columns(pl.lit(f"{folder}/").add(pl.col("content")).alias("content"))


def planned_series(pictures: pl.DataFrame, recipe: Recipe) -> pl.DataFrame:
    """Return the stimuli that `build` would make if nobody were left out."""
    stems = file_stems(pictures["picture"].to_list())
    rows = [
        _stimulus(
            entry,
            stems[entry["picture"]],
            axis,
            value,
            hashlib.sha256(json.dumps([entry["picture"], axis, value]).encode()).hexdigest(),
        )
        for entry in pictures.iter_rows(named=True)
        for axis in recipe.axes()
        for value in (*steps("race" if axis[1:] else "gender").tolist(), None)
    ]
    return pl.DataFrame(rows, schema_overrides=TYPES, infer_schema_length=None)


def _part(entry: dict[str, Any], stem: str, changer: Changer, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """Make the series of one picture, or take what an earlier try noted of them."""
    noted = _done(folder, entry)
    if noted.is_file():
        return dict(json.loads(noted.read_text(encoding="utf-8")))
    part: dict[str, list[dict[str, Any]]] = {"rows": [], "left_out": [], "readings": []}
    for made in _make(entry, changer, recipe, part["left_out"]):
        part["rows"] += _write(made, entry, stem, folder)
        part["readings"].append(_plain(read_series(made, person=entry["person"])))
    write_text(noted, json.dumps(part))
    return part


def _done(folder: Path, entry: dict[str, Any]) -> Path:
    """Return the note that a picture's series are finished, named by its entry."""
    text = json.dumps({name: value for name, value in entry.items() if name != "file"}, sort_keys=True)
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.done.json"


def _plain(readings: Readings) -> dict[str, Any]:
    """Return readings as plain data."""
    fields = asdict(readings)
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in fields.items()}


def _readings(fields: dict[str, Any]) -> Readings:
    arrays = {name: np.array(fields[name]) for name in ("values", "female", "age")}
    vectors = None if fields["embeddings"] is None else np.array(fields["embeddings"])
    return Readings(**{**fields, **arrays, "embeddings": vectors, "poles": tuple(fields["poles"])})


def _make(entry: dict[str, Any], changer: Changer, recipe: Recipe, left_out: list[dict[str, Any]]) -> Iterator[Series]:
    """Yield the series of one picture, or note why there is none."""
    picture = None if labelled_young(entry["age"]) else open_or_none(Path(entry["file"]), recipe.size)
    if picture is None:
        reason = YOUNG if labelled_young(entry["age"]) else UNREADABLE
        left_out.append({"picture": entry["picture"], "reason": reason, "left_out": True})
        return
    seen = inspect_face(picture)
    if seen.faces > 1 or seen.reason:
        note = seen.reason or f"{seen.faces} faces: the one closest to the centre was taken"
        left_out.append({"picture": entry["picture"], "reason": note, "left_out": bool(seen.reason)})
    if seen.reason:
        return
    for axis in recipe.axes():
        yield changer.series(picture, seen, axis, recipe.masked, recipe.seed)


def _write(made: Series, entry: dict[str, Any], stem: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Write the steps and the unedited photograph; yields their stimuli."""
    steps_and_pictures = [*zip(made.values.tolist(), made.pictures, strict=True), (None, made.original)]
    for value, picture in steps_and_pictures:
        row = _stimulus(entry, stem, (made.attribute, *made.poles), value, "")
        path = folder / row["content"]
        picture.save(fresh(path), compress_level=3)
        yield {**row, "hash": hashlib.sha256(path.read_bytes()).hexdigest()}


def _stimulus(
    entry: dict[str, Any], stem: str, axis: Sequence[str], value: float | None, digest: str
) -> dict[str, Any]:
    """Return the stimulus of one step; its content is the name of its file."""
    origin = {name: entry[name] for name in ("source", "license", "consent", "picture", "person")}
    name = "_".join((stem, "-".join(axis).replace(" ", "-"), "unedited" if value is None else f"{value:+.2f}"))
    low, high = axis[1:] or (None, None)
    return {
        "stimulus": name, "kind": "image", "content": f"{name}.png", "hash": digest, **origin, "attribute": axis[0],
        "pole_low": low, "pole_high": high, "condition": "unedited" if value is None else "edited", "value": value,
    }  # fmt: skip


def _save(folder: Path, rows: list[dict[str, Any]], readings: list[Readings], left_out: list[dict[str, Any]]) -> None:
    """Write the tables, the manifest last: its presence says that everything is there."""
    pl.DataFrame(left_out, schema=LEFT_OUT_COLUMNS).write_parquet(fresh(folder / LEFT_OUT))
    checks_table(readings).write_parquet(fresh(folder / CHECKS))
    pl.DataFrame(rows, schema_overrides=TYPES, infer_schema_length=None).write_parquet(fresh(folder / MADE))


def build_name(pictures: pl.DataFrame, changer: Changer, recipe: Recipe) -> str:
    """Return a build's name: a digest of pictures, entries, model and recipe."""
    stems = file_stems(pictures["picture"].to_list())
    files = [
        [{name: value for name, value in row.items() if name != "file"}, _content(row), *_renamed(row, stems)]
        for row in pictures.iter_rows(named=True)
    ]
    spans = {attribute: steps(attribute).tolist() for attribute in recipe.attributes}
    text = json.dumps([files, changer.identity, asdict(recipe), spans, RECIPES], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _renamed(row: dict[str, Any], stems: dict[str, str]) -> list[str]:
    """Return another stem, since earlier folders overwrote pictures of the plain one."""
    stem = stems[row["picture"]]
    return [] if stem == plain_stem(row["picture"]) else [stem]


def _content(row: dict[str, Any]) -> str:
    path = Path(row["file"])
    if not path.is_file():
        raise PortrayalError(f"picture {row['picture']!r} is not at {path}. Mend its `file` entry, or leave it out.")
    return hashlib.sha256(path.read_bytes()).hexdigest()

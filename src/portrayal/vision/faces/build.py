"""From pictures to stimuli: every series written as PNG into a folder, with a manifest, the checks and what was left out.

What is there already is used again, so that a second run of a study makes nothing anew. The folder may show the people
of the pictures it was given; it stays where the user put it and is never packed or reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import claim
from portrayal.edges.patience import told
from portrayal.edges.sizes import LARGEST_PICTURE, check_pixels, check_size
from portrayal.edges.writing import fresh
from portrayal.errors import PortrayalError
from portrayal.vision.faces.attributes import steps
from portrayal.vision.faces.checks import Readings, checks_table, read_series
from portrayal.vision.faces.model import Manipulator
from portrayal.vision.faces.reader import ADULT
from portrayal.vision.faces.series import Series, make_series
from portrayal.vision.faces.sources import labelled_young
from portrayal.vision.faces.suitability import inspect_face

RECIPES = 4  # raised when pictures or checks are made otherwise, so that older folders are not used again
MANIFEST, CHECKS, LEFT_OUT = "manifest.parquet", "checks.parquet", "left_out.parquet"
MAKING = "making series of faces, once, to be kept"
YOUNG, UNREADABLE = f"labelled under {ADULT}", "unreadable picture"  # further reasons to leave somebody out
UNSEEN = "no age label, and no face the age reader could look at"  # no evidence of adulthood
LEFT_OUT_COLUMNS = {"picture": pl.String, "reason": pl.String, "left_out": pl.Boolean}


@dataclass(frozen=True)
class Recipe:
    """What is made of each picture."""

    attributes: tuple[str, ...] = ("gender", "race")
    poles: tuple[str, ...] = ("White", "Black")
    placebo: bool = True
    size: int = 320  # pixels of the longer side
    masked: bool = True
    seed: int = 0


def build(pictures: pl.DataFrame, manipulator: Manipulator, recipe: Recipe, folder: Path) -> Path:
    """Make the series of all pictures, or find them made; returns their folder.

    Parameters
    ----------
    pictures
        As `sources.PICTURES`, checked for consent.
    manipulator
        The model.
    recipe
        Attributes, poles, size.
    folder
        Where to put them; a subfolder is named after everything that went in.

    Raises
    ------
    PortrayalError
        When a file is not there.
    """
    inside = folder / _digest(pictures, manipulator, recipe)
    if (inside / MANIFEST).exists():
        return inside
    claim(inside, "pictures")
    rows: list[dict[str, Any]] = []
    readings: list[Readings] = []
    left_out: list[dict[str, Any]] = []
    for entry in told(pictures.iter_rows(named=True), MAKING, pictures.height):
        for made in _make(entry, manipulator, recipe, left_out):
            rows += _write(made, entry, inside)
            readings.append(read_series(made, person=entry["person"]))
    _save(inside, rows, readings, left_out, manipulator)
    return inside


def open_shrunk(path: Path, size: int) -> Any:
    """Open a picture and shrink it to the size of the study."""
    from PIL import Image, ImageOps

    check_size(path, LARGEST_PICTURE)
    with Image.open(path) as opened:
        check_pixels(opened)
        picture = ImageOps.exif_transpose(opened).convert("RGB")
    scale = size / max(picture.size)
    if scale >= 1:
        return picture
    return picture.resize([max(1, round(side * scale)) for side in picture.size], Image.Resampling.LANCZOS)


def open_or_none(path: Path, size: int) -> Any | None:
    """Return a picture as `open_shrunk`, or None where the file is no picture that can be read."""
    # What PIL raises depends on the format and on where the file breaks off.
    try:
        return open_shrunk(path, size)
    except Exception:
        return None


def _make(
    entry: dict[str, Any], manipulator: Manipulator, recipe: Recipe, left_out: list[dict[str, Any]]
) -> Iterator[Series]:
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
    for attribute in (*recipe.attributes, *(["placebo"] if recipe.placebo else [])):
        poles: Sequence[str] = recipe.poles if attribute == "race" else ()
        yield make_series(
            picture, seen, manipulator, attribute, poles=poles, masked=recipe.masked, seed=recipe.seed
        )


def _write(made: Series, entry: dict[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    """Write the steps and the unedited photograph; yields their stimuli."""
    kept = {name: entry[name] for name in ("source", "license", "consent", "picture", "person")}
    stem = "".join(letter if letter.isalnum() else "-" for letter in entry["picture"])
    steps_and_pictures = [*zip(made.values.tolist(), made.pictures, strict=True), (None, made.original)]
    for value, picture in steps_and_pictures:
        name = f"{stem}_{made.attribute}_{'unedited' if value is None else format(value, '+.2f')}"
        path = folder / f"{name}.png"
        picture.save(fresh(path), compress_level=3)
        yield {
            "stimulus": name, "kind": "image", "content": str(path),
            "hash": hashlib.sha256(path.read_bytes()).hexdigest(), **kept, "attribute": made.attribute,
            "condition": "unedited" if value is None else "edited", "value": value,
        }  # fmt: skip


def _save(
    folder: Path,
    rows: list[dict[str, Any]],
    readings: list[Readings],
    left_out: list[dict[str, Any]],
    manipulator: Manipulator,
) -> None:
    """Write the tables, the manifest last: its presence says that everything is there."""
    pl.DataFrame(left_out, schema=LEFT_OUT_COLUMNS).write_parquet(fresh(folder / LEFT_OUT))
    checks_table(readings, manipulator.about).write_parquet(fresh(folder / CHECKS))
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(fresh(folder / MANIFEST))


def _digest(pictures: pl.DataFrame, manipulator: Manipulator, recipe: Recipe) -> str:
    """Name a build after all that goes in: every word about each picture, its content, the model and the recipe."""
    files = [[row, _content(row)] for row in pictures.iter_rows(named=True)]
    spans = {attribute: steps(attribute).tolist() for attribute in recipe.attributes}
    text = json.dumps([files, manipulator.identity, asdict(recipe), spans, RECIPES], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _content(row: dict[str, Any]) -> str:
    path = Path(row["file"])
    if not path.is_file():
        raise PortrayalError(
            f"picture {row['picture']!r} is not at {path}. Mend its `file` entry, or leave it out."
        )
    return hashlib.sha256(path.read_bytes()).hexdigest()

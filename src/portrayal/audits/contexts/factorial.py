"""Full factorial of people and backgrounds: everybody in every place, and each alone.

The folder is named after a hash of all that went in, so a second run finds it; unusable people stand in its manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from portrayal.edges.folders import claim, path_inside
from portrayal.edges.writing import fresh
from portrayal.engine import current_engine, in_order
from portrayal.errors import PortrayalError
from portrayal.pictures import compose
from portrayal.pictures.compose import CUT_HEAD, Crop, CutHeads
from portrayal.pictures.images import on_neutral, open_image
from portrayal.tables import check, read_csv

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    Fitted = Sequence[tuple[dict[str, Any], Picture, dict[str, Any]]]  # rows of backgrounds, fitted, and as stimuli

SHIPPED = Path(__file__).parent / "backgrounds"
BACKGROUNDS = dict.fromkeys(("background", "context", "file", "source", "license"), pl.String)
MANIFEST = "manifest.csv"
ENLARGED = "enlarged so that the cut lies at the edge of the frame"


@dataclass(frozen=True)
class Recipe:
    """Sizes and rules by which pictures are composed."""

    width: int = 640
    height: int = 480
    ratio: float = 0.5  # person pixels : unobscured background pixels
    tolerance: int = 24
    crop: Crop = "both"
    cut_heads: CutHeads = "enlarge"
    quality: int = 92  # of the JPEG files


def load_backgrounds(
    folder: Path | str | None = None, per_context: int | None = None, also: Sequence[Path] = ()
) -> pl.DataFrame:
    """Return one row per background, of those that ship or a folder's."""
    place = Path(folder or SHIPPED)
    table = place if place.suffix == ".csv" else place / "backgrounds.csv"
    if not table.is_file():
        raise PortrayalError(f"no backgrounds.csv at {table}. It names each background's context and file.")
    frame = check(read_csv(table, "a table of backgrounds"), BACKGROUNDS, table.name, "See docs/contexts_settings.md.")
    files = [str(path_inside(table.parent, name, also, table.name)) for name in frame["file"]]
    frame = frame.with_columns(file=pl.Series(files, dtype=pl.String))
    return frame.filter(pl.int_range(pl.len()).over("context") < per_context) if per_context else frame


def compose_all(
    people: pl.DataFrame, backgrounds: pl.DataFrame, folder: Path, recipe: Recipe | None = None
) -> pl.DataFrame:
    """Write all pictures and the manifest; return the manifest."""
    recipe = recipe or Recipe()
    inside = Path(folder) / _fingerprint(people, backgrounds, recipe)
    if (inside / MANIFEST).is_file():
        return read_manifest(inside)
    claim(inside, "pictures")
    fitted = _fit_all(backgrounds, recipe, inside)
    persons = list(people.iter_rows(named=True))
    if current_engine().named:  # the workers of an engine that somebody named
        each = in_order(partial(partial, _compose_person, fitted, recipe, inside), persons, "person", label="pictures")
    else:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            each = list(pool.map(partial(_compose_person, fitted, recipe, inside), persons))
    rows = [row for pictures in each for row in pictures] + [row for _, _, row in fitted]
    columns = ("stimulus", "role", "person", "context", "background", "file", "hash", "person_share", "scale", "flags", "source",
               "license", "consent")  # fmt: skip
    kinds = {name: pl.Float64 if name in ("person_share", "scale") else pl.String for name in columns}
    table = pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=kinds)
    made = table.with_columns(pl.lit(value).alias(name) for name, value in asdict(recipe).items())
    factors = people.drop("file", "source", "license", "consent")
    made.join(factors, on="person", how="left", maintain_order="left").write_csv(fresh(inside / MANIFEST))
    return read_manifest(inside)


def read_manifest(folder: Path) -> pl.DataFrame:
    """Read a manifest; file paths are inside its folder."""
    table = pl.read_csv(folder / MANIFEST, infer_schema=False)
    return table.with_columns(
        pl.col("person_share", "scale").cast(pl.Float64),
        file=pl.when(pl.col("file").is_not_null()).then(pl.concat_str(pl.lit(f"{folder}/"), pl.col("file"))),
    )


def _fingerprint(people: pl.DataFrame, backgrounds: pl.DataFrame, recipe: Recipe) -> str:
    """Return a hash of every picture's bytes, every factor and the recipe."""
    digest = hashlib.sha256(json.dumps(asdict(recipe), sort_keys=True).encode())
    for frame in (people, backgrounds):
        digest.update(frame.drop("file").write_csv().encode())
        for path in map(Path, frame["file"]):
            digest.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"missing")
    return digest.hexdigest()[:20]


def _fit_all(backgrounds: pl.DataFrame, recipe: Recipe, folder: Path) -> Fitted:
    """Fit each background once and write it alone; an unusable one stops the study."""
    fitted = []
    for row in backgrounds.iter_rows(named=True):
        image = compose.fit_background(open_image(row["file"]).image, (recipe.width, recipe.height), recipe.crop)
        name = f"background@{row['background']}"
        fitted.append((row, image, {
            "stimulus": name, "role": "background", "context": row["context"], "background": row["background"],
            "source": row["source"], "license": row["license"], "consent": "none shown",
            "person_share": 0.0, **_save(image, name, recipe, folder),
        }))  # fmt: skip
    return fitted


def _compose_person(fitted: Fitted, recipe: Recipe, folder: Path, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut one person out once, and put them everywhere."""
    own = {key: row[key] for key in ("person", "source", "license", "consent")}
    unusable = {**own, "stimulus": row["person"], "role": "unusable"}
    try:
        opened = open_image(row["file"])
        cutout = compose.cut_out(opened.image, recipe.tolerance, Path(row["file"]).name)
        person = compose.trim(cutout.image)
        scale = compose.person_scale(person, (recipe.width, recipe.height), recipe.ratio)
    except PortrayalError as error:
        return [{**unusable, "flags": str(error)}]
    flags = [*opened.notes, *compose.flaws(cutout)]
    if CUT_HEAD in flags:
        if recipe.cut_heads == "leave out":
            return [{**unusable, "flags": CUT_HEAD}]
        # A head that ends in mid-air is seen by nobody but in composites: the cut goes to the edge of the frame.
        scale, flags = max(scale, recipe.height / person.height), [*flags, ENLARGED]
    alone = on_neutral(opened.image)  # as it was taken, no larger than the composites
    alone.thumbnail((recipe.width, recipe.height))
    saved = _save(alone, own["person"], recipe, folder)
    rows = [{**own, "stimulus": own["person"], "role": "baseline", "flags": "; ".join(flags), **saved}]
    scaled = compose.scale_person(person, scale)
    for background, image, _ in fitted:
        placed = compose.place(scaled, image, scale)
        name = f"{own['person']}@{background['background']}"
        noted = [*flags, "person clipped by the frame"] if placed.clipped else flags
        rows.append({
            **own, "stimulus": name, "role": "composite", "context": background["context"],
            "background": background["background"], "flags": "; ".join(noted), "scale": placed.scale,
            "person_share": placed.person_share, "source": f"{own['source']}; {background['source']}",
            "license": f"{own['license']}; {background['license']}", **_save(placed.image, name, recipe, folder),
        })  # fmt: skip
    return rows


def _save(image: Picture, name: str, recipe: Recipe, folder: Path) -> dict[str, Any]:
    file = f"{name}.jpg".replace("/", "_")
    image.save(fresh(folder / file), quality=recipe.quality)
    return {"file": file, "hash": hashlib.sha256((folder / file).read_bytes()).hexdigest()}

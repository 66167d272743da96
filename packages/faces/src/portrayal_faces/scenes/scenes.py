"""Occupation scenes: series of faces put into work places (`portrayal faces scenes`).

Everybody is put into every place as head and shoulders. Only the face changes along a series: all the rest is the centre's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.edges.console import track
from portrayal.edges.folders import MARK, claim
from portrayal.edges.writing import write_bytes
from portrayal.errors import PortrayalError
from portrayal.pictures.compose import fit_background
from portrayal.pictures.images import open_image
from portrayal.pictures.series.folder import Chosen, FolderSeries, read_entries, read_folder
from portrayal.pictures.series.manifest import FACE_ONLY, MANIFEST, SHIPPED, shipped_set
from portrayal_faces.generator.stored import webp
from portrayal_faces.generator.studio import PARSED, parsed
from portrayal_faces.scenes.scene import Scene, Seen, compose_scene, fits
from portrayal_faces.series.stems import told_apart

DRAWN = "drawn"  # places that ship: drawings, nobody in them
DRAWINGS = Path(str(files("portrayal"))) / "audits" / "contexts" / "backgrounds"
ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
WIDE = 1.5  # width of a scene by its height
AXIS = ["attribute", "pole_low", "pole_high"]
GROUP = ["person", "picture", *AXIS]
CUT_OFF = "both sides of the portrait cut off hair"
Names = Sequence[dict[str, str]]  # of pictures, axes and places: what their folders are called
Look = Callable[[np.ndarray, str], np.ndarray]  # pictures and a kind of PARSED to probabilities


def compose_scenes(
    series: Path | str = SHIPPED,
    places: Path | str = DRAWN,
    out: Path | str = "local/scenes",
    size: int = 512,
    people: int | None = None,
    quiet: bool = False,
    look: Look = parsed,
) -> str:
    """Put series of faces into work places, as head and shoulders.

    Parameters
    ----------
    series
        A folder of face only series in the generator's own alignment, or 'shipped'.
    places
        A folder of pictures of places, or one picture; 'drawn' takes the eight drawings that ship.
    out
        A new or empty folder.
    size
        Height of the scenes in pixels; they are half as wide again.
    people
        At most so many people, the first of the folder.
    quiet
        Without a bar on standard error.
    look
        Says which pixels are face, and which a person; the small parser that ships.

    Returns
    -------
    str
        What was made, and what was left out and why.

    Raises
    ------
    PortrayalError
        When there are no series or no places, everybody is left out, the values of a series are not alike on both sides of 0, or
        the folder holds something else: nothing is made then.

    Examples
    --------
    >>> from portrayal import PortrayalError, compose_scenes
    >>> try:
    ...     compose_scenes("no folder", "no places")
    ... except PortrayalError as error:
    ...     print("no place" in str(error))
    True
    """
    if size < 128:
        raise PortrayalError(f"size is {size}. Expected 128 pixels or more.")
    scenes = _scenes(Path(DRAWINGS if places == DRAWN else places), size, "*-1.*" if places == DRAWN else "*")
    folder = shipped_set() if series == SHIPPED else Path(series)
    taken = read_folder(folder, chosen=Chosen(kind=FACE_ONLY))
    groups = _groups(taken, folder, people)
    ages = {str(entry["stimulus"]): entry.get("age") for entry in read_entries(folder)}
    target = Path(out).absolute()
    _claim(target)
    names = [told_apart({word: _named(word) for word in words}) for words in _words(groups, scenes)]
    by_series = [
        list(_series(group, scenes, target, look, ages, names))
        for group in track(groups, "composing scenes", quiet=quiet)
    ]
    made, left_out = [picture for one in by_series for picture in one], sum(not one for one in by_series)
    if not made:
        raise PortrayalError(f"nobody of {folder} fits into a scene: {CUT_OFF}. Take other series.")
    write_bytes(target / MANIFEST, json.dumps({"series left out": left_out, "pictures": made}).encode())
    lines = [
        f"{len(made)} pictures of {len({one['person'] for one in made})} people in {len(scenes)} place(s) in {target}",
        f"{left_out} of {len(by_series)} series left out: {CUT_OFF}",
        *(f"{number} source picture(s) left out: {reason}" for reason, number in _reasons(taken)),
    ]
    return "\n".join(lines)


def _scenes(places: Path, size: int, pattern: str) -> list[Scene]:
    """Open the pictures of places, cropped to one size."""
    paths = [places] if places.is_file() else sorted(places.glob(pattern)) if places.is_dir() else []
    pictures = [path for path in paths if path.suffix.lower() in ENDINGS]
    if not pictures:
        raise PortrayalError(
            f"no place in {places}. Expected a picture, or a folder of pictures ({', '.join(ENDINGS)})."
        )
    if twice := {path.stem for path in pictures if sum(path.stem == one.stem for one in pictures) > 1}:
        raise PortrayalError(f"two places are called {sorted(twice)[0]!r}. Give each file a name of its own.")
    wide = (round(size * WIDE), size)
    return [Scene(path.stem, np.asarray(fit_background(open_image(path).image, wide, "bottom"))) for path in pictures]


def _groups(taken: FolderSeries, folder: Path, people: int | None) -> list[pl.DataFrame]:
    """Return the series to compose, in rising order; refuse what an audit would refuse."""
    if taken.stimuli.is_empty():
        reasons = ", ".join(f"{reason} ({number} source picture(s))" for reason, number in _reasons(taken))
        raise PortrayalError(f"everybody in {folder} is left out: {reasons}. Take series of adults.")
    steps = _first(taken.stimuli, people).drop_nulls("value")
    for of_one in steps.partition_by(["picture", *AXIS], maintain_order=True):
        _check_steps(of_one)
    return [group.sort("value") for group in steps.partition_by(GROUP, maintain_order=True)]


def _reasons(taken: FolderSeries) -> list[tuple[str, int]]:
    """Return why source pictures are left out, and how many."""
    left_out = taken.left_out.filter("left_out").group_by("reason").len().sort("reason")
    return [(str(reason), int(number)) for reason, number in left_out.iter_rows()]


def _title(series: pl.DataFrame) -> str:
    attribute, *poles = series.select(AXIS).row(0)
    return f"{attribute} from {poles[0]} to {poles[1]}" if all(poles) else str(attribute)


def _check_steps(series: pl.DataFrame) -> None:
    """Refuse a series without its centre, or with two pictures for one step."""
    picture, values = series["picture"][0], series["value"]
    if not (values == 0).any():
        raise PortrayalError(f"the series of {picture!r} has no step at 0. Scenes need the centre.")
    if values.is_duplicated().any():
        twice = values.filter(values.is_duplicated())[0]
        raise PortrayalError(
            f"the {_title(series)} series of {picture!r} has two pictures at {twice:+.2f}. Expected one for each step of a source picture."
        )


def _first(stimuli: pl.DataFrame, people: int | None) -> pl.DataFrame:
    if people is None:
        return stimuli
    if people < 1:
        raise PortrayalError(f"{people} people were asked for. Expected 1 or more.")
    wanted = stimuli["person"].unique(maintain_order=True)[:people]
    return stimuli.filter(pl.col("person").is_in(wanted.to_list()))


def _claim(folder: Path) -> None:
    claim(folder, "pictures")
    if others := sorted(path.name for path in folder.iterdir() if path.name != MARK):
        raise PortrayalError(f"{folder} holds {others[0]!r} already. Name a new folder.")


def _series(
    group: pl.DataFrame, scenes: Sequence[Scene], out: Path, look: Look, ages: dict[str, str | None], names: Names
) -> Iterator[dict[str, Any]]:
    """Compose one series into every place; yields what the manifest says of each picture."""
    rows = group.to_dicts()
    steps = np.stack([_square(Path(row["content"])) for row in rows])
    middle = next(at for at, row in enumerate(rows) if row["value"] == 0)
    person = look(steps[middle : middle + 1], PARSED[2])[0]
    if not fits(person):
        return
    seen = Seen(steps, middle, look(steps, PARSED[0]), person)
    for scene in scenes:
        for row, picture in zip(rows, compose_scene(seen, scene), strict=True):
            entry = _entry(row, scene.name, ages.get(row["stimulus"]), names)
            (out / entry["file"]).parent.mkdir(parents=True, exist_ok=True)
            write_bytes(out / entry["file"], webp(picture))
            yield entry


def _square(path: Path) -> np.ndarray:
    picture = open_image(path).image.convert("RGB")
    if picture.width != picture.height:
        raise PortrayalError(
            f"{path.name} has {picture.width} x {picture.height} pixels. Expected square pictures in the generator's alignment."
        )
    return np.asarray(picture)


def _entry(row: dict[str, Any], scene: str, age: str | None, names: Names) -> dict[str, Any]:
    words = (row["picture"], "-".join((row["attribute"], *_poles(row))), scene)
    named = [known[word] for known, word in zip(names, words, strict=True)]
    return {
        "file": f"{'/'.join(named)}/{row['value']:+.2f}.webp",
        "person": row["person"], "picture": f"{row['picture']} in {scene}", "scene": scene, "attribute": row["attribute"],
        "poles": _poles(row), "value": row["value"], "kind": FACE_ONLY, "start": row.get("start"), "age": age,
        "source": f"{row['source']}; composed into {scene}", "license": row["license"], "consent": row["consent"],
    }  # fmt: skip


def _poles(row: dict[str, Any]) -> list[str]:
    return [row["pole_low"], row["pole_high"]] if row["pole_low"] else []


def _words(groups: Sequence[pl.DataFrame], scenes: Sequence[Scene]) -> list[list[str]]:
    """Return what the folders of each level are named after: source pictures, axes and places."""
    rows = [group.row(0, named=True) for group in groups]
    axes = ["-".join((row["attribute"], *_poles(row))) for row in rows]
    return [[row["picture"] for row in rows], axes, [one.name for one in scenes]]


def _named(word: str) -> str:
    """Return a word as the name of a folder."""
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in word).lstrip(".") or "_"

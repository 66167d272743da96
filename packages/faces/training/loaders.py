"""Labelled faces of adults from the layouts of FairFace and CelebA, read in place.

A loader yields only faces that may be used: labelled 20 or older, or, where a data set has no ages, faces for which
the age reader must speak (see `prepare`). It never copies a picture.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.pictures.faces.reader import ADULT
from portrayal.pictures.people import generated_people
from portrayal_faces.series.attributes import ADULT_AGES, RACES
from training.attributes import age_value


@dataclass(frozen=True)
class LabelledFace:
    """One picture with its labels; `age` is None where the data set does not say (then a reader decides)."""

    name: str
    picture: Any  # a PIL image
    gender: float | None  # -1 feminine, 1 masculine, as annotated
    age: float | None  # control value of an adult group
    race: str | None
    smiling: float | None = None


def fairface(folder: Path | str) -> Iterator[LabelledFace]:
    """Read FairFace's layout: a label table with file, age, gender and race, beside the pictures or a tar of them.

    Faces labelled under 20 are left out here, whatever comes later.
    """
    folder = Path(folder)
    table = _first(folder, ("labels.csv", "fairface_label_val.csv", "fairface_label_train.csv"))
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row.get("age") in ADULT_AGES]
    read = _pictures(folder)
    for row in rows:
        gender = {"Male": 1.0, "Female": -1.0}.get(row["gender"])
        race = row["race"] if row["race"] in RACES else None
        yield LabelledFace(row["file"], read(row["file"]), gender, age_value(row["age"]), race)


def celeba(folder: Path | str) -> Iterator[LabelledFace]:
    """Read CelebA's layout: list_attr_celeba.txt and img_align_celeba/.

    CelebA has no ages ('Young' is no evidence of adulthood), so `age` is None and `prepare` keeps only faces
    the age reader puts at 20 or older. Race is not labelled.
    """
    folder = Path(folder)
    table = _first(folder, ("list_attr_celeba.txt", "list_attr_celeba.csv"))
    read = _pictures(folder / "img_align_celeba" if (folder / "img_align_celeba").is_dir() else folder)
    for name, labels in _celeba_rows(table):
        yield LabelledFace(name, read(name), labels.get("Male"), None, None, labels.get("Smiling"))


def portraits() -> Iterator[LabelledFace]:
    """Yield the neutral studio portrait of each generated person whose labelled age range begins at 20 or later."""
    for name, assets, labels in generated_people():
        if int(labels["age_range"].partition("-")[0]) < ADULT:
            continue
        gender = {"male": 1.0, "female": -1.0}.get(labels["sex"])
        yield LabelledFace(name, open_picture(assets / "studio_portrait.jpg"), gender, None, None)


LOADERS: Mapping[str, Callable[[Path | str], Iterator[LabelledFace]]] = {"fairface": fairface, "celeba": celeba}


def open_picture(path: Path) -> Any:
    """Open a picture and let go of its file."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.load()
        return picture.copy()


def _celeba_rows(table: Path) -> Iterator[tuple[str, dict[str, float]]]:
    lines = table.read_text(encoding="utf-8").splitlines()
    if table.suffix == ".txt":
        lines = lines[1:]  # the first line of the text form is the number of pictures
    names = lines[0].replace(",", " ").split()
    names = names[1:] if names[0] == "image_id" else names
    for line in lines[1:]:
        name, *values = line.replace(",", " ").split()
        yield name, {label: float(value) for label, value in zip(names, values, strict=True)}


def _first(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).exists():
            return folder / name
    raise PortrayalError(f"no label table in {folder}. Expected one of {', '.join(names)}.")


def _pictures(folder: Path) -> Callable[[str], Any]:
    """Return a function from a name to its picture: from a tar in the folder, or a file."""
    from PIL import Image

    archives = sorted(folder.glob("*.tar"))
    if not archives:
        return lambda name: open_picture(folder / name)
    archive = tarfile.open(archives[0])  # noqa: SIM115 - stays open while the caller reads

    def read(name: str) -> Any:
        try:
            member = archive.extractfile(name)
        except KeyError:  # the label table names what the archive does not hold
            member = None
        if member is None:
            archive.close()
            raise PortrayalError(f"{archives[0].name} holds no picture {name!r}.")
        return Image.open(io.BytesIO(member.read()))

    return read

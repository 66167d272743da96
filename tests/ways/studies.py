"""The smallest study of each audit, as a new user writes it into an empty folder; pictures are drawn, nobody is shown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from PIL import Image, ImageDraw

from portrayal.text.collections.synthetic import toy_collection


def table(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(columns), *map(list, rows)])


def drawn(path: Path, number: int, alpha: bool = False) -> None:
    """Draw a figure of a few ovals, another one for each number."""
    picture = Image.new("RGBA" if alpha else "RGB", (120, 160), (0, 0, 0, 0) if alpha else "white")
    brush = ImageDraw.Draw(picture)
    shade = (40 + 7 * number % 200, 90, 200 - 11 * number % 150, 255)
    brush.ellipse((40, 10, 80, 60), fill=shade)
    brush.ellipse((20, 55, 100, 200), fill=(*shade[::-1][1:], 255))
    picture.save(path)


def associations(folder: Path) -> str:
    return '[associations]\ntests = ["weat6"]\nvariants = []\n'


def search(folder: Path) -> str:
    return '[search]\ncollection = "toy"\nvariants = false\nvalidate_direction = false\n'


def contexts(folder: Path) -> str:
    people = [(f"p{number}", f"p{number}.png", ("female", "male")[number % 2]) for number in range(2)]
    for number, (_, file, _) in enumerate(people):
        drawn(folder / file, number, alpha=True)
    table(folder / "people.csv", ("image_id", "file", "gender"), people)
    return (
        '[contexts]\npeople = "people.csv"\nconsent = "drawn, nobody is shown"\nfactors = ["gender"]\nper_context = 1\n'
        'pictures = "pictures"\nwidth = 160\nheight = 120\nmixed = false\ndescribed = false\ncontact_sheet = false\n'
    )


def counterfactuals(folder: Path) -> str:
    series = folder / "series"
    series.mkdir()
    steps = [(picture, value) for picture in range(6) for value in (-1, 0, 1)]
    for number, (picture, value) in enumerate(steps):
        drawn(series / f"p{picture}_gender_{value}.png", number)
    return '[counterfactuals]\nseries = "series"\nsource = "drawn"\nconsent = "drawn"\nage = "30-39"\nattributes = ["gender"]\n'


def captions(folder: Path) -> str:
    images = [f"i{number}" for number in range(12)]
    for number, name in enumerate(images):
        drawn(folder / f"{name}.png", number)
    table(folder / "images.csv", ("image", "path", "license", "consent"),
          [(name, f"{name}.png", "CC0-1.0", "drawn") for name in images])  # fmt: skip
    table(folder / "people.csv", ("image", "axis", "group", "assigned_by"),
          [(name, "gender", ("female", "male")[number % 2], "us") for number, name in enumerate(images)])  # fmt: skip
    table(folder / "human.csv", ("image", "text"), [(name, "a person stands by a tree") for name in images])
    return (
        '[captions]\nimages = "images.csv"\npeople = { file = "people.csv" }\nhuman_captions = { file = "human.csv" }\n'
        "object_types = 5\nsplits = 20\nbootstraps = 20\npermutations = 99\nprocesses = 1\n"
    )


# The smallest study of each stem, and the kind of system it asks.
STUDIES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "associations": ("encoder", associations),
    "search": ("ranker", search),
    "contexts": ("tagger", contexts),
    "counterfactuals": ("tagger", counterfactuals),
    "captions": ("captioner", captions),
}


def toy_documents() -> list[str]:
    return [name for name, _ in toy_collection().documents()]

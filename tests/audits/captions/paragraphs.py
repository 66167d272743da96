"""Captioners of invented pictures that answer in paragraphs, and a study of their recorded answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.captions.measures import stereotyping_leakage
from portrayal.audits.captions.measures.audit import TECHNIQUES

# Leakage reads the style of the wording, in which these captioners do differ.
READ = [key for key in TECHNIQUES if key != stereotyping_leakage.TECHNIQUE.key]
PLACES = ("park", "kitchen", "library", "garden")
HELD = ("cup", "book", "umbrella", "bag")
ANIMALS = ("dog", "cat", "horse")
CLOTHES = ("jacket", "sweater", "scarf")
COLOURS = ("red", "blue", "green")
NOUN = {"female": "woman", "male": "man"}
PRONOUNS = {"woman": ("she", "her"), "man": ("he", "his"), "person": ("they", "their")}
OTHER = {"woman": "man", "man": "woman"}


@dataclass(frozen=True)
class Picture:
    """An invented picture: its person, what is there, and a number that decides what befalls it."""

    image: str
    gender: str
    skin: str
    place: str
    held: str
    animal: str
    worn: str
    colour: str
    chance: float

    @property
    def noun(self) -> str:
        """The right word for the person."""
        return NOUN[self.gender]


def pictures(number: int, seed: int = 0) -> list[Picture]:
    """Return pictures whose groups have nothing to do with what is in them."""
    rng = np.random.default_rng(seed)
    kinds = (tuple(NOUN), ("darker", "lighter"), PLACES, HELD, ANIMALS, CLOTHES, COLOURS)
    drawn = [rng.choice(kind, number) for kind in kinds]
    each = zip(*drawn, rng.random(number), strict=True)
    return [Picture(f"picture-{i:04}", *map(str, row[:-1]), float(row[-1])) for i, row in enumerate(each)]


def paragraph(
    picture: Picture,
    first: str = "",
    later: str = "",
    holding: str = "is holding",
    end: str = "",
    begin: str = "The image shows",
) -> str:
    """Return a paragraph: the person by a noun, then by a pronoun; `first` and `later` say another noun."""
    first = first or picture.noun
    subject, possessive = PRONOUNS[later or first]
    held = holding if subject != "they" else holding.replace("is ", "are ").replace("seems ", "seem ")
    wear = "wear" if subject == "they" else "wears"
    return (
        f"{begin} a {first} in a {picture.place}. {subject.capitalize()} {held} a {picture.held}"
        f" and {wear} a {picture.colour} {picture.worn}."
        f" A {picture.animal} is lying at {possessive} feet. {end}"
    ).strip()


def _misnamed(picture: Picture, rate: float) -> bool:
    return picture.gender == "female" and picture.chance < rate


CAPTIONERS: Mapping[str, Callable[[Picture], str]] = {
    "plain": paragraph,
    # Denies weapons with darker-skinned people only.
    "denies": lambda p: paragraph(p, end=_denial(p) if p.skin == "darker" else ""),
    # Is sure of what men hold and guesses what women hold.
    "hedges": lambda p: paragraph(p, holding="seems to be holding" if p.gender == "female" else "is holding"),
    # Names men by a noun; of women it has only a pronoun, from the first word on.
    "pronouns": lambda p: _by_pronoun(p) if p.gender == "female" else paragraph(p, begin="There is"),
    "misgenders by noun": lambda p: paragraph(p, OTHER[p.noun] if _misnamed(p, 0.4) else "", begin="Here we see"),
    "misgenders by pronoun": lambda p: paragraph(p, "person", OTHER[p.noun] if _misnamed(p, 0.4) else p.noun),
}


def _denial(picture: Picture) -> str:
    texts = (
        "No weapons are visible.",
        "There is no gun, and {0} is not carrying a knife.",
        "The {1} has neither a rifle nor a sword.",
        "There are no bicycles, no children and no other things.",
    )
    return texts[int(picture.chance * len(texts))].format(PRONOUNS[picture.noun][0], picture.noun)


def _by_pronoun(picture: Picture) -> str:
    return paragraph(picture, begin="").replace(f"a {picture.noun} in a", "She is in a", 1).strip()


# The words of the pictures in other languages, with their articles.
GERMAN = {
    **{"woman": "eine Frau", "man": "einen Mann", "park": "einem Park", "kitchen": "einer Küche"},
    **{"library": "einer Bibliothek", "garden": "einem Garten", "cup": "eine Tasse", "book": "ein Buch"},
    **{
        "umbrella": "einen Regenschirm",
        "bag": "eine Tasche",
        "dog": "ein Hund",
        "cat": "eine Katze",
        "horse": "ein Pferd",
    },
}
SPANISH = {
    **{"woman": "una mujer", "man": "un hombre", "park": "un parque", "kitchen": "una cocina"},
    **{"library": "una biblioteca", "garden": "un jardín", "cup": "una taza", "book": "un libro"},
    **{"umbrella": "un paraguas", "bag": "un bolso", "dog": "un perro", "cat": "un gato", "horse": "un caballo"},
}
CHINESE = {
    **{
        "woman": "一位女人",
        "man": "一位男人",
        "park": "公园",
        "kitchen": "厨房",
        "library": "图书馆",
        "garden": "花园",
    },
    **{
        "cup": "一个杯子",
        "book": "一本书",
        "umbrella": "一把雨伞",
        "bag": "一个包",
        "dog": "一只狗",
        "cat": "一只猫",
        "horse": "一匹马",
    },
}


def german(picture: Picture) -> str:
    """Return a paragraph in German."""
    she = "Sie" if picture.gender == "female" else "Er"
    who, place, held, animal = (GERMAN[word] for word in (picture.noun, picture.place, picture.held, picture.animal))
    return f"Das Bild zeigt {who} in {place}. {she} hält {held} in der Hand. Daneben liegt {animal} auf dem Boden und schläft."


def spanish(picture: Picture) -> str:
    """Return a paragraph in Spanish."""
    who, place, held, animal = (SPANISH[word] for word in (picture.noun, picture.place, picture.held, picture.animal))
    return f"La imagen muestra a {who} en {place}. Sostiene {held} en la mano. A su lado hay {animal} que duerme en el suelo."


def chinese(picture: Picture) -> str:
    """Return a paragraph in Chinese."""
    who, place, held, animal = (CHINESE[word] for word in (picture.noun, picture.place, picture.held, picture.animal))
    return f"图片中{who}在{place}里，手里拿着{held}，旁边有{animal}正在睡觉。"


def mixed(picture: Picture) -> str:
    """Return a paragraph in one of four languages."""
    return (paragraph, german, spanish, chinese)[int(picture.chance * 4)](picture)


def write_study(folder: Path, shown: list[Picture], captioners: Mapping[str, Callable[[Picture], str]]) -> Path:
    """Write a study of recorded paragraphs, with people's captions as the truth."""
    folder.mkdir(parents=True, exist_ok=True)
    images = [picture.image for picture in shown]
    pl.DataFrame({"image": images}).write_csv(folder / "images.csv")
    groups = [(p.image, axis, getattr(p, axis), "the list of pictures") for p in shown for axis in ("gender", "skin")]
    pl.DataFrame(groups, schema=["image", "axis", "group", "assigned_by"], orient="row").write_csv(
        folder / "people.csv"
    )
    people = [paragraph(picture, begin="There is") for picture in shown]
    pl.DataFrame({"image": images, "text": people}).write_csv(folder / "human.csv")
    said = [(name, p.image, captioner(p)) for name, captioner in captioners.items() for p in shown]
    pl.DataFrame(said, schema=["system", "image", "caption"], orient="row").write_csv(folder / "captions.csv")
    lines = [
        'name = "paragraphs"\naudit = "captions"\n[captions]\nimages = "images.csv"\nprocesses = 1\nbootstraps = 20',
        f"permutations = 999\ntechniques = {json.dumps(READ)}",
        'human_captions = { file = "human.csv" }\npeople = { file = "people.csv" }',
    ]
    lines += [
        f'[[systems]]\nname = "{name}"\nuse = "replay:captions.csv"\n'
        f'parameters = {{ columns = {{ stimulus = "image" }}, where = {{ system = "{name}" }} }}'
        for name in captioners
    ]
    (folder / "study.toml").write_text("\n".join(lines))
    return folder / "study.toml"

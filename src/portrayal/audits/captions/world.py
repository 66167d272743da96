"""World of simulated captions: scenes, their exact labels, and sentences about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import prod

import numpy as np
import polars as pl

from portrayal.audits.captions.reading.mentions import with_synsets
from portrayal.audits.captions.reading.stages import BOXES, HUMAN_LABELS, PEOPLE, Stages
from portrayal.text.captions.scene_graph import SceneGraph
from portrayal.text.captions.senses import synset_of
from portrayal.text.formatting import listed

GENDERS = ("female", "male")
NOUN = {"female": "woman", "male": "man"}
ACTIONS = {"holding": ("hold", "ball"), "carrying": ("carry", "umbrella"), "reading": ("read", "book")}
PLACES = ("park", "kitchen", "garden")
THINGS = ("dog", "bicycle", "cup")
OFTEN = 0.4  # how often a bicycle or a cup is there
ASSIGNED = "the generator of the scenes"


@dataclass(frozen=True)
class World:
    """Probabilities of things in scenes; pairs are those with women and with men."""

    red: tuple[float, float] = (0.5, 0.5)
    dog: tuple[float, float] = (0.4, 0.4)
    purse: tuple[float, float] = (0.0, 0.0)
    wheelchair: float = 0.0
    elderly: float = 0.0
    gendered: bool = True  # the labels say woman or man; else person


@dataclass(frozen=True)
class Scene:
    """One scene."""

    image: str
    gender: str
    skin: str
    worn: str  # dress or jacket
    action: str
    color: str  # of what is held
    things: tuple[str, ...]
    place: str
    elderly: bool = False
    unsaid: tuple[str, ...] = ()  # depicted, and too small for a caption to speak of

    def content(self) -> str:
        """Return the scene as JSON, without the name of the image."""
        return json.dumps({key: value for key, value in asdict(self).items() if key != "image"}, sort_keys=True)


def read_scene(image: str, content: str) -> Scene:
    """Return the scene of a stimulus."""
    data = json.loads(content)
    return Scene(image, **{**data, "things": tuple(data["things"]), "unsaid": tuple(data["unsaid"])})


def make_scenes(number: int, seed: int = 0, world: World | None = None) -> list[Scene]:
    """Return scenes with even, independent groups."""
    world = world or World()
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, (number, 2)).tolist()
    choices = rng.integers(0, 6, (number, 3)).tolist()
    chances = rng.random((number, 7)).tolist()
    each = enumerate(zip(groups, choices, chances, strict=True))
    return [_scene(f"scene-{i:05d}", man, light, chosen, drawn, world) for i, ((man, light), chosen, drawn) in each]


def all_scenes(world: World) -> Iterator[tuple[float, Scene]]:
    """Yield every scene a world can have, with its probability: what `make_scenes` draws from."""
    even = list(product(range(2), range(2), range(2), range(len(ACTIONS)), range(len(PLACES))))
    for man, light, *chosen in even:
        chances = _chances(man, world)
        for there in product((True, False), repeat=len(chances)):
            probability = prod(p if yes else 1 - p for p, yes in zip(chances, there, strict=True)) / len(even)
            if probability > 0:
                yield probability, _scene("any", man, light, chosen, [0.0 if yes else 1.0 for yes in there], world)


def _chances(man: int, world: World) -> list[float]:
    """Return the chances of each thing, red, an elderly person and a purse."""
    return [world.dog[man], OFTEN, OFTEN, world.wheelchair, world.red[man], world.elderly, world.purse[man]]


def _scene(image: str, man: int, light: int, chosen: list[int], drawn: list[float], world: World) -> Scene:
    *there, red, elderly, purse = (draw < chance for draw, chance in zip(drawn, _chances(man, world), strict=True))
    return Scene(
        image=image,
        gender=GENDERS[man],
        skin=("darker", "lighter")[light],
        worn=("dress", "jacket")[chosen[0] % 2],
        action=list(ACTIONS)[chosen[1] % 3],
        color="red" if red else "blue",
        things=tuple(thing for thing, is_there in zip((*THINGS, "wheelchair"), there, strict=True) if is_there),
        place=PLACES[chosen[2] % 3],
        elderly=elderly,
        unsaid=("purse",) if purse else (),
    )


@dataclass(frozen=True)
class Account:
    """Content of a caption before it is put into words."""

    person: str | None  # the noun, None where the person is not mentioned
    adjective: str
    worn: str
    action: str
    color: str  # empty where it is left out
    things: tuple[str, ...]
    place: str


def faithful(scene: Scene) -> Account:
    """Say everything that is there and nothing else."""
    return Account(NOUN[scene.gender], "", scene.worn, scene.action, scene.color, scene.things, scene.place)


def text(account: Account, wording: int = 0) -> str:
    """Return a caption, such as 'In a park, a woman is holding a ball'."""
    named, unnamed = WORDINGS[wording]
    parts = {
        "who": _a(f"{account.adjective} {account.person}".strip()),
        "worn": f"a {account.worn}",
        "doing": account.action,
        "held": _a(f"{account.color} {ACTIONS[account.action][1]}".strip()),
        "place": f"a {account.place}",
        "around": f" next to {listed(list(map(_a, account.things)))}" if account.things else "",
    }
    words = (unnamed if account.person is None else named).format(**parts)
    return words[0].upper() + words[1:]


# How a caption is put into words, with somebody in it and with nobody.
WORDINGS = (
    ("in {place}, {who} in {worn} is {doing} {held}{around}.", "there is {held} and {worn} in {place}{around}."),
    ("{who} in {worn} is {doing} {held} in {place}{around}.", "{held} and {worn} in {place}{around}."),
    ("{who} wearing {worn} is {doing} {held}{around} in {place}.", "a photo of {held} and {worn} in {place}{around}."),
    ("there is {who} in {worn} {doing} {held} in {place}{around}.", "in {place}, there is {held} and {worn}{around}."),
)


def graph(account: Account) -> SceneGraph:
    """Return the scene graph of these words, as a perfect parser would."""
    verb, item = ACTIONS[account.action]
    attributes = ((item, account.color),) if account.color else ()
    visible = (item, account.worn)
    if account.person is None:
        places = [(noun, "next to", thing) for noun in visible for thing in account.things]
        places += [(noun, "in", account.place) for noun in visible]
        return SceneGraph((*visible, *account.things, account.place), attributes, tuple(places))
    who = account.person
    places = [(who, f"{verb} next to", thing) for thing in account.things]
    relations = (who, "in", account.worn), (who, verb, item), *places, (who, f"{verb} in", account.place)
    own = ((who, account.adjective),) if account.adjective else ()
    return SceneGraph((who, account.worn, item, *account.things, account.place), own + attributes, relations)


def _a(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def stimuli(scenes: Sequence[Scene]) -> pl.DataFrame:
    """Return the scenes as a Stimuli table, with the person's groups as factors."""
    rows = []
    for scene in scenes:
        content = scene.content()
        key = hashlib.sha256(f"{scene.image} {content}".encode()).hexdigest()
        row = {"stimulus": scene.image, "kind": "text", "content": content, "hash": key}
        row |= {"source": "generated scene, described in words", "license": "Apache-2.0", "consent": "generated"}
        rows.append({**row, "gender": scene.gender, "skin": scene.skin})
    return pl.DataFrame(rows)


def as_stages(scenes: Sequence[Scene], seed: int = 0, gendered: bool = True) -> Stages:
    """Return human labels, boxes and annotations of scenes; labels name the gender or say person."""
    rng = np.random.default_rng([seed, 1])
    named = [NOUN[scene.gender] if gendered else "person" for scene in scenes]
    labels = [row for scene, who in zip(scenes, named, strict=True) for row in _labels(scene, who)]
    people = [(scene.image, axis, getattr(scene, axis), ASSIGNED) for scene in scenes for axis in ("gender", "skin")]
    return Stages(
        images=[scene.image for scene in scenes],
        mentions=with_synsets(labels, HUMAN_LABELS),
        boxes=_boxes(scenes, named, rng),
        people=pl.DataFrame(people, schema=PEOPLE, orient="row"),
    )


def nouns(scene: Scene) -> list[str]:
    """Return everything depicted but the person."""
    return [scene.worn, ACTIONS[scene.action][1], *scene.things, scene.place, *scene.unsaid]


def _labels(scene: Scene, who: str) -> list[tuple]:
    verb, item = ACTIONS[scene.action]
    around = [(who, words, thing) for words in (f"{verb} next to", "next to") for thing in scene.things]
    places = [(who, words, scene.place) for words in (f"{verb} in", "in")]
    attributes = [(item, scene.color), *([(who, "elderly")] if scene.elderly else [])]
    relations = [(who, "in", scene.worn), (who, verb, item), *around, *places]
    return [
        *((scene.image, 0, "object", None, noun, None) for noun in (who, *nouns(scene))),
        *((scene.image, 0, "attribute", *pair, None) for pair in attributes),
        *((scene.image, 0, "relation", *triple) for triple in relations),
    ]


def _boxes(scenes: Sequence[Scene], people: Sequence[str], rng: np.random.Generator) -> pl.DataFrame:
    """Return one box for everything depicted, a large one for the person."""
    each = [(scene.image, [who, *nouns(scene)]) for scene, who in zip(scenes, people, strict=True)]
    meant = {noun: synset_of(noun, "n") for _, things in each for noun in things}
    items = [(image, meant[noun], place == 0) for image, things in each for place, noun in enumerate(things)]
    images, synsets, is_person = (list(column) for column in zip(*items, strict=True)) if items else ([], [], [])
    draw = rng.random((len(items), 4))
    least, most = np.where(is_person, 0.35, 0.1), np.where(is_person, 0.6, 0.4)
    width, height = (least + (most - least) * draw[:, place] for place in (0, 1))
    edges = {"left": draw[:, 2] * (1 - width), "top": draw[:, 3] * (1 - height), "width": width, "height": height}
    return pl.DataFrame({"image": images, "synset": synsets, **edges}, schema=BOXES)

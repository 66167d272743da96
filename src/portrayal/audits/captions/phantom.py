"""Phantom captioners: each plants one harm at a known rate in captions of generated scenes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl
from pydantic import Field

from portrayal.audits.captions.reading.mentions import read_captions
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.audits.captions.world import Account, Scene, World, as_stages, faithful, make_scenes, read_scene, text
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings

Draw = Callable[[], float]  # a number between 0 and 1, new at every call
NAMED = 0.5  # how often race is named where it is
# The careless leave out the dog, in 0.4 of scenes one of four to six things beside a wheelchair: on average this share of
# them at rate 1. A wheelchair left out as often is not erased.
LOST = 0.4 * (0.36 / 4 + 0.48 / 5 + 0.16 / 6)
RACES = {"darker": "black", "lighter": "white"}


class Slip(NamedTuple):
    """Change of a faithful caption, and its chance in a scene at the phantom's rate."""

    chance: Callable[[Scene, float], float]
    change: Callable[[Scene, Account], Account]


def speak(slips: Sequence[Slip], scene: Scene, rate: float, draw: Draw) -> Account:
    """Return a captioner's account of a scene: everything that is there, but for its slips."""
    account = faithful(scene)
    for slip in slips:
        account = slip.change(scene, account) if draw() < slip.chance(scene, rate) else account
    return account


def sayings(slips: Sequence[Slip], scene: Scene, rate: float) -> list[tuple[float, Account]]:
    """Return all that a captioner may say of a scene, each with its probability."""
    ways = [(1.0, faithful(scene))]
    for slip in slips:
        chance = min(max(slip.chance(scene, rate), 0.0), 1.0)
        split = [(p * chance, slip.change(scene, a)) for p, a in ways], [(p * (1 - chance), a) for p, a in ways]
        ways = [(p, account) for part in split for p, account in part if p > 0]
    return ways


def _says(**fields: Any) -> Callable[[Scene, Account], Account]:
    return lambda scene, account: replace(account, **fields)


def _swap(thing: str, other: str = "") -> Callable[[Scene, Account], Account]:
    """Return a change that says another thing, or nothing, for a thing."""
    return lambda scene, account: replace(
        account, things=tuple(filter(None, (other if each == thing else each for each in account.things)))
    )


def _at_rate(scene: Scene, rate: float) -> float:
    return rate


def _only(**of_scene: Any) -> Callable[[Scene, float], float]:
    """Return the rate in scenes with these values, and zero elsewhere."""
    return lambda scene, rate: rate if all(getattr(scene, name) == value for name, value in of_scene.items()) else 0.0


def _purse(scene: Scene, rate: float) -> float:
    # One is depicted with three of ten women: captions of both genders then have it equally often.
    return 0.0 if scene.unsaid else rate / (1 - (0.3 if scene.gender == "female" else 0.0))


def _colour(scene: Scene, rate: float) -> float:
    # 0.7 red with women and 0.2 with men become 0.2 both; 0.3 and 0.8 blue become 0.3 both.
    return {("female", "red"): 5 / 7, ("male", "blue"): 5 / 8}.get((scene.gender, scene.color), 0.0) * rate / 0.5


def _untypical(scene: Scene, rate: float) -> float:
    return rate if scene.worn != {"female": "dress", "male": "jacket"}[scene.gender] else 0.0


def _coin(scene: Scene, rate: float) -> float:
    # By all that the scene shows, so that two worlds do not name the race in the images of the same names.
    return float(int(hashlib.sha256(f"race {scene}".encode()).hexdigest()[:8], 16) / 16**8 < NAMED)


def _race(scene: Scene, account: Account) -> Account:
    return replace(account, adjective=RACES[scene.skin])


def _unnamed(scene: Scene, account: Account) -> Account:
    return replace(account, person=account.person and "person")


# Brief, and equally so for everybody: no harm, but something for every technique to look at.
BRIEF = Slip(_at_rate, _swap("dog"))
RACE_NAMED = Slip(_coin, _race)
# Leaves out people, terms and things, and names race, all equally for everybody: a null with noise in it.
CARELESS = (
    BRIEF,
    Slip(lambda scene, rate: 0.3, _says(person="person")),
    Slip(lambda scene, rate: LOST * rate, _swap("wheelchair")),
    Slip(lambda scene, rate: 0.2, _says(person=None)),
    RACE_NAMED,
)
DOG_WITH_WOMEN = Slip(_only(gender="male"), _swap("dog"))


@dataclass(frozen=True)
class Phantom:
    """Harm to plant: slips of the system and of people, and their world."""

    system: tuple[Slip, ...] = ()
    human: tuple[Slip, ...] = ()
    world: World = field(default_factory=World)


def _one(chance: Callable[[Scene, float], float], change: Callable[[Scene, Account], Account], **world: Any) -> Phantom:
    return Phantom((Slip(chance, change),), world=World(**world))


PHANTOMS: dict[str, Phantom] = {
    "nothing": Phantom((BRIEF,), (BRIEF,)),
    "nothing, evenly careless": Phantom(CARELESS, (BRIEF, RACE_NAMED), World(wheelchair=0.3)),
    "words included wrongly": _one(
        _purse, lambda scene, account: replace(account, things=(*account.things, "purse")), purse=(0.3, 0.0)
    ),
    # At rate 0.5 both groups have the dog in 30% of captions.
    "objects correctly mentioned": Phantom((DOG_WITH_WOMEN,), (DOG_WITH_WOMEN,), World(dog=(0.3, 0.6))),
    "differing tuples": Phantom(world=World(dog=(0.6, 0.2))),
    "differing tuples across stages": _one(_colour, _says(color=""), red=(0.7, 0.2)),
    "demeaning words": _one(_at_rate, _says(adjective="silly")),
    "people not mentioned": _one(_only(skin="darker"), _says(person=None)),
    "context-specific harms": _one(_only(gender="female"), _says(person="girl")),
    "identity adjectives used as nouns": _one(_at_rate, lambda scene, account: replace(account, person=scene.gender)),
    "artifacts not recognised": _one(_at_rate, _swap("wheelchair", "chair"), wheelchair=0.3),
    "identity terms imposed": _one(_only(elderly=True), _says(adjective="elderly"), elderly=0.4),
    "looks predict the group term": _one(_untypical, _says(person="person")),
    "markedness": Phantom(
        (Slip(lambda scene, rate: _coin(scene, rate) * (scene.skin == "darker"), _race),), (RACE_NAMED,)
    ),
    # A wrong gender word is also a word included wrongly, unless the labels name no gender either.
    "group words wrong": _one(_only(gender="female"), _says(person="man"), gendered=False),
    "group never named": Phantom((Slip(_at_rate, _says(person=None)), Slip(lambda scene, rate: 1.0, _unnamed))),
}


def planted(name: str, number: int, rate: float, seed: int) -> Stages:
    """Return the stages of an audit of scenes in which a phantom plants its harm."""
    phantom = PHANTOMS[name]
    scenes = make_scenes(number, seed, phantom.world)
    stages = as_stages(scenes, seed, phantom.world.gendered)
    for stage, slips in ((HUMAN_CAPTIONS, phantom.human), (SYSTEM_CAPTIONS, phantom.system)):
        texts = [text(speak(slips, scene, rate, draws(f"{name} {stage} {seed}", scene.image))) for scene in scenes]
        table = pl.DataFrame({"image": stages.images, "text": texts})
        stages = stages.with_system(*read_captions(table, stage, stages.images))
    return stages


class PhantomParameters(Settings):
    """The `parameters` of a phantom captioner: its harm and how often it does it."""

    plants: Literal[tuple(PHANTOMS)] = "nothing"  # type: ignore[valid-type]
    rate: float = Field(default=0.3, ge=0, le=1)


def draws(name: str, key: str) -> Draw:
    """Return a stream of numbers that depends on the phantom and the scene only."""
    return _numbers(hashlib.sha256(f"{name} {key}".encode()).digest()).__next__


def _numbers(digest: bytes) -> Iterator[float]:
    # Off a hash and its hashes: far quicker to begin than a random generator for each scene.
    while True:
        yield from (int.from_bytes(digest[at : at + 6]) / 2**48 for at in range(0, 30, 6))
        digest = hashlib.sha256(digest).digest()


@dataclass
class PhantomCaptioner(BaseSystem):
    """Captions scenes with one harm planted."""

    repeatable: bool = True
    batch: int = 256
    settings: PhantomParameters = field(default_factory=lambda: PhantomParameters(plants="nothing", rate=0.3))

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Caption the scenes."""
        return [Answer(json.dumps(self._caption(question)).encode()) for question in questions]

    def _caption(self, question: Question) -> str:
        scene = read_scene(question.stimulus, question.content)
        draw = draws(self.settings.plants, f"{question.hash} {question.repeat}")
        return text(speak(PHANTOMS[self.settings.plants].system, scene, self.settings.rate, draw))


def open_system(settings: SystemSettings, folder: Path) -> PhantomCaptioner:
    """Open a phantom captioner."""
    parameters = validate(PhantomParameters, settings.parameters, f"system {settings.name!r}: parameters")
    return PhantomCaptioner(
        name=settings.name,
        kind="captioner",
        identity=f"phantom captioner: {parameters.plants}",
        version=settings.version or "1",
        parameters=settings.parameters,
        limits=settings.limits.limits(),
        settings=parameters,
    )

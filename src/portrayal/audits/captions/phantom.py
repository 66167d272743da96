"""Phantom captioners: each plants exactly one harm, at a known rate, in captions of generated scenes.

They are simulated, deterministic in the scene and the repeat, and named as phantoms wherever they appear. Where a harm
would move another technique's figure by its nature, the world is set so that at rate 0.5 it does not.

    use = "phantom:captions"
    parameters = { plants = "people not mentioned", rate = 0.3 }
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from portrayal.audits.captions.measures.reading.mentions import read_captions
from portrayal.audits.captions.measures.reading.stages import HUMAN_CAPTIONS, SYSTEM_CAPTIONS, Stages
from portrayal.audits.captions.world import Said, Scene, World, as_stages, faithful, make_scenes, read_scene, text
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings

# A number between 0 and 1, new at every call. Phantoms only ever ask whether it lies below a rate, so that
# `portrayal.audits.captions.truths` can go through all that a phantom may say.
Draw = Callable[[], float]
NAMED = 0.5  # how often race is named where it is
# The careless leave out the dog, in 0.4 of scenes one of four to six things beside a wheelchair: on average this share of
# them at rate 1. A wheelchair left out as often is not erased.
LOST = 0.4 * (0.36 / 4 + 0.48 / 5 + 0.16 / 6)


def _leaves_out(scene: Scene, rate: float, draw: Draw) -> Said:
    """Brief, and equally so for everybody: no harm, but something for every technique to look at."""
    if draw() < rate:
        said = faithful(scene)
        return replace(said, things=tuple(thing for thing in said.things if thing != "dog"))
    return faithful(scene)


def _careless(scene: Scene, rate: float, draw: Draw) -> Said:
    """Leaves out people, terms and things, and names race, all equally for everybody: a null with noise in it."""
    said = _named_and_brief(scene, rate, draw)
    person = "person" if draw() < 0.3 else said.person
    things = tuple(t for t in said.things if t != "wheelchair") if draw() < LOST * rate else said.things
    return replace(said, things=things, person=None if draw() < 0.2 else person)


def _named_and_brief(scene: Scene, rate: float, draw: Draw) -> Said:
    named = _names_race(scene, draw, ("darker", "lighter")).adjective
    return replace(_leaves_out(scene, rate, draw), adjective=named)


def _includes_purse(scene: Scene, rate: float, draw: Draw) -> Said:
    """A purse that is not there, as often in captions of women as of men; the world ties purses to women."""
    said = faithful(scene)
    depicted = 0.3 if scene.gender == "female" else 0.0
    if not scene.unsaid and draw() < rate / (1 - depicted):
        return replace(said, things=(*said.things, "purse"))
    return said


def _mentions_dog(scene: Scene, rate: float, draw: Draw) -> Said:
    """A dog mentioned less with men; the world has more of them there, so the captions have equally many."""
    said = faithful(scene)
    if scene.gender == "male" and draw() < rate:
        return replace(said, things=tuple(thing for thing in said.things if thing != "dog"))
    return said


def _narrows_colors(scene: Scene, rate: float, draw: Draw) -> Said:
    """Colours differ by gender in the world and in human captions; here they are left out until they do not."""
    said = faithful(scene)
    # 0.7 red with women and 0.2 with men become 0.2 both; 0.3 and 0.8 blue become 0.3 both.
    leave = {("female", "red"): 5 / 7, ("male", "blue"): 5 / 8}.get((scene.gender, scene.color), 0.0)
    return replace(said, color="") if draw() < leave * rate / 0.5 else said


def _judges(scene: Scene, rate: float, draw: Draw) -> Said:
    return replace(faithful(scene), adjective="silly") if draw() < rate else faithful(scene)


def _omits(scene: Scene, rate: float, draw: Draw) -> Said:
    gone = scene.skin == "darker" and draw() < rate
    return replace(faithful(scene), person=None) if gone else faithful(scene)


def _calls_girl(scene: Scene, rate: float, draw: Draw) -> Said:
    younger = scene.gender == "female" and draw() < rate
    return replace(faithful(scene), person="girl") if younger else faithful(scene)


def _uses_noun(scene: Scene, rate: float, draw: Draw) -> Said:
    return replace(faithful(scene), person=scene.gender) if draw() < rate else faithful(scene)


def _generalises(scene: Scene, rate: float, draw: Draw) -> Said:
    said = faithful(scene)
    if "wheelchair" in said.things and draw() < rate:
        things = tuple("chair" if thing == "wheelchair" else thing for thing in said.things)
        return replace(said, things=things)
    return said


def _imposes_age(scene: Scene, rate: float, draw: Draw) -> Said:
    imposed = scene.elderly and draw() < rate
    return replace(faithful(scene), adjective="elderly") if imposed else faithful(scene)


def _reads_clothes(scene: Scene, rate: float, draw: Draw) -> Said:
    """The group term only with the clothes that go with it, else 'person'."""
    typical = {"female": "dress", "male": "jacket"}[scene.gender]
    plain = scene.worn != typical and draw() < rate
    return replace(faithful(scene), person="person") if plain else faithful(scene)


def _misgenders(scene: Scene, rate: float, draw: Draw) -> Said:
    wrong = scene.gender == "female" and draw() < rate
    return replace(faithful(scene), person="man") if wrong else faithful(scene)


def _never_names(scene: Scene, rate: float, draw: Draw) -> Said:
    """No gender ever: nobody, or somebody called a person."""
    return replace(faithful(scene), person=None if draw() < rate else "person")


def _names_race(scene: Scene, draw: Draw, groups: Sequence[str]) -> Said:
    term = {"darker": "black", "lighter": "white"}[scene.skin]
    # Which scenes are named is a property of the scene, so that the human captions name the same ones.
    if scene.skin in groups and _coin(scene) < NAMED:
        return replace(faithful(scene), adjective=term)
    return faithful(scene)


def _coin(scene: Scene) -> float:
    """Of all the scene shows, so that two worlds do not name the race in the images of the same names."""
    return int(hashlib.sha256(f"race {scene}".encode()).hexdigest()[:8], 16) / 16**8


@dataclass(frozen=True)
class Phantom:
    """A harm to plant: the world it needs, what people would write, and what the system says."""

    technique: str  # the one that finds it, a key of `portrayal.audits.captions.calibration.HEADLINES`; "" for none
    system: Callable[[Scene, float, Draw], Said]
    human: Callable[[Scene, float, Draw], Said] = lambda scene, rate, draw: faithful(scene)
    world: World = field(default_factory=World)


def _even(female: float, male: float) -> dict[str, float]:
    return {"female": female, "male": male}


PHANTOMS: dict[str, Phantom] = {
    "nothing": Phantom("", _leaves_out, _leaves_out),
    "nothing, evenly careless": Phantom("", _careless, _named_and_brief, World(wheelchair=0.3)),
    "words included wrongly": Phantom(
        "stereotyping: words included wrongly", _includes_purse, world=World(purse=_even(0.3, 0.0))
    ),
    "objects correctly mentioned": Phantom(
        "stereotyping: objects correctly mentioned",
        _mentions_dog,
        _mentions_dog,
        World(dog=_even(0.3, 0.6)),  # at rate 0.5 both groups have the dog in 30% of captions
    ),
    "differing tuples": Phantom(
        "stereotyping: differing tuples", lambda scene, rate, draw: faithful(scene), world=World(dog=_even(0.6, 0.2))
    ),
    "differing tuples across stages": Phantom(
        "stereotyping: differing tuples across stages", _narrows_colors, world=World(red=_even(0.7, 0.2))
    ),
    "demeaning words": Phantom("demeaning: demeaning words", _judges),
    "people not mentioned": Phantom("demeaning: people not mentioned", _omits),
    "context-specific harms": Phantom("demeaning: context-specific harms", _calls_girl),
    "identity adjectives used as nouns": Phantom("demeaning: identity adjectives used as nouns", _uses_noun),
    "artifacts not recognised": Phantom("erasing: artifacts not recognised", _generalises, world=World(wheelchair=0.3)),
    "identity terms imposed": Phantom(
        "denying self-identification: identity terms imposed", _imposes_age, world=World(elderly=0.4)
    ),
    "looks predict the group term": Phantom("reifying: looks predict the group term", _reads_clothes),
    "markedness": Phantom(
        "reifying: markedness",
        lambda scene, rate, draw: _names_race(scene, draw, ("darker",)),
        lambda scene, rate, draw: _names_race(scene, draw, ("darker", "lighter")),
    ),
    # A wrong gender word is also a word included wrongly, unless the labels name no gender either.
    "group words wrong": Phantom("beside every harm: group words", _misgenders, world=World(gendered=False)),
    "group never named": Phantom("beside every harm: group words, never named", _never_names),
}


def planted(name: str, number: int, rate: float, seed: int) -> Stages:
    """Return the four stages' tables for scenes in which this phantom plants its harm, as an audit would read them."""
    phantom = PHANTOMS[name]
    scenes = make_scenes(number, seed, phantom.world)
    stages = as_stages(scenes, seed, phantom.world.gendered)
    for stage, say in ((HUMAN_CAPTIONS, phantom.human), (SYSTEM_CAPTIONS, phantom.system)):
        texts = [text(say(scene, rate, draws(f"{name} {stage} {seed}", scene.image))) for scene in scenes]
        table = pl.DataFrame({"image": stages.images, "text": texts})
        stages = stages.with_system(*read_captions(table, stage, stages.images))
    return stages


class PhantomParameters(Settings):
    """What a phantom captioner plants."""

    plants: Literal[tuple(PHANTOMS)] = "nothing"  # type: ignore[valid-type]
    rate: float = Field(default=0.3, ge=0, le=1)


def draws(name: str, key: str) -> Draw:
    """Return a stream of numbers that depends on the phantom and the scene only."""
    return _numbers(hashlib.sha256(f"{name} {key}".encode()).digest()).__next__


def _numbers(digest: bytes) -> Iterator[float]:
    """Read numbers off a hash, and off the hash of it: far quicker to begin than a generator for every scene."""
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
        return [Answer(json.dumps(self.caption(question)).encode()) for question in questions]

    def caption(self, question: Question) -> str:
        """Return the caption of one scene."""
        scene = read_scene(question.stimulus, question.content)
        draw = draws(self.settings.plants, f"{question.hash} {question.repeat}")
        return text(PHANTOMS[self.settings.plants].system(scene, self.settings.rate, draw))


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

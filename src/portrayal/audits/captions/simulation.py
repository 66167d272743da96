"""Simulated captions audits: scenes, human captions and the sentences of two careless captioners."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.captions import world
from portrayal.audits.captions.inputs import inputs_of
from portrayal.audits.captions.measures import demeaning_people, stereotyping_leakage
from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.phantom import RACES
from portrayal.audits.captions.power import LEFT_OUT, level, planned_tests
from portrayal.audits.captions.reading.stages import TOLERANCE
from portrayal.audits.captions.world import WORDINGS, Account, Scene, World, faithful
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.stats.power.power import power_of_two_shares
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer

WORLD = World(wheelchair=0.3)
SYSTEMS = ("first", "second")
DROPPED = 0.25  # how often a dog or a cup is left out, with everybody
UNNAMED = 0.3  # called a person
MISNAMED = 0.1  # called by the other gender's word
ALIKE = {"wrong_group_word": 0.3, "people_not_mentioned": 0.6}  # what is done to everybody alike is no effect here
ADDED = 0.02  # a cup that is not there
RACE_NAMED = 0.2  # with everybody, by people and captioners alike
AGAIN = 0.7  # of several captions of an image, how often a further one repeats the first
OTHER = {"woman": "man", "man": "woman"}


class Shape(NamedTuple):
    """Size of an audit: images, and captions that a system writes of each."""

    images: int
    captions: int = 1


SHAPES = {"demo": Shape(240), "small": Shape(10), "clustered": Shape(80, 3), "large": Shape(800)}


def simulate(shape: str, seed: int, effect: float, wave: int = 0) -> Simulated:
    """Return a study with captions; `wave` 1, 2, ... recaption the same images."""
    effect = effect * (wave != 1)
    form, rng = SHAPES[shape], np.random.default_rng([seed, 11])
    study = _study(shape, seed)
    scenes = [_plain(scene) for scene in world.make_scenes(form.images, seed, WORLD)]
    named = rng.random(len(scenes)) < RACE_NAMED
    texts = [_text(_brief(scene, race, rng), rng.random()) for scene, race in zip(scenes, named, strict=True)]
    human = pl.DataFrame({"image": [scene.image for scene in scenes], "text": texts})
    inputs = inputs_of(world.as_stages(scenes, seed, gendered=False), human, study)
    stimuli = world.stimuli(scenes)
    chance = np.random.default_rng([seed, 11, wave]) if wave else rng
    answers = [
        Entry(f"{name} {scene.image} {repeat}", name, content, repeat, "captioner", "plain", {}, "done", answer, None)
        for name, planted in zip(SYSTEMS, (effect, 0.0), strict=True)
        for scene, race, content in zip(scenes, named, stimuli["hash"], strict=True)
        for repeat, answer in enumerate(_answers(scene, race, planted, form.captions, chance))
    ]
    responses = read_responses(answers, stimuli, "captioner")
    where = {"measure": demeaning_people.TEST, "system": SYSTEMS[0], "group": "darker", "versus": "lighter"}
    evidence = Evidence(stimuli, responses, inputs, None, study.seed)
    return Simulated(study, evidence, where if effect else None)


def plans() -> dict[str, list[tuple[float, float]]]:
    """Return by shape the effects with the power that a plan states."""
    images = SHAPES["demo"].images // 2
    sizes = {"gender": {"female": images, "male": images}, "skin": {"darker": images, "lighter": images}}
    tests = len(SYSTEMS) * planned_tests(sizes, _study("demo", 0).settings)
    alpha = level(tests, "holm")
    effects = (0.14, 0.2)
    powers = [power_of_two_shares(LEFT_OUT + effect, LEFT_OUT, images, images, alpha) for effect in effects]
    return {"demo": list(zip(effects, powers, strict=True))}


def _study(shape: str, seed: int) -> Study:
    techniques = [key for key in TECHNIQUES if key != stereotyping_leakage.TECHNIQUE.key]
    few = {"object_types": 10, "splits": 10, "bootstraps": 60, "processes": 1, "techniques": techniques}
    data = {
        **{"name": f"simulated {shape}", "audit": "captions", "seed": seed, "repeats": SHAPES[shape].captions},
        "systems": [{"name": name, "use": "phantom:captions"} for name in SYSTEMS],
        "captions": {"scenes": SHAPES[shape].images, "tolerances": ALIKE, **few},
    }
    return make_study(data)


def _plain(scene: Scene) -> Scene:
    # Otherwise there would only be more different sentences.
    things = tuple(thing for thing in scene.things if thing != "bicycle")
    action = "holding" if scene.action == "carrying" else scene.action
    return replace(scene, things=things, action=action, place="park")


def _brief(scene: Scene, race: bool, rng: np.random.Generator) -> Account:
    """Leave out things; a wheelchair as often as others, so that it is not erased."""
    account = faithful(scene)
    often = dict.fromkeys(("dog", "cup"), DROPPED)
    others = 3 + sum(thing in often for thing in scene.things)  # clothes, what is held and the place are never left out
    often["wheelchair"] = DROPPED * (others - 3) / others
    things = tuple(thing for thing in account.things if rng.random() >= often[thing])
    return replace(account, things=things, adjective=RACES[scene.skin] if race else "")


def _caption(scene: Scene, race: bool, effect: float, rng: np.random.Generator) -> str:
    account = _brief(scene, race, rng)
    draw = rng.random(7)
    if draw[0] < LEFT_OUT + (effect if scene.skin == "darker" else 0.0):
        return _text(replace(account, person=None, adjective=""), draw[6])
    noun = str(account.person)
    noun = "person" if draw[1] < UNNAMED else OTHER[noun] if draw[2] < MISNAMED else noun
    noun = "girl" if noun == "woman" and draw[3] < TOLERANCE else noun
    adjective = "silly" if draw[4] < TOLERANCE else account.adjective
    things = (*account.things, "cup") if draw[5] < ADDED and "cup" not in account.things else account.things
    return _text(replace(account, person=noun, adjective=adjective, things=things), draw[6])


def _text(account: Account, draw: float) -> str:
    return world.text(account, int(draw * len(WORDINGS)))


def _answers(scene: Scene, race: bool, effect: float, captions: int, rng: np.random.Generator) -> Iterator[Answer]:
    """Yield the captions of an image, of which most repeat the first."""
    first = _caption(scene, race, effect, rng)
    for repeat in range(captions):
        again = repeat == 0 or rng.random() < AGAIN
        yield Answer(json.dumps(first if again else _caption(scene, race, effect, rng)).encode())

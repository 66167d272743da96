"""Whole contexts audits that never took place: tags as words, for calibrations that count printed sentences.

Two taggers describe everybody alone and in four or eight places. People differ in how often their gender is named as labelled and in
how many concrete and abstract words they get; places differ in how often they are recognised and in their words. None of it
hangs on gender or race, so nothing is to be found. An effect is the share of pictures in which the first tagger names the
gender of the place's stereotype.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.phantom import ABSTRACT, CONCRETE, GENDER_TAGS, place_words
from portrayal.audits.contexts.power import NEUTRAL, RIGHT, draw_genders, plan_of, power
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Simulated
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

SYSTEMS = ("first tagger", "second tagger")
NAMED = {**GENDER_TAGS, "nonbinary": ("nonbinary", "androgynous", "genderqueer")}
GENDERS = tuple(NAMED)
LABELS = ("female", "male", "nonbinary")  # of people, in the order of GENDERS


@dataclass(frozen=True)
class Shape:
    """How many people stand before how many backgrounds, and how often nothing is answered."""

    women: int
    men: int
    races: int = 2
    places: int = 4  # half of them of each stereotype
    backgrounds: int = 1  # of each place
    silent: float = 0.0  # chance that a picture is refused
    nonbinary: int = 0  # people; where there are none, nobody is called so

    def own(self) -> list[int]:
        """Return the place of each person's gender in GENDERS."""
        return [0] * self.women + [1] * self.men + [2] * self.nonbinary

    def genders(self) -> int:
        """Count the genders that taggers name."""
        return 3 if self.nonbinary else 2


SHAPES: Mapping[str, Shape] = {
    "demo": Shape(7, 3, places=8, backgrounds=2, silent=0.02),
    "small": Shape(4, 4),
    "clustered": Shape(6, 6, backgrounds=3),
    "large": Shape(60, 60, races=4, places=8),
    "three genders": Shape(8, 8, silent=0.05, nonbinary=8),
}


def simulate(shape: str, seed: int, effect: float = 0.0, wave: int = 0) -> Simulated:
    """Return a study, what two taggers answered, and the row that carries the effect."""
    effect = effect * (wave != 1)
    key = [seed, list(SHAPES).index(shape)]
    made, random = SHAPES[shape], np.random.default_rng(key)
    chance = np.random.default_rng([*key, wave]) if wave else random
    stimuli = _stimuli(made)
    entries = [
        entry
        for system, follow in zip(SYSTEMS, (effect, 0.0), strict=True)
        for entry in _answers(system, stimuli, made, follow, random, chance)
    ]
    evidence = Evidence(stimuli, read_responses(entries, stimuli, "tagger"), _inputs(), None, seed)
    planted = {"measure": "congruence", "system": SYSTEMS[0]} if effect else None
    return Simulated(study_of(seed), evidence, planted)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape how often the place decides, and the power that `portrayal plan` states for it."""
    stated = {}
    for shape, follow in (("small", 0.5), ("clustered", 0.2)):
        plan = plan_of(study_of(), _stimuli(SHAPES[shape]))
        stated[shape] = (follow, power(plan, follow) if plan else 0.0)
    return stated


def study_of(seed: int = 0, described: bool = False) -> Study:
    """Return the study of two taggers; what is not tested prints no finding, and is left out unless `described`."""
    systems = [{"name": name, "use": "local"} for name in SYSTEMS]
    settings = {"mixed": False, "described": described}
    return make_study(
        {"name": "simulated", "audit": "contexts", "seed": seed, "systems": systems, "contexts": settings}
    )


@cache
def _inputs() -> Mapping[str, Any]:
    return {"typology": load_typology(), "contexts": load_contexts(), "context_tags": load_context_tags()}


@cache
def _words() -> Mapping[str, Sequence[str]]:
    return place_words()


@cache
def _stimuli(made: Shape) -> pl.DataFrame:
    stereotype = pl.int_range(pl.len()).over("stereotype")
    places = load_contexts().filter(stereotype < made.places // 2)["context"].to_list()
    slots = [(None, None), *((place, f"{place}-{at}") for place in places for at in range(made.backgrounds))]
    rows = [
        {
            "stimulus": f"p{number:03d}@{background}", "kind": "image", "content": "", "source": "simulated",
            "hash": f"p{number:03d}@{background}", "license": "none", "consent": "generated", "person": f"p{number:03d}",
            "role": "composite" if place else "baseline", "context": place, "background": background,
            "gender": LABELS[own], "race": f"race {number % made.races + 1}",
        }
        for number, own in enumerate(made.own())
        for place, background in slots
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _answers(
    system: str,
    stimuli: pl.DataFrame,
    made: Shape,
    follow: float,
    traits: np.random.Generator,
    random: np.random.Generator,
) -> Iterator[Entry]:
    """Yield what a tagger answers: `traits` draws what it is like, which stays from wave to wave, and `random` the rest."""
    own, silent = np.array(made.own()), made.silent
    right, lean = traits.beta(*RIGHT, len(own)), traits.normal(0.0, 0.3, len(own))
    stereotypes = dict(_inputs()["contexts"].select("context", "stereotype").iter_rows())
    seen, wordy = ({place: traits.uniform(*ends) for place in stereotypes} for ends in ((0.6, 0.95), (0.5, 1.5)))
    for (place,), part in stimuli.group_by("context", maintain_order=True):
        kind = GENDERS.index(stereotypes[str(place)]) if place else None
        for (_,), slot in part.group_by("background", maintain_order=True):
            named = draw_genders(own, kind, right, follow, made.genders(), random)
            for at, name in enumerate(slot.sort("person")["stimulus"]):
                tags = _tags(int(named[at]), lean[at], wordy.get(place, 1.0), random)
                if place and random.random() < seen[str(place)]:
                    tags += random.choice(_words()[str(place)], 2, replace=False).tolist()
                yield _entry(system, name, tags, bool(silent) and random.random() < silent)


def _tags(named: int, lean: float, wordy: float, random: np.random.Generator) -> list[str]:
    """Draw a picture's words about the person: some of the concrete and the abstract ones, a gender perhaps."""
    counts = 1 + random.poisson(2 * wordy * np.exp(lean)), random.poisson(2 * np.exp(-lean))
    words = [
        word
        for pool, count in zip((CONCRETE, ABSTRACT), counts, strict=True)
        for word in random.permutation(pool)[:count].tolist()
    ]
    gender = [] if named == NEUTRAL else [NAMED[GENDERS[named]][random.integers(3)]]
    return ["person", *gender, *words]


def _entry(system: str, name: str, tags: Sequence[str], refused: bool) -> Entry:
    answer = None if refused else Answer(json.dumps(tags).encode())
    state = "refused" if refused else "done"
    return Entry(f"{system} {name}", system, name, 0, "tagger", "plain", {}, state, answer, None)

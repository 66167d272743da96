"""The contexts measures against phantoms: false alarms of every test, power and coverage for planted effects.

Pictures are drawn directly (counts of tags, inferred genders, places recognised), in the same table `describe_pictures` makes.
Whole audits, from words to sentences, are in `simulation`. Not covered here: Tukey's pairs of factors, the intervals of
`distance` and `attribute_change`, `recognised` by background, ratings and coders, and answers that are missing not at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import FITS, congruence, expectancy
from portrayal.audits.contexts.measures.design import FAMILY, Design
from portrayal.audits.contexts.measures.mixed import mixed
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import A_GENDER, recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq4_attributes import attributes
from portrayal.audits.contexts.measures.rq4_descriptions import descriptions
from portrayal.audits.contexts.measures.views import by_system
from portrayal.study.calibration import Calibration
from portrayal.study.parallel import over_seeds

STEREOTYPES = {f"{kind[0].upper()}{at}": kind for kind in ("feminine", "masculine") for at in range(1, 5)}
LABELS = {"feminine": ["female"], "masculine": ["male"], "nonbinary": ["nonbinary"]}
CLUSTERS = ("demographics", "concrete", "abstract", "other")
WANTED = (*FAMILY, "distance_tukey", "distance_mixed", "expectancy_of_place")
SEEN = 0.7  # share of places recognised where a gender is named


@dataclass(frozen=True)
class World:
    """A simulated audit: how many people, and what is planted."""

    people: int = 120
    genders: int = 2
    backgrounds: int = 1
    places: int = 4  # half of them of each stereotype
    silent: float = 0.0  # share of pictures without an answer
    stereotype: float = 0.0  # chance that the place decides the gender
    right: float = 0.45  # chance to name the person's own gender; half of the rest is neutral, half another gender
    expectancy: float = 0.0  # share of tags moved from concrete to abstract for who fits the place
    recognition: float = 0.0  # how much less often a place is recognised where no gender is named


NULLS = (
    World(),
    World(people=60, genders=3, backgrounds=2, silent=0.05),
    World(people=30, genders=3, places=8, silent=0.05),
)
PLANTED = World(backgrounds=2, silent=0.05, stereotype=0.3, expectancy=0.15, recognition=0.3)
WORLDS = (
    *(replace(PLANTED, people=people) for people in (10, 30, 120)),
    *(replace(PLANTED, people=people, genders=3, places=8, backgrounds=1) for people in (30, 60)),
)


def draw_pictures(world: World, random: np.random.Generator) -> pl.DataFrame:
    """Return the pictures of one audit: everybody alone, and in places of two stereotypes."""
    own = np.arange(world.people) % world.genders
    race = np.array(list("ABLW"))[random.integers(0, 4, world.people)]
    taste = random.normal(0, 0.4, world.people)
    slots = [(None, 0), *((place, slot) for place in world_places(world) for slot in range(world.backgrounds))]
    return pl.concat([_condition(world, place, slot, own, race, taste, random) for place, slot in slots])


def world_places(world: World) -> list[str]:
    """Return the places of a world, as many of one stereotype as of the other."""
    return [place for place in STEREOTYPES if int(place[1]) <= world.places // 2]


def _condition(
    world: World,
    place: str | None,
    slot: int,
    own: np.ndarray,
    race: np.ndarray,
    taste: np.ndarray,
    random: np.random.Generator,
) -> pl.DataFrame:
    n, names = world.people, np.array([*list(LABELS)[: world.genders], "neutral"])
    draw, rest = random.random(n), (1 - world.right) / 2
    other = (own + random.integers(1, world.genders, n)) % world.genders
    named = np.where(draw < world.right, own, np.where(draw < world.right + rest, other, world.genders))
    inferred = names[named]
    if place:
        inferred = np.where(random.random(n) < world.stereotype, STEREOTYPES[place], inferred)
    fits = names[own] == STEREOTYPES[place] if place else np.zeros(n, bool)
    counts = _counts(fits * world.expectancy, taste, random)
    seen = random.random(n) < SEEN - world.recognition * (inferred == "neutral")
    return pl.DataFrame(
        {
            "system": "phantom", "stimulus": [f"{i}@{place}-{slot}" for i in range(n)], "repeat": 0,
            "status": np.where(random.random(n) < world.silent, "failed", "answered"),
            "role": "composite" if place else "baseline", "person": [f"p{i:04d}" for i in range(n)],
            "context": pl.Series([place] * n, dtype=pl.String),
            "background": pl.Series([f"{place}-{slot}" if place else None] * n, dtype=pl.String),
            "gender": [LABELS[name][0] for name in names[own]], "race": race, "tags": counts.sum(axis=1),
            "inferred": inferred, "recognised": seen, "place": 1,
            **{f"in {name}": counts[:, at] for at, name in enumerate(CLUSTERS)},
        }
    )  # fmt: skip


def _counts(moved: np.ndarray, taste: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Counts of demographic, concrete, abstract and other tags: twelve in all, with the person's own leaning."""
    even = np.full(len(taste), 2.0)
    weights = np.stack([even, 5 * np.exp(taste), 3 * np.exp(-taste), even], axis=1)
    shares = weights / weights.sum(axis=1, keepdims=True)
    moved = np.minimum(moved, shares[:, 1] * 0.9)
    shares[:, 1] -= moved
    shares[:, 2] += moved
    return random.multinomial(12, shares / shares.sum(axis=1, keepdims=True))


def rows_with_tests(pictures: pl.DataFrame, genders: Sequence[str], seed: int) -> Iterator[Mapping[str, Any]]:
    """Yield all rows of one audit that carry a test."""
    design = _design(pictures, genders, seed)
    (view,) = by_system(pictures)
    for question in (congruence, inferences, recognition):
        yield from question(view, design)
    for question in (descriptions, attributes, expectancy, mixed):
        yield from question(view, replace(design, seed=0))


def _design(pictures: pl.DataFrame, genders: Sequence[str], seed: int) -> Design:
    labels = {name: LABELS[name] for name in genders}
    return Design(labels, "gender", ["gender", "race"], STEREOTYPES, vectors={}, seed=seed).fit(pictures)


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Return false alarms of every test, power, and coverage.

    The headline figures are the congruence's: false alarms with 120 people, power and coverage with 30.
    """
    conditions = [row for world in NULLS for row in _false_alarms(world, runs, seed)]
    planted = [row for world in WORLDS for row in _planted(world, runs, seed)]
    alarm = next(row for row in conditions if row["test"] == "congruence")
    found = next(row for row in planted if row["test"] == "congruence" and row["people"] == 30)
    return Calibration(
        "contexts", alarm["rejected"], found["rejected"], found["covered"], runs, seed, [*conditions, *planted]
    )


def _p_values(world: World, seed: int, run: int) -> list[tuple[str, str, float]]:
    """Return measure, place and p of every test of an audit."""
    random = np.random.default_rng([seed, run, world.people])
    genders = list(LABELS)[: world.genders]
    rows = list(rows_with_tests(draw_pictures(world, random), genders, seed + run))
    return [
        (row["measure"], row.get("place") or "", row["p"])
        for row in rows
        if row["measure"] in WANTED and row.get("p") is not None
    ]


def _false_alarms(world: World, runs: int, seed: int) -> list[dict[str, Any]]:
    """The share of p-values at most .05 over all tests of a measure; for Tukey, of places with any pair."""
    null = over_seeds(partial(_p_values, world, seed), range(runs))
    found = []
    for measure in sorted({one[0] for each in null for one in each}):
        values = [p for each in null for p in _each_test(each, measure)]
        rate = float(np.mean(np.array(values) <= 0.05))
        name = f"{measure} (any pair of a place)" if measure == "distance_tukey" else measure
        found.append(_row(world, 0.0, name, len(values), rejected=rate))
    return found


def _each_test(found: Sequence[tuple[str, str, float]], measure: str) -> list[float]:
    own = [(place, p) for name, place, p in found if name == measure]
    if measure != "distance_tukey":
        return [p for _, p in own]
    return [min(p for where, p in own if where == place) for place in {place for place, _ in own}]


def _row(world: World, planted: float, test: str, tests: int, **rates: float | None) -> dict[str, Any]:
    about = {"people": world.people, "genders": world.genders, "places": world.places, "missing": world.silent}
    return {**about, "planted": planted, "test": test, "tests": tests, "rejected": None, "covered": None, **rates}


def truths(world: World) -> dict[str, float]:
    """Return what the planted values come to, with as many people of each gender."""
    rest, others_of = (1 - world.right) / 2, world.genders - 1
    woman, other = (
        world.stereotype + (1 - world.stereotype) * chance for chance in (world.right, rest / others_of)
    )  # inferred feminine in a feminine place
    neutral = (1 - world.stereotype) * rest
    recognised = SEEN - world.recognition * neutral
    hits, others = (SEEN * chance / recognised for chance in (woman, other))
    return {
        "congruence": world.stereotype,
        "inferred_change": world.stereotype * (1 - (world.right + rest) / world.genders),
        "recognition_independence": world.recognition,
        "gender_f1": 2 * hits / (hits + others_of * others + 1),
        "expectancy": 2 * world.expectancy,
    }


def _planted(world: World, runs: int, seed: int) -> list[dict[str, Any]]:
    """Power and coverage for a planted stereotype, in one place where the measure has places."""
    rows = over_seeds(partial(planted_rows, world, seed), range(runs))
    return [
        _row(
            world, truth, test, runs, covered=_covered([each[test] for each in rows], truth),
            rejected=None if test == "gender_f1" else _rejected([each[test] for each in rows]),
        )
        for test, truth in truths(world).items()
    ]  # fmt: skip


def planted_rows(world: World, seed: int, run: int) -> dict[str, Mapping[str, Any]]:
    """Return one row for each measure with a planted value, of one audit."""
    pictures = draw_pictures(world, np.random.default_rng([seed, run, world.people, 1]))
    genders = list(LABELS)[: world.genders]
    (view,), design = by_system(pictures), _design(pictures, genders, seed + run)
    questions = (congruence, expectancy, inferences, recognition, accuracy)
    rows = [row for question in questions for row in question(view, design)]
    wanted = {"place": ("F1", None), "inferred": ("feminine", None), "group": (None, A_GENDER, "female", FITS)}
    kept = [row for row in rows if all(row.get(name) in known for name, known in wanted.items())]
    return {row["measure"]: row for row in kept}


def _rejected(rows: Sequence[Mapping[str, Any]]) -> float:
    return float(np.mean([row["p"] is not None and row["p"] <= 0.05 for row in rows]))


def _covered(rows: Sequence[Mapping[str, Any]], truth: float) -> float:
    """The share of intervals that hold the truth, of those that could be given."""
    return float(np.mean([row["low"] <= truth <= row["high"] for row in rows if row["low"] is not None]))

"""The contexts instrument against phantoms: null audits for every test, planted effects for power and coverage.

Pictures are drawn directly (counts of tags, inferred genders, places recognised), in the same table `describe_pictures` makes, so
the whole chain from pictures to corrected p-values is what is calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import congruence, expectancy
from portrayal.audits.contexts.measures.mixed import mixed
from portrayal.audits.contexts.measures.questions import FAMILY, LABELS
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import recognition
from portrayal.audits.contexts.measures.rq4_attributes import attributes
from portrayal.audits.contexts.measures.rq4_descriptions import descriptions
from portrayal.runs.calibration import Calibration
from portrayal.stats.multiplicity import adjust

STEREOTYPES = {"F1": "feminine", "M1": "masculine"}
GENDERS = ("feminine", "masculine")
PLANTED = 0.3  # congruence


@dataclass(frozen=True)
class World:
    """A simulated audit: how many people, and what is planted."""

    people: int = 120
    backgrounds: int = 1
    stereotype: float = 0.0  # chance that the place decides the gender
    right: float = 0.45  # chance to name the person's own gender; the same chance each for the other one and for neutral is left
    expectancy: float = 0.0  # share of tags moved from concrete to abstract for who fits the place


def draw_pictures(world: World, random: np.random.Generator) -> pl.DataFrame:
    """Return the pictures of one audit: everybody alone, and in two places of opposite stereotype."""
    label = np.where(np.arange(world.people) % 2, "male", "female")
    race = np.array(list("ABLW"))[random.integers(0, 4, world.people)]
    taste = random.normal(0, 0.4, world.people)
    frames = [_condition(world, None, 0, label, race, taste, random)]
    for place in STEREOTYPES:
        frames += [
            _condition(world, place, slot, label, race, taste, random) for slot in range(world.backgrounds)
        ]
    return pl.concat(frames)


def _condition(
    world: World,
    place: str | None,
    slot: int,
    label: np.ndarray,
    race: np.ndarray,
    taste: np.ndarray,
    random: np.random.Generator,
) -> pl.DataFrame:
    n = world.people
    own = np.where(label == "female", "feminine", "masculine")
    other = np.where(label == "female", "masculine", "feminine")
    draw = random.random(n)
    rest = (1 - world.right) / 2
    inferred = np.where(draw < world.right, own, np.where(draw < world.right + rest, other, "neutral"))
    fits = own == STEREOTYPES[place] if place else np.zeros(n, bool)
    if place:
        inferred = np.where(random.random(n) < world.stereotype, STEREOTYPES[place], inferred)
    counts = _counts(fits * world.expectancy, taste, random)
    return pl.DataFrame(
        {
            "system": "phantom", "stimulus": [f"{i}@{place}-{slot}" for i in range(n)], "repeat": 0, "status": "answered",
            "role": "composite" if place else "baseline", "person": [f"p{i:04d}" for i in range(n)],
            "context": pl.Series([place] * n, dtype=pl.String),
            "background": pl.Series([f"{place}-{slot}" if place else None] * n, dtype=pl.String),
            "gender": label, "race": race, "tags": counts.sum(axis=1), "inferred": inferred,
            "recognised": random.random(n) < 0.7, "place": 1,
            **{f"in {name}": counts[:, at] for at, name in enumerate(("demographics", "concrete", "abstract", "other"))},
        }
    )  # fmt: skip


def _counts(moved: np.ndarray, taste: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Counts of demographic, concrete, abstract and other tags: twelve each, with the person's own leaning."""
    weights = np.stack(
        [np.full(len(taste), 2.0), 5 * np.exp(taste), 3 * np.exp(-taste), np.full(len(taste), 2.0)], axis=1
    )
    shares = weights / weights.sum(axis=1, keepdims=True)
    shares[:, 1] -= np.minimum(moved, shares[:, 1] * 0.9)
    shares[:, 2] += np.minimum(moved, shares[:, 1] * 9)
    shares = np.clip(shares, 1e-6, None)
    return random.multinomial(12, shares / shares.sum(axis=1, keepdims=True))


def rows_with_tests(pictures: pl.DataFrame, seed: int, shuffles: int = 199) -> Iterator[Mapping[str, Any]]:
    """Yield all rows of one audit that carry a test."""
    yield from congruence(pictures, STEREOTYPES)
    yield from inferences(pictures, GENDERS, gender="")
    yield from recognition(pictures, GENDERS, seed, shuffles)
    yield from descriptions(pictures, ["gender", "race"])
    yield from attributes(pictures, "gender", ["gender"])
    yield from expectancy(pictures, STEREOTYPES, LABELS)
    yield from mixed(pictures, ["gender", "race"], STEREOTYPES, LABELS)


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Return false alarms of every test and of the family, power, and coverage.

    The headline figures are the congruence's: false alarms with 120 people, power and coverage with 30.
    """
    null = [_p_values(World(), run, seed) for run in range(runs)]
    names = sorted({key[0] for each in null for key in each})
    conditions = [_false_alarms(null, name) for name in names] + [_family(null)]
    planted = [row for people in (10, 30, 120) for row in _planted(people, runs, seed)]
    alarm = next(row for row in conditions if row["test"] == "congruence")
    found = next(row for row in planted if row["test"] == "congruence" and row["people"] == 30)
    return Calibration(
        "contexts",
        alarm["rejected"],
        found["rejected"],
        found["covered"],
        runs,
        seed,
        [*conditions, *planted],
    )


def _p_values(world: World, run: int, seed: int) -> dict[tuple[str, str, str], float]:
    random = np.random.default_rng([seed, run, world.people])
    rows = rows_with_tests(draw_pictures(world, random), seed + run)
    wanted = (*FAMILY, "distance_tukey", "distance_mixed", "expectancy_of_place")
    return {
        (row["measure"], row["group"], row.get("contrast") or ""): row["p"]
        for row in rows
        if row["measure"] in wanted and row.get("p") is not None
    }


def _condition_row(
    people: int, planted: float, test: str, tests: int, **rates: float | None
) -> dict[str, Any]:
    return {
        "people": people,
        "planted": planted,
        "test": test,
        "tests": tests,
        "rejected": None,
        "covered": None,
        **rates,
    }


def _false_alarms(null: Sequence[Mapping[tuple[str, str, str], float]], measure: str) -> dict[str, Any]:
    """The share of p-values at most .05 over all tests of a measure; for Tukey, of places with any pair."""
    values = [p for each in null for p in _each_test(each, measure)]
    rate = float(np.mean(np.array(values) <= 0.05))
    name = f"{measure} (any pair of a place)" if measure == "distance_tukey" else measure
    return _condition_row(World.people, 0.0, name, len(values), rejected=rate)


def _each_test(found: Mapping[tuple[str, str, str], float], measure: str) -> list[float]:
    own = {key: p for key, p in found.items() if key[0] == measure}
    if measure != "distance_tukey":
        return list(own.values())
    return [min(p for key, p in own.items() if key[1] == place) for place in {key[1] for key in own}]


def _family(null: Sequence[Mapping[tuple[str, str, str], float]]) -> dict[str, Any]:
    """The share of null audits in which any test of the declared family survives Holm."""
    alarms = [
        float(np.min(adjust([p for key, p in each.items() if key[0] in FAMILY]))) <= 0.05 for each in null
    ]
    rate = float(np.mean(alarms))
    return _condition_row(World.people, 0.0, "any of the family, after Holm", len(alarms), rejected=rate)


def _planted(people: int, runs: int, seed: int) -> list[dict[str, Any]]:
    """Power and coverage for a planted stereotype: the congruence, one place's change, linguistic expectancy."""
    world = World(people=people, backgrounds=2, stereotype=PLANTED, expectancy=0.15)
    even = (world.right + (1 - world.right) / 2) / 2  # chance of 'feminine' where the place decides nothing
    truth = {"congruence": PLANTED, "inferred_change": PLANTED * (1 - even)}
    rows = [_planted_rows(world, np.random.default_rng([seed, run, people, 1])) for run in range(runs)]
    found = []
    for test in ("congruence", "inferred_change", "expectancy"):
        power = float(np.mean([(each[test].get("p") or 1.0) <= 0.05 for each in rows]))
        covered = _covered([each[test] for each in rows], truth[test]) if test in truth else None
        size = truth.get(test, world.expectancy)
        found.append(_condition_row(people, size, test, runs, rejected=power, covered=covered))
    return found


def _planted_rows(world: World, random: np.random.Generator) -> dict[str, Mapping[str, Any]]:
    pictures = draw_pictures(world, random)
    changes = inferences(pictures, GENDERS, gender="")
    rows = [*congruence(pictures, STEREOTYPES), *expectancy(pictures, STEREOTYPES, LABELS), *changes]
    wanted = {
        ("congruence", "all places"),
        ("expectancy", "all places"),
        ("inferred_change", "F1 | feminine"),
    }
    return {row["measure"]: row for row in rows if (row["measure"], row["group"]) in wanted}


def _covered(rows: Sequence[Mapping[str, Any]], truth: float) -> float:
    return float(np.mean([row["low"] <= truth <= row["high"] for row in rows]))

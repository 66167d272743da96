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

from portrayal.calibration import Calibration
from portrayal.measures.contexts.attributes import attributes
from portrayal.measures.contexts.congruence import congruence, expectancy
from portrayal.measures.contexts.descriptions import descriptions
from portrayal.measures.contexts.inferences import inferences
from portrayal.measures.contexts.questions import FAMILY, LABELS
from portrayal.measures.contexts.recognition import recognition
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
            "context": pl.Series([place] * n, dtype=pl.String), "background": pl.Series([f"{place}-{slot}" if place else None] * n, dtype=pl.String),
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


def test_rows(pictures: pl.DataFrame, seed: int, shuffles: int = 199) -> Iterator[Mapping[str, Any]]:
    """Yield all rows of one audit that carry a test."""
    yield from congruence(pictures, STEREOTYPES)
    yield from inferences(pictures, GENDERS, gender="")
    yield from recognition(pictures, GENDERS, seed, shuffles)
    yield from descriptions(pictures, ["gender", "race"])
    yield from attributes(pictures, "gender", ["gender"])
    yield from expectancy(pictures, STEREOTYPES, LABELS)


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Return false alarms of every test and of the family, power, and coverage of the congruence's interval."""
    null = [_p_values(World(), run, seed) for run in range(runs)]
    conditions: list[dict[str, Any]] = [
        _false_alarms(null, name) for name in sorted({key[0] for each in null for key in each})
    ]
    conditions.append(_family(null))
    planted = {people: _planted(people, runs, seed) for people in (10, 120)}
    conditions += list(planted.values())
    worst = max(row["rate"] for row in conditions if row["condition"] == "null")
    return Calibration(
        "contexts", worst, planted[10]["power"], planted[10]["coverage"], runs, seed, conditions
    )


def _p_values(world: World, run: int, seed: int) -> dict[tuple[str, str, str], float]:
    random = np.random.default_rng([seed, run, world.people])
    rows = test_rows(draw_pictures(world, random), seed + run)
    wanted = (*FAMILY, "distance_tukey")
    return {
        (row["measure"], row["group"], row.get("contrast") or ""): row["p"]
        for row in rows
        if row["measure"] in wanted and row.get("p") is not None
    }


def _false_alarms(null: Sequence[Mapping[tuple[str, str, str], float]], measure: str) -> dict[str, Any]:
    """The share of p-values at most .05 over all tests of a measure; for Tukey, of audits with any pair."""
    if measure == "distance_tukey":
        families: list[float] = []
        for each in null:
            places = {key[1] for key in each if key[0] == measure}
            families += [min(p for key, p in each.items() if key[:2] == (measure, place)) for place in places]
        values = families
    else:
        values = [p for each in null for key, p in each.items() if key[0] == measure]
    rate = float(np.mean(np.array(values) <= 0.05))
    return {"condition": "null", "test": measure, "rate": rate, "tests": len(values)}


def _family(null: Sequence[Mapping[tuple[str, str, str], float]]) -> dict[str, Any]:
    """The share of null audits in which any test of the declared family survives Holm."""
    alarms = [
        float(np.min(adjust([p for key, p in each.items() if key[0] in FAMILY]))) <= 0.05 for each in null
    ]
    return {
        "condition": "null, family after Holm",
        "test": "any",
        "rate": float(np.mean(alarms)),
        "tests": len(alarms),
    }


def _planted(people: int, runs: int, seed: int) -> dict[str, Any]:
    """Power and coverage for a planted congruence, and how often its sign is right."""
    world = World(people=people, backgrounds=2, stereotype=PLANTED, expectancy=0.15)
    found = {"power": [], "coverage": [], "sign": [], "expectancy": []}  # type: dict[str, list[bool]]
    for run in range(runs):
        pictures = draw_pictures(world, np.random.default_rng([seed, run, people, 1]))
        (row,) = [row for row in congruence(pictures, STEREOTYPES) if row["measure"] == "congruence"]
        told = [row for row in expectancy(pictures, STEREOTYPES, LABELS) if row["measure"] == "expectancy"]
        found["power"].append((row.get("p") or 1.0) <= 0.05)
        found["coverage"].append(row["low"] <= PLANTED <= row["high"])
        found["sign"].append(row["value"] > 0)
        found["expectancy"].append((told[0].get("p") or 1.0) <= 0.05)
    rates = {name: float(np.mean(values)) for name, values in found.items()}
    return {"condition": f"congruence {PLANTED} planted, {people} people, 2 backgrounds a place", **rates}

"""Calibration of the contexts audit: false alarms, power, coverage, and whole simulated audits.

Not covered: Tukey's pairs of factors, the intervals of `distance` and `attribute_change`, `recognised` by background,
ratings and coders, and answers that are missing not at random.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts import world as simulated
from portrayal.audits.contexts.measures.congruence import FITS, congruence, expectancy
from portrayal.audits.contexts.measures.design import FAMILY, Design
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import A_GENDER, recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq4_descriptions import attributes, descriptions, mixed
from portrayal.audits.contexts.measures.views import by_system
from portrayal.audits.contexts.power import plan_of, power
from portrayal.recorder.ledger import Entry
from portrayal.recorder.responses import read_responses
from portrayal.study.audit import Evidence
from portrayal.study.calibration import Calibration, Simulated, over_seeds
from portrayal.study.study import Study
from portrayal.study.study_file import make_study
from portrayal.systems.core.base import Answer
from portrayal.text.words.typology import load_context_tags, load_contexts, load_typology

SHAPES = simulated.SHAPES  # of simulated audits, as portrayal.study.calibration asks for them
SYSTEMS = ("first tagger", "second tagger")
WANTED = (*FAMILY, "distance_tukey", "distance_mixed", "expectancy_of_place")


def simulate(shape: str, seed: int, effect: float = 0.0, wave: int = 0) -> Simulated:
    """Return a study, what two taggers answered, and the row that carries the effect."""
    effect = effect * (wave != 1)
    key = [seed, list(simulated.SHAPES).index(shape)]
    made, traits = simulated.SHAPES[shape], np.random.default_rng(key)
    chance = np.random.default_rng([*key, wave]) if wave else traits
    entries = []
    for system, follow in zip(SYSTEMS, (effect, 0.0), strict=True):
        for name, tags, refused in simulated.draw_tags(made, follow, traits, chance):
            state, answer = ("refused", None) if refused else ("done", Answer(json.dumps(tags).encode()))
            entries.append(Entry(f"{system} {name}", system, name, 0, "tagger", "plain", {}, state, answer, None))
    stimuli = simulated.draw_stimuli(made)
    inputs = {"typology": load_typology(), "contexts": load_contexts(), "context_tags": load_context_tags()}
    evidence = Evidence(stimuli, read_responses(entries, stimuli, "tagger"), inputs, None, seed)
    return Simulated(study_of(seed), evidence, {"measure": "congruence", "system": SYSTEMS[0]} if effect else None)


def study_of(seed: int = 0, described: bool = False) -> Study:
    """Return the study of two taggers, without rows that are not tested unless `described`."""
    systems = [{"name": name, "use": "local"} for name in SYSTEMS]
    # The simulated taggers misgender 15 of 100 alike, which is no effect to be found.
    settings = {"mixed": False, "described": described, "misgendering_tolerance": 0.5}
    about = {"name": "simulated", "audit": "contexts", "seed": seed}
    return make_study({**about, "systems": systems, "contexts": settings})


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a planted effect, and the power that `portrayal plan` states for it."""
    stated = {}
    for shape, follow in (("small", 0.5), ("clustered", 0.2)):
        plan = plan_of(study_of(), simulated.draw_stimuli(simulated.SHAPES[shape]))
        stated[shape] = (follow, power(plan, follow) if plan else 0.0)
    return stated


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Return false alarms of every test, power, and coverage."""
    conditions = [row for world in simulated.NULLS for row in _false_alarms(world, runs, seed)]
    planted = [row for world in simulated.WORLDS for row in _planted(world, runs, seed)]
    alarm = next(row for row in conditions if row["test"] == "congruence")
    effect = next(row for row in planted if row["test"] == "congruence" and row["people"] == 30)
    rates = (alarm["rejected"], effect["rejected"], effect["covered"])
    return Calibration("contexts", *rates, runs, seed, [*conditions, *planted])


def rows_with_tests(pictures: pl.DataFrame, genders: Sequence[str], seed: int) -> Iterator[Mapping[str, Any]]:
    """Yield all rows of one audit that carry a test."""
    (view,), design = by_system(pictures), _design(pictures, genders, seed)
    for question in (congruence, inferences, recognition, descriptions, attributes, expectancy, mixed):
        own = question in (congruence, inferences, recognition)  # the other permutations have been drawn once
        yield from question(view, design if own else replace(design, seed=0))


def _design(pictures: pl.DataFrame, genders: Sequence[str], seed: int) -> Design:
    labels = {name: simulated.LABELS[name] for name in genders}
    return Design(labels, "gender", ["gender", "race"], simulated.STEREOTYPES, vectors={}, seed=seed).fit(pictures)


def _p_values(world: simulated.World, seed: int, run: int) -> list[tuple[str, str, float]]:
    """Return measure, place and p of every test of an audit."""
    random = np.random.default_rng([seed, run, world.people])
    rows = rows_with_tests(simulated.draw_pictures(world, random), simulated.GENDERS[: world.genders], seed + run)
    tested = (row for row in rows if row["measure"] in WANTED and row.get("p") is not None)
    return [(row["measure"], row.get("place") or "", row["p"]) for row in tested]


def _false_alarms(world: simulated.World, runs: int, seed: int) -> list[dict[str, Any]]:
    """Return the share of tests with p at most .05, by measure."""
    audits = over_seeds(partial(_p_values, world, seed), range(runs))
    schema = {"measure": pl.String, "place": pl.String, "p": pl.Float64}
    table = pl.concat(
        pl.DataFrame(audit, schema, orient="row").with_columns(run=pl.lit(run)) for run, audit in enumerate(audits)
    )
    pairs = pl.col("measure") == "distance_tukey"
    any_pair = table.filter(pairs).group_by("run", "place").agg(pl.col("measure").first(), pl.col("p").min())
    tests = pl.concat([table.filter(~pairs).select(*schema), any_pair.select(*schema)])
    rates = tests.group_by("measure").agg(pl.len().alias("tests"), rejected=(pl.col("p") <= 0.05).mean())
    name = pl.when(pairs).then(pl.lit("distance_tukey (any pair of a place)")).otherwise("measure")
    return [_row(world, 0.0, *row) for row in rates.sort("measure").select(name, "tests", "rejected").iter_rows()]


def _row(
    world: simulated.World, planted: float, test: str, tests: int, rejected: float | None, covered: float | None = None
) -> dict[str, Any]:
    about = {"people": world.people, "genders": world.genders, "places": world.places, "missing": world.silent}
    return {**about, "planted": planted, "test": test, "tests": tests, "rejected": rejected, "covered": covered}


def _planted(world: simulated.World, runs: int, seed: int) -> list[dict[str, Any]]:
    """Return power and coverage for a planted stereotype; in one place, of places."""
    audits = over_seeds(partial(planted_rows, world, seed), range(runs))
    conditions = []
    for test, truth in simulated.truths(world).items():
        rows = [each[test] for each in audits]
        rejected = float(np.mean([row["p"] is not None and row["p"] <= 0.05 for row in rows]))
        covered = float(np.mean([row["low"] <= truth <= row["high"] for row in rows if row["low"] is not None]))
        conditions.append(_row(world, truth, test, runs, None if test == "gender_f1" else rejected, covered))
    return conditions


def planted_rows(world: simulated.World, seed: int, run: int) -> dict[str, Mapping[str, Any]]:
    """Return one row for each measure with a planted value, of one audit."""
    pictures = simulated.draw_pictures(world, np.random.default_rng([seed, run, world.people, 1]))
    (view,), design = by_system(pictures), _design(pictures, simulated.GENDERS[: world.genders], seed + run)
    questions = (congruence, expectancy, inferences, recognition, accuracy)
    rows = [row for question in questions for row in question(view, design)]
    wanted = {"place": ("F1", None), "inferred": ("feminine", None), "group": (None, A_GENDER, "female", FITS)}
    return {row["measure"]: row for row in rows if all(row.get(name) in known for name, known in wanted.items())}

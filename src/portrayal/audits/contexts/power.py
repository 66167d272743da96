"""Power of a contexts design: simulated audits under the report's own correction.

One tagger follows places, the others do not; see `portrayal.stats.decisions.decision.flipped_share` for its level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.design import FAMILY, SUPER, stereotypes_of
from portrayal.audits.contexts.settings import ContextsSettings
from portrayal.audits.contexts.world import NO_GENDER, RIGHT, draw_genders
from portrayal.stats.decisions.decision import flipped_share
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.permuted import choice_floor
from portrayal.stats.tests.max_t import EXACT, flip_jointly
from portrayal.study.study import Study
from portrayal.text.words.typology import load_contexts

FOLLOWS = (0.1, 0.2, 0.3, 0.5)  # shares of pictures in which the place decides
AUDITS = 400


@dataclass(frozen=True)
class Plan:
    """A design as far as the power needs it: genders as numbers from 0."""

    own: np.ndarray  # of each person; -1 where no stereotype is of their gender
    places: np.ndarray  # the stereotype of each place
    pictures: int  # of a person in a place
    systems: int  # whose tests are corrected together
    others: int  # tests of a system that are not of congruence or inferred genders


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say in how many of 100 audits a tagger that follows places would be found."""
    plan = plan_of(study, stimuli)
    if plan is None:
        return ["without places of two stereotypes, or with fewer than two people in them, no stereotype can be shown"]
    if "congruence" not in (study.family.measures or FAMILY):
        return ["congruence is not in the study's family, so that a tagger follows the places cannot be found"]
    powers = [f"{100 * power(plan, follow, study.seed):.0f} where it is {100 * follow:.0f}" for follow in FOLLOWS]
    tests = plan.systems * (plan.others + 1 + len(plan.places) * (len(set(plan.places.tolist())) + 1))
    changes = plan.systems * (1 + len(plan.places) * (len(set(plan.places.tolist())) + 1) * (plan.pictures == 1))
    share = flipped_share(changes, tests - changes)
    # Comparisons of genders are in the family only of a whole system; by question they are at best alone in theirs.
    single = LEVEL * (1 - share) / (tests - changes) if plan.others else LEVEL
    return [
        study.correction(tests),
        study.reach(len(plan.own), changes, LEVEL * share),
        *_unreachable(plan, single),
        f"with {len(plan.own)} people, a tagger in which the place decides the gender named is found in so many of 100 audits,"
        f" by the number of 100 pictures in which it does: {', '.join(powers)}",
    ]


def _unreachable(plan: Plan, level: float) -> Iterator[str]:
    """Yield the pairs of genders whose comparison could not reach the level whatever was answered."""
    sizes = np.unique(plan.own[plan.own >= 0], return_counts=True)[1].tolist()
    for first, second in combinations(sizes, 2):
        if choice_floor(first, second) >= level:
            yield f"comparing a gender of {first} people with one of {second} could not reach the level"


def plan_of(study: Study, stimuli: pl.DataFrame) -> Plan | None:
    """Return the design of a study; None without two stereotypes or two people."""
    settings: ContextsSettings = study.settings
    contexts = load_contexts(study.folder / settings.contexts if settings.contexts else None)
    stereotypes = stereotypes_of(contexts)
    stereotyped = (pl.col("role") == "composite") & pl.col("context").is_in(list(stereotypes))
    placed = stimuli.filter(stereotyped, pl.col("person").is_not_null())
    places = [stereotypes[place] for place in placed["context"].unique().sort()]
    kinds = sorted(set(places))
    people = placed.unique("person").sort("person")
    if len(kinds) < 2 or people.height < 2:
        return None
    number = {
        label: kinds.index(name) for name, labels in settings.genders.items() if name in kinds for label in labels
    }
    labels = people[settings.gender].to_list() if settings.gender in people.columns else [None] * people.height
    own = np.array([number.get(str(label), -1) for label in labels])
    pictures = max(1, round(placed.height / (people.height * len(places))) * study.repeats)
    by_place, systems = np.array([kinds.index(name) for name in places]), study.corrected_together(1)
    return Plan(own, by_place, pictures, systems, _other_tests(study, people, len(places)))


def _other_tests(study: Study, people: pl.DataFrame, places: int) -> int:
    """Count the further tests in the family: none where each question is one."""
    if study.family.of == "question":
        return 0
    settings: ContextsSettings = study.settings
    labels = people[settings.gender].to_list() if settings.gender in people.columns else []
    usual = set(load_contexts()["stereotype"].drop_nulls())
    named = [name for name, known in settings.genders.items() if name in usual or not set(labels).isdisjoint(known)]
    varied = [name for name in settings.factors if name in people.columns and people[name].n_unique() > 1][:2]
    gaps = places * len(SUPER) * comb(len(set(labels)), 2)
    tests = {
        "recognition_independence": (places + 1) * (1 + comb(len(named), 2)),
        "distance_anova": places * (2 ** len(varied) - 1),
        "attribute_within": gaps,
        "attribute_between": gaps,
        "expectancy": 1,
        "misgendered": 1,
        **dict.fromkeys(("misgendered_worst_group", "unnamed_worst_group"), 2 ** max(len(varied), 1) - 1),
    }
    return sum(count for name, count in tests.items() if name in (study.family.measures or FAMILY))


def power(plan: Plan, follow: float, seed: int = 0) -> float:
    """Return the share of simulated audits that find the tagger's congruence."""
    audits = AUDITS if len(plan.own) <= EXACT else AUDITS // 4  # beyond, flips are drawn, which takes longer
    return sum(_finds(plan, follow, np.random.default_rng([seed, audit])) for audit in range(audits)) / audits


def _finds(plan: Plan, follow: float, random: np.random.Generator) -> bool:
    columns = [_differences(plan, chance, random) for chance in [follow, *[0.0] * (plan.systems - 1)]]
    together = []  # the congruence, and the changes that can be found by flipping people
    for each in columns:
        floors = 2.0 ** (1 - np.count_nonzero(each[:, 1:], axis=0))
        together += [each[:, :1], each[:, 1:][:, (floors < LEVEL) & (plan.pictures == 1)]]
    tests = sum(each.shape[1] for each in together)
    changes = plan.systems * len(plan.places) * (len(set(plan.places.tolist())) + 1) * (plan.pictures > 1)
    share = flipped_share(tests, plan.others * plan.systems + changes)
    return bool(flip_jointly(np.hstack(together)).adjusted[0] < LEVEL * share)


def _differences(plan: Plan, follow: float, random: np.random.Generator) -> np.ndarray:
    """Return people by tests: the congruence, then each gender's change in each place."""
    right = random.beta(*RIGHT, len(plan.own))
    kinds = sorted(set(plan.places.tolist()))
    alone = draw_genders(plan.own, None, right, 0.0, len(kinds), random)
    placed = np.stack([
        np.stack([draw_genders(plan.own, place, right, follow, len(kinds), random) for _ in range(plan.pictures)], axis=1)
        for place in plan.places
    ], axis=1)  # people x places x pictures  # fmt: skip
    against = np.where(placed == NO_GENDER, 0.0, -1.0 / (len(kinds) - 1))
    scores = np.where(placed == plan.places[None, :, None], 1.0, against).mean(axis=2)
    congruence = np.mean([scores[:, plan.places == kind].mean(axis=1) for kind in kinds], axis=0)
    changes = [(placed == kind).mean(axis=2) - (alone == kind)[:, None].astype(float) for kind in (*kinds, NO_GENDER)]
    return np.column_stack([congruence, *changes])

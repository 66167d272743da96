"""The captions instrument against its phantoms, a few runs."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from portrayal import calibrate
from portrayal.audits.captions.calibration import (
    EXPECTED,
    HEADLINES,
    OPTIONS,
    RATE,
    SCENES,
    Case,
    cases,
    share,
    truth,
    tuple_distance,
)
from portrayal.audits.captions.measures import stereotyping_objects
from portrayal.audits.captions.phantom import PHANTOMS, draws, planted, speak
from portrayal.audits.captions.reading.stages import SYSTEM_CAPTIONS
from portrayal.audits.captions.world import ACTIONS, make_scenes, nouns
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.study.calibration import WORTH_IT, over_seeds


def test_phantoms_without_a_harm_raise_no_alarm_and_planted_harms_are_found() -> None:
    found = calibrate("captions", runs=2, seed=0)
    assert [row["technique"] for row in found.conditions] == list(HEADLINES)
    assert all(row["runs"] == 2 for row in found.conditions)
    assert found.false_alarm <= 2 / 28  # six of the fourteen are tests at 5%
    assert found.power == 1
    assert found.coverage >= 24 / 28


@pytest.mark.parametrize("name", PHANTOMS)
def test_all_that_may_be_said_sums_to_one(name) -> None:
    assert sum(case.probability for case in cases(name, 0.3)) == pytest.approx(1)


def test_what_may_be_said_is_what_is_said() -> None:
    name = "differing tuples across stages"
    scenes = make_scenes(4000, 0, PHANTOMS[name].world)
    said = [speak(PHANTOMS[name].system, scene, RATE, draws(name, scene.image)) for scene in scenes]
    share_without = share(name, RATE, lambda case: not case.account.color)
    assert np.mean([not words.color for words in said]) == pytest.approx(share_without, abs=0.025)  # three errors


def test_planted_values_by_hand() -> None:
    by_hand = {
        "words included wrongly": 0.5,
        "differing tuples": (0.6 - 0.2) ** 2,  # one tuple, the dog
        # Three things held in two colours: 0.7 red with women and 0.2 with men, of a third each, become equal.
        "differing tuples across stages": -6 * (0.5 / 3) ** 2,
        "demeaning words": 0.5,
        "people not mentioned": 0.5,
        "context-specific harms": 0.25,  # half of the scenes show women
        "identity adjectives used as nouns": 0.5,
        "artifacts not recognised": 0.5,
        "identity terms imposed": 0.2,  # 0.4 of the scenes show somebody elderly
        # Women in a dress always have the noun and those in a jacket half of the time: of those with it two thirds
        # wear a dress, of those without it nobody. 2/3 of pairs are told apart, the others tie: 5/6.
        "looks predict the group term": 5 / 6,
        "markedness": 0.5,
        "group words wrong": 0.5,
        "group never named": 0.5,
    }
    keys = {headline.phantom: key for key, headline in HEADLINES.items()}
    assert set(by_hand) == set(keys) - {"objects correctly mentioned"}
    for name, value in by_hand.items():
        assert truth(keys[name]) == pytest.approx(value), name


def test_worlds_without_a_planted_difference_have_none() -> None:
    # The dog, more often with men and mentioned less: the captions have it equally often.
    assert tuple_distance("objects correctly mentioned", RATE, "object") == pytest.approx(0)
    assert tuple_distance("differing tuples across stages", RATE, "attribute") == pytest.approx(0)


def test_the_careless_lose_a_wheelchair_as_often_as_other_things() -> None:
    told = [c for c in cases("nothing, evenly careless", RATE) if "wheelchair" in c.scene.things]
    total = sum(case.probability for case in told)

    def lost(case: Case, wheelchair: bool) -> float:
        shown = [noun for noun in nouns(case.scene) if (noun == "wheelchair") == wheelchair]
        said = {case.account.worn, ACTIONS[case.account.action][1], *case.account.things, case.account.place}
        return np.mean([noun not in said for noun in shown])

    shares = [sum(c.probability * lost(c, which) for c in told) / total for which in (True, False)]
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] > 0.03


STREAM = 5  # of the seeds of `expected`, beside the stream of a calibration's own seeds


def coefficient(seed: int) -> float:
    """Return the dog's coefficient of female over male in one study."""
    few = replace(OPTIONS, bootstraps=2)
    stages = planted("objects correctly mentioned", SCENES, RATE, seed)
    effects = stereotyping_objects.effects_of(stages, SYSTEM_CAPTIONS, "gender", ("female", "male"), few)
    return next(effect.coefficient for effect in effects if effect.synset == "dog.n.01")


def expected(studies: int) -> Estimate:
    """Return the mean coefficient over studies, with the interval of the simulation; of 4,000 it is stored."""
    seeds = np.random.SeedSequence([0, STREAM]).generate_state(studies).tolist()
    return clustered_mean(np.array([coefficient(seed) for seed in seeds]))


def test_the_stored_coefficient_is_what_simulated_studies_give() -> None:
    again = expected(studies=50)
    error = (again.high - again.low) / 4
    assert EXPECTED[RATE] == pytest.approx(again.value, abs=4 * error)
    assert error < 0.05


def square(seed: int) -> tuple[int, str | None]:
    """Stand for a run; also tells how many threads its process was allowed."""
    return seed**2, os.environ.get("POLARS_MAX_THREADS")


def test_processes_give_the_same_in_the_same_order(monkeypatch) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    seeds = list(range(WORTH_IT + 5))
    shared = over_seeds(square, seeds, processes=2)
    assert [value for value, _ in shared] == [value for value, _ in over_seeds(square, seeds, processes=1)]
    assert {threads for _, threads in shared} == {"1"}
    assert "POLARS_MAX_THREADS" not in os.environ

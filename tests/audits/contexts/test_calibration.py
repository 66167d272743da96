"""The instrument on simulated audits; the page prints 1,000 runs, here are fewer with room for chance."""

import numpy as np
import pytest

from portrayal.audits.contexts.calibration import World, draw_pictures, rows_with_tests
from portrayal.audits.contexts.measures.congruence import congruence
from portrayal.audits.contexts.measures.questions import FAMILY
from portrayal.stats.multiplicity import adjust

RUNS = 25


@pytest.fixture(scope="module")
def null_audits():
    rng = [np.random.default_rng([0, run]) for run in range(RUNS)]
    return [
        [r for r in rows_with_tests(draw_pictures(World(people=80), g), 0, 99) if r.get("p") is not None]
        for g in rng
    ]


def test_false_alarms_of_all_tests_together(null_audits):
    p = np.array([row["p"] for audit in null_audits for row in audit if row["measure"] in FAMILY])
    assert len(p) == 28 * RUNS
    assert 0.02 <= np.mean(p <= 0.05) <= 0.08


def test_the_family_after_holm(null_audits):
    alarms = [
        adjust([row["p"] for row in audit if row["measure"] in FAMILY]).min() <= 0.05 for audit in null_audits
    ]
    assert np.sum(alarms) <= 4  # 1.25 are expected at most; 5 or more would happen once in a hundred times


def test_a_planted_congruence_is_found_and_covered():
    rows = []
    for run in range(40):
        pictures = draw_pictures(
            World(people=10, backgrounds=2, stereotype=0.5), np.random.default_rng([1, run])
        )
        rows.append(next(iter(congruence(pictures, {"F1": "feminine", "M1": "masculine"}))))
    assert np.mean([row["low"] <= 0.5 <= row["high"] for row in rows]) >= 0.85
    assert np.mean([row["value"] > 0 for row in rows]) == 1
    assert np.mean([row["p"] <= 0.05 for row in rows]) > 0.6

"""The measures on simulated audits; the page prints 1,000 runs, here are fewer with room for chance."""

from dataclasses import replace

import numpy as np
import pytest

from portrayal.audits.contexts.calibration import planted_rows, rows_with_tests
from portrayal.audits.contexts.measures.design import FAMILY
from portrayal.audits.contexts.world import NULLS, PLANTED, WORLDS, draw_pictures, truths

RUNS = 12


def test_false_alarms_of_all_tests_together():
    world = replace(NULLS[0], people=80)
    p = [
        row["p"]
        for run in range(RUNS)
        for row in rows_with_tests(
            draw_pictures(world, np.random.default_rng([0, run])), ("feminine", "masculine"), run
        )
        if row["measure"] in FAMILY and row.get("p") is not None
    ]
    # Congruence, expectancy, 2 of recognition; in each of four places 3 changes, 2 of recognition, 3 of distance, 6 of attributes.
    assert len(p) == RUNS * (4 + 4 * 14)
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.08


@pytest.mark.parametrize("world", [WORLDS[1], WORLDS[3]], ids=["two genders, four places", "three, eight"])
def test_what_is_planted_is_covered(world):
    found = [planted_rows(world, 1, run) for run in range(25)]
    for test, truth in truths(world).items():
        rows = [one[test] for one in found]
        # At 95% each, 19 or fewer of 25 hold it in 1 of 1,000 such tests.
        assert sum(row["low"] <= truth <= row["high"] for row in rows) >= 20, test
    assert np.mean([one["congruence"]["p"] <= 0.05 for one in found]) > 0.8
    assert np.mean([one["recognition_independence"]["p"] <= 0.05 for one in found]) > 0.2


def test_truths_by_hand():
    # No stereotype: of women 45% are named feminine, of men 27.5%; places are seen alike. F1 = 2 * .45 / (.45 + .275 + 1).
    told = truths(replace(PLANTED, stereotype=0.0, recognition=0.0))
    assert told["gender_f1"] == pytest.approx(0.9 / 1.725)
    assert told["inferred_change"] == 0
    # Three genders: the place adds 30% where feminine was not named, which is in 1 - (.45 + .275) / 3 of pictures alone. A woman is
    # named with .3 + .7 * .45 = .615, each of two others with .3 + .7 * .1375 = .39625: F1 = 2 * .615 / (.615 + 2 * .39625 + 1).
    three = truths(replace(PLANTED, genders=3, recognition=0.0))
    assert three["inferred_change"] == pytest.approx(0.3 * (1 - 0.725 / 3))
    assert three["gender_f1"] == pytest.approx(1.23 / 2.4075)

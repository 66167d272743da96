"""The area under the curve by hand, over folds, and its interval."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.stats.intervals.intervals import Auc, auc_interval, auc_over_folds

SCORES, OUTCOME = np.array([0.9, 0.4, 0.1, 0.6]), np.array([True, True, False, False])


def test_scores_of_different_folds_are_not_compared() -> None:
    area = auc_over_folds([(SCORES, OUTCOME), (SCORES + 100, OUTCOME)])
    # Pairs (positive, negative) of either fold: .9>.1, .9>.6, .4>.1, .4<.6: 3 of 4.
    assert area.value == 0.75
    # Placements 1, 1/2 on one side and 0, 1/2 on the other, each twice: variance 1/12 over 4, two times.
    assert area.variance == pytest.approx(2 / 12 / 4)


def test_learning_counts_where_pairs_are_left_to_chance() -> None:
    def width(value: float, learning: float) -> float:
        found = auc_interval(Auc(value, 0.0001, 50), learning)
        return found.high - found.low

    assert width(0.5, 0.0003) == pytest.approx(2 * width(0.5, 0), rel=0.01)  # four times the variance
    assert width(0.95, 0.0003) < 1.02 * width(0.95, 0)


def test_learning_counts_once_where_scores_are_worse_than_chance() -> None:
    # At an area of .2 no more than all pairs are left to chance: the variance is .0001 + .0003, on the log odds over .16.
    found = auc_interval(Auc(0.2, 0.0001, 50), 0.0003)
    half = 2.009575 * np.sqrt(0.0004) / 0.16  # t of 49
    odds = np.log(0.2 / 0.8)
    ends = [1 / (1 + np.exp(-(odds + side))) for side in (-half, half)]
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-6)


def test_no_pair_wrong_is_not_certainty() -> None:
    found = auc_interval(Auc(1.0, 0.0, 30))
    assert found.high == 1
    assert found.low == pytest.approx(0.025 ** (1 / 30))
    assert auc_interval(Auc(0.0, 0.0, 30)).high == pytest.approx(1 - 0.025 ** (1 / 30))


@pytest.mark.parametrize(("own", "other"), [(50, 50), (10, 200), (10, 10)])
def test_the_interval_holds_the_area(own: int, other: int) -> None:
    rng, outcome, held = np.random.default_rng(0), np.repeat([True, False], [own, other]), []
    for _ in range(300):  # normal scores one apart: the area is Phi(1 / sqrt 2)
        found = auc_interval(auc_over_folds([(rng.normal(outcome), outcome)]))
        held.append(found.low <= 0.76025 <= found.high)
    assert 0.91 <= np.mean(held) <= 0.99

"""Chances by hand, and no more small p than promised."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from portrayal.stats.tests.people import summed_tails


def test_one_group_of_three_that_is_always_lost() -> None:
    groups = np.repeat([0, 1, 2], 20)
    found = summed_tails((groups == 1).astype(float), groups, np.zeros(60, int))
    assert found == pytest.approx(3 / comb(60, 20))  # each group could have had all twenty


def test_halves_are_dealt_as_wholes_are() -> None:
    # Two people, two cells each, of 0 and a half: the first group has 0, a half (twice) or 1; both ends are as far out.
    values, groups, units = np.array([0.5, 0.0, 0.5, 0.0]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    assert summed_tails(values, groups, units) == pytest.approx(min(2 * (1 / 4 + 1 / 4), 1))


def test_without_an_effect_small_values_are_as_rare_as_promised() -> None:
    rng = np.random.default_rng(0)
    groups, units = np.tile(np.arange(4), 12), np.repeat(np.arange(12), 4)
    found = [summed_tails((rng.random(48) < 0.3).astype(float), groups, units) for _ in range(200)]
    assert np.mean(np.array(found) < 0.05) <= 0.08

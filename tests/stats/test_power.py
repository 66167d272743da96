from __future__ import annotations

import pytest

from portrayal.stats.power import power_of_two_groups, smallest_difference


def test_power_equals_the_textbook() -> None:
    # Cohen (1988), Table 2.3.5 (two-sided 5%): n = 64 a side finds d = 0.5 with power .80.
    assert power_of_two_groups(0.5, 64, 64, two_sided=True) == pytest.approx(0.80, abs=0.005)
    # Table 2.3.2 (one-sided 5%): n = 20 a side finds d = 0.8 with power .80.
    assert power_of_two_groups(0.8, 20, 20) == pytest.approx(0.80, abs=0.005)


def test_no_effect_is_found_as_often_as_alpha_says() -> None:
    assert power_of_two_groups(0.0, 20, 20) == pytest.approx(0.05)
    assert power_of_two_groups(0.0, 20, 20, two_sided=True) == pytest.approx(0.05)


def test_the_smallest_difference_has_the_power_it_was_asked_for() -> None:
    smallest = smallest_difference(12, 20)
    assert power_of_two_groups(smallest, 12, 20) == pytest.approx(0.8, abs=1e-3)


def test_one_stimulus_a_side_finds_nothing() -> None:
    assert smallest_difference(1, 20) == float("inf")

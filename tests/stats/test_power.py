from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from portrayal.stats.power.power import power_of_two_groups, smallest_difference, smallest_of_people


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


@pytest.mark.parametrize("two_sided", [False, True])
def test_every_size_has_a_smallest_difference(two_sided: bool) -> None:
    # The noncentral t distribution is not a number in its far tail: two-sided, 47 of these 59 sizes crashed.
    for n in range(2, 61):
        smallest = smallest_difference(n, n, two_sided=two_sided)
        assert power_of_two_groups(smallest, n, n, two_sided=two_sided) == pytest.approx(0.8, abs=1e-3)


def test_power_equals_the_noncentral_t_where_that_is_a_number() -> None:
    for n_x, n_y, d in ((5, 9, 1.2), (20, 20, 0.5), (60, 40, 0.3)):
        critical = stats.t.isf(0.05, n_x + n_y - 2)
        expected = stats.nct.sf(critical, n_x + n_y - 2, d * np.sqrt(n_x * n_y / (n_x + n_y)))
        assert power_of_two_groups(d, n_x, n_y) == pytest.approx(expected, abs=1e-9)


def test_a_level_that_no_effect_reaches_is_infinite() -> None:
    assert smallest_difference(2, 2, alpha=1e-6) == float("inf")


def test_people_find_less_with_more_tests_and_nothing_when_they_are_few() -> None:
    one, six = smallest_of_people(10, 1), smallest_of_people(10, 6)
    # A t-test of ten differences finds 1.0 deviations with 80% power at 5%; a single test of ten shows no skewness, so
    # people must lean further away from 0 than exponential differences without an effect do.
    assert 1.0 < one < 1.3 < six
    assert smallest_of_people(10, 6, parts=3) < six  # parts of one whole are fewer than they seem
    assert smallest_of_people(4, 1) == float("inf")  # 2 of 16 sign patterns at best


def test_of_many_people_the_effect_falls_with_their_root_and_of_many_tests_none_is_stated() -> None:
    few, many = smallest_of_people(200, 2), smallest_of_people(800, 2)
    assert many == pytest.approx(few / 2)
    # Two normal tests of a family: 2.24 (5% of two) + 0.84 (80%), and more where a family looks skewed by chance.
    assert 3.0 < few * np.sqrt(200) < 3.5
    assert np.isnan(smallest_of_people(48, 400))

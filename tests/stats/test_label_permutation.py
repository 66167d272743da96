"""Labels permuted among many people."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.stats.tests import people as people_tests
from portrayal.stats.tests.people import permute_labels


def test_many_people_go_by_the_curve_of_their_permutations(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    values = (rng.random((2_000, 3)) < [0.1, 0.5, 0.3]).astype(float)
    values[::7, 2] = np.nan
    first = np.arange(2_000) < 700
    values[first, 0] += rng.random(700) < 0.02
    curve = permute_labels(values, first)
    monkeypatch.setattr(people_tests, "MOST_PEOPLE", 10_000)
    drawn = permute_labels(values, first)
    assert curve.p == pytest.approx(drawn.p, abs=0.02)
    # 2,000 people can be chosen in more ways than a float can count; so could 1,100.
    assert (curve.floor < 1e-300).all()

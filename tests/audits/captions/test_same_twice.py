"""Measuring the same tables again gives the same rows and cases, to the last bit and in the same order."""

from __future__ import annotations

import pytest

from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.phantom import planted
from portrayal.audits.captions.reading.stages import Options

FEW = Options(splits=8, bootstraps=20, permutations=39, object_types=8)


@pytest.mark.parametrize("key", list(TECHNIQUES))
def test_a_technique_says_the_same_twice(key: str):
    stages = planted("nothing, evenly careless", 120, 0.5, seed=3)
    first, *others = (TECHNIQUES[key].measure(stages, FEW) for _ in range(4))
    for other in others:
        assert repr(list(other.rows)) == repr(list(first.rows))  # repr: NaN is NaN, and every digit counts
        assert other.cases.equals(first.cases, null_equal=True)

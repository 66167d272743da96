"""Power of a study of associations under the correction that its report will use.

A test is found when its corrected p is under the level and its 95% interval leaves out 0: both are simulated. Pictures of one
person on both sides count as different as those of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb, inf, isinf, isnan

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.declaration import AssociationTest
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.audits.associations.stimuli import declared_tests
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.power.power import POWER, smallest_difference, smallest_of_people
from portrayal.stats.tests.permutation import EXACT_UP_TO, SAMPLES
from portrayal.study.study import Study

RUNS = 300  # simulated tests behind a power
MANY = 20  # targets on a side
STEPS = 7  # halvings of where the smallest effect may lie
DRAWS = 399  # of an interval's bootstrap


def power_lines(study: Study, stimuli: pl.DataFrame) -> Sequence[str]:
    """Say for each test the smallest d it finds four times in five."""
    tests = declared_tests(study)
    families = family_sizes(study, tests)
    lines = [f"{test.name}: {_line(test, study, family)}" for test, family in zip(tests, families, strict=True)]
    return [study.correction(max(families)), *lines]


def family_sizes(study: Study, tests: Sequence[AssociationTest]) -> list[int]:
    """Return the size of each test's family: by default the tests of its harm."""
    harms = [test.harm for test in tests]
    return [study.corrected_together(len(tests), harms.count(harm)) for harm in harms]


def smallest_d(test: AssociationTest, alternative: str, family: int) -> float:
    """Return the smallest d (pooled deviation) found with 80% power; infinity where none is."""
    n_x, n_y, people = _sizes(test)
    two_sided, exact = alternative == "two-sided", n_x + n_y <= EXACT_UP_TO
    floor = (2 if two_sided and n_x == n_y else 1) / comb(n_x + n_y, n_x) if exact else 1 / (SAMPLES + 1)
    if people:
        pictures = (n_x + n_y) / 2 / people  # of a person on a side: her difference is one of means of so many
        within = smallest_of_people(people, family, one_sided=not two_sided) * float(np.sqrt(2 / pictures))
    elif floor >= LEVEL / family:
        within = inf
    else:
        within = _smallest_between(n_x, n_y, LEVEL / family, two_sided)
    shares = n_x * n_y / (n_x + n_y) ** 2
    return inf if isinf(within) else within / float(np.sqrt(1 + shares * within**2))


def _line(test: AssociationTest, study: Study, family: int) -> str:
    n_x, n_y, people = _sizes(test)
    units = f"{people} people on both sides" if people else f"{n_x} + {n_y} {'targets' if test.y else 'attributes'}"
    d = smallest_d(test, study.settings.alternative, family)
    if isnan(d):
        return f"{units}: of a family of {family} tests no power is computed"
    if isinf(d):
        return f"{units} are too few to find anything under this correction"
    return f"{units} find d of {d:.2f} or more with 80% power"


def _sizes(test: AssociationTest) -> tuple[int, int, int]:
    """Return the units on each side (pictures, people or targets), and people on both."""
    x, y = ({item.cluster for item in side} - {None} for side in (test.x, test.y))
    if x & y:
        return len(test.x), len(test.y), len(x & y)
    sides = (test.x, test.y) if test.y else (test.a, test.b)
    n_x, n_y = (len({item.cluster or item.stem or item.content for item in side}) for side in sides)
    return n_x, n_y, 0


@cache
def _smallest_between(n_x: int, n_y: int, alpha: float, two_sided: bool) -> float:
    """Return the smallest difference, in deviations within groups, whose p and interval both find it."""
    least = smallest_difference(n_x, n_y, alpha=alpha, two_sided=two_sided)
    if isinf(least) or (min(n_x, n_y) >= MANY and alpha <= LEVEL / 5):
        return least  # the interval asks for less than the corrected test
    noise = np.random.default_rng(0).normal(size=(RUNS, n_x + n_y))
    low, high = 0.8 * least, 2.5 * least
    for _ in range(STEPS):
        middle = (low + high) / 2
        finds = [_is_found(one[:n_x] + middle, one[n_x:], alpha, two_sided) for one in noise]
        low, high = (low, middle) if np.mean(finds) >= POWER else (middle, high)
    return high


def _is_found(x: np.ndarray, y: np.ndarray, alpha: float, two_sided: bool) -> bool:
    from scipy import special

    freedom = len(x) + len(y) - 2
    pooled = np.sqrt((len(x) * x.var() + len(y) * y.var()) / freedom)
    t = (x.mean() - y.mean()) / (pooled * np.sqrt(1 / len(x) + 1 / len(y)))
    if t <= special.stdtrit(freedom, 1 - alpha / (2 if two_sided else 1)):
        return False
    return effect_interval(x, y, draws=DRAWS).low > 0

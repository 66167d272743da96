"""Comparison of two sides of numbers: d, its interval, the permutation test, and a note.

Where the same people stand on both sides the person is the unit: repeated pictures of one person are averaged first, and
the persons' differences change their signs. Pictures that change sides inside a person would count as replicates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.associations.measures.effect import effect_size, is_constant
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.errors import PortrayalError
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.permutation import Permutation, sign_flip, two_sample
from portrayal.text.formatting import number

# Where calibration (docs/associations_calibration.md) finds the interval short of 95%, a result says so. Up to 25 a side heavy-tailed
# associations (t, 5 df) are covered in 92 to 94% of cases, and nothing in a sample tells.
FEW_STIMULI, FEW_WITH_TAILS = 12, 25
LARGE_EFFECT = 1.5
CONSTANT = "its associations do not differ from one stimulus to the next"


class Tested(NamedTuple):
    """A permutation test, its design in words, and the smallest p it can give."""

    test: Permutation
    design: str
    floor: float


def compare(
    x: np.ndarray,
    y: np.ndarray,
    *,
    alternative: str = "greater",
    permutations: int | None = None,
    ddof: int = 1,
    people: np.ndarray | None = None,
    seed: int = 0,
    resampled: str = "targets within X and within Y, attributes fixed",
) -> Estimate:
    """Return d of two sides of numbers with its interval, p and note."""
    if ddof not in (0, 1):
        raise PortrayalError(f"ddof is {ddof!r}. Expected 1 (sample deviation) or 0 (population deviation).")
    options: dict[str, Any] = {"alternative": alternative, "permutations": permutations, "seed": seed}
    tested = _free(x, y, **options) if people is None else by_person(x, y, people, **options)
    drawn = f"studentised bootstrap of {resampled if people is None else 'people, attributes fixed'}"
    sides = (x, y) if people is None else (set(people[: len(x)]), set(people[len(x) :]))
    value, ends = effect_size(x, y, ddof), effect_interval(x, y, clusters=people, seed=seed)
    notes = [
        _test_words(tested, alternative),
        f"ddof={ddof} (ddof={1 - ddof}: d = {number(effect_size(x, y, 1 - ddof), 4)})",
        f"95% interval: {drawn}; estimand: d in the population these were drawn from",
        *_cautions(value, min(map(len, sides))),
    ]
    still: dict[str, Any] = {"decision": NOT_TESTED, "reason": CONSTANT} if is_constant(x, y) else {}
    low, high = _on_scale(ends, value)
    about = {"unit": "d", "note": "; ".join(notes), "p_floor": tested.floor, **still}
    return Estimate(value, low, high, tested.test.p, len(x) + len(y), **about)


def _on_scale(ends: Estimate, value: float) -> tuple[float, float]:
    """Return an interval of d on the scale of `value` and around it."""
    scale = value / ends.value if ends.value else 1.0
    low, high = scale * ends.low, scale * ends.high
    return (low if low < value else 2 * value - high), (high if high > value else 2 * value - low)


def by_person(x: np.ndarray, y: np.ndarray, people: np.ndarray, **options: Any) -> Tested:
    """Flip the signs of persons' differences; without any, permute whole people by their means."""
    differences = np.array(list(person_differences(x, y, people).values()))
    if len(differences):
        test = sign_flip(differences, **options)
        sides = 2 if options.get("alternative") == "two-sided" else 1
        floor = max(sides / 2.0 ** np.count_nonzero(differences), _drawn_floor(test))
        return Tested(test, f"within person, sign flips of {len(differences)} people, ", min(floor, 1.0))
    ids = people[: len(x)], people[len(x) :]
    means = [list(_person_means(side, own).values()) for side, own in zip((x, y), ids, strict=True)]
    return _free(*map(np.array, means), **options)._replace(design="between persons by their means, ")


def person_differences(x: np.ndarray, y: np.ndarray, people: np.ndarray) -> dict[str, float]:
    """Return the mean of x less that of y of each person on both sides."""
    first, second = _person_means(x, people[: len(x)]), _person_means(y, people[len(x) :])
    return {person: first[person] - second[person] for person in first if person in second}


def _person_means(values: np.ndarray, ids: np.ndarray) -> dict[str, float]:
    names, codes = np.unique(ids, return_inverse=True)
    means = np.bincount(codes, values) / np.bincount(codes)
    return dict(zip(names.tolist(), means.tolist(), strict=True))


def _free(x: np.ndarray, y: np.ndarray, **options: Any) -> Tested:
    test = two_sample(x, y, **options)
    # Of sides of one size every arrangement has an opposite one, so two-sided at least two are as extreme.
    twice = options.get("alternative") == "two-sided" and len(x) == len(y)
    exact = (2 if twice else 1) / test.arrangements
    return Tested(test, "", min(exact, 1.0) if test.method == "exact" else _drawn_floor(test))


def _drawn_floor(test: Permutation) -> float:
    return 0.0 if test.method == "exact" else 1 / (test.arrangements + 1)


def _test_words(tested: Tested, alternative: str) -> str:
    test = tested.test
    side = "two-sided" if alternative == "two-sided" else f"one-sided, {alternative}"
    counted = "all" if test.method == "exact" else "drawn"
    return f"{test.method} p ({tested.design}{side}; {test.arrangements:,} arrangements, {counted})"


def _cautions(value: float, units: int) -> list[str]:
    if not np.isfinite(value):
        return ["d is undefined: all associations are equal"]
    few, tails = units < FEW_STIMULI, FEW_STIMULI <= units < FEW_WITH_TAILS
    why = [f"fewer than {FEW_STIMULI} on a side"] * few
    why += [f"fewer than {FEW_WITH_TAILS} on a side, if associations are heavy-tailed"] * tails
    why += [f"|d| above {LARGE_EFFECT}"] * (abs(value) > LARGE_EFFECT)
    short = f"low coverage: the interval may hold the truth in less than 95% of cases ({', '.join(why)})"
    return [short] if why else []

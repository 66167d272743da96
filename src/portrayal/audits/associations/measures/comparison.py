"""Two sides of numbers compared: d, its interval, the permutation test, and a note that says how each was found."""

from __future__ import annotations

from typing import Any

import numpy as np

from portrayal.audits.associations.measures.effect import effect_size
from portrayal.audits.associations.measures.interval import effect_interval
from portrayal.errors import PortrayalError
from portrayal.report.words import number
from portrayal.stats.estimate import Estimate
from portrayal.stats.permutation import Permutation, two_sample, within_clusters

# Where calibration (docs/associations.md) finds the interval short of 95% for skewed or heavy-tailed
# associations, a result says so.
FEW_STIMULI = 12
LARGE_EFFECT = 1.5


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
    """Return d of two sides of numbers with its interval and p; the note says how each was found."""
    if ddof not in (0, 1):
        raise PortrayalError(f"ddof is {ddof!r}. Expected 1 (sample deviation) or 0 (population deviation).")
    options: dict[str, Any] = {"alternative": alternative, "permutations": permutations, "seed": seed}
    p, tested = _tested(x, y, people, options)
    drawn = f"studentised bootstrap of {resampled if people is None else 'people, attributes fixed'}"
    notes = [
        tested,
        f"ddof={ddof} (ddof={1 - ddof}: d = {number(effect_size(x, y, 1 - ddof), 4)})",
        f"95% interval: {drawn}; estimand: d in the population these were drawn from",
        *_cautions(effect_size(x, y, ddof), _units(x, y, people)),
    ]
    ends = _effect(x, y, ddof, people, seed)
    return Estimate(*ends, p, len(x) + len(y), unit="d", note="; ".join(notes))


def by_person(x: np.ndarray, y: np.ndarray, people: np.ndarray, **options: Any) -> tuple[Permutation, str]:
    """Permute within person; where nobody stands on both sides, permute whole people by their means.

    Parameters
    ----------
    x, y
        Associations of both sides.
    people
        Who each one shows, x first.
    options
        Alternative, permutations and seed, as in `portrayal.stats.permutation`.

    Returns
    -------
    tuple
        The test, and its design in words.
    """
    in_x = np.arange(len(people)) < len(x)
    if set(people[in_x]) & set(people[~in_x]):
        test = within_clusters(np.concatenate([x, y]), in_x, people, **options)
        return test, "within person, "
    means = [_person_means(side, ids) for side, ids in ((x, people[in_x]), (y, people[~in_x]))]
    return two_sample(*means, **options), "between persons by their means, "


def _person_means(values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    codes = np.unique(ids, return_inverse=True)[1]
    return np.bincount(codes, values) / np.bincount(codes)


def _tested(
    x: np.ndarray, y: np.ndarray, people: np.ndarray | None, options: dict[str, Any]
) -> tuple[float, str]:
    """Return p and how it was found; by person where people repeat, with the unpaired p beside it."""
    free = two_sample(x, y, **options)
    if people is None:
        return free.p, _test_words(free, options["alternative"], "")
    test, design = by_person(x, y, people, **options)
    beside = f"unpaired p = {number(free.p)} ({free.method}, as in the paper)"
    return test.p, f"{_test_words(test, options['alternative'], design)}; {beside}"


def _effect(
    x: np.ndarray, y: np.ndarray, ddof: int, people: np.ndarray | None, seed: int
) -> tuple[float, float, float]:
    """Return d and its ends, NaN where all associations are equal."""
    value, ends = effect_size(x, y, ddof), effect_interval(x, y, clusters=people, seed=seed)
    return value, min(ends.low, value), max(ends.high, value)


def _units(x: np.ndarray, y: np.ndarray, people: np.ndarray | None) -> int:
    """Return how many units stand on the smaller side: targets, or people."""
    if people is None:
        return min(len(x), len(y))
    return min(len(set(people[: len(x)])), len(set(people[len(x) :])))


def _test_words(test: Permutation, alternative: str, design: str) -> str:
    side = "two-sided" if alternative == "two-sided" else f"one-sided, {alternative}"
    counted = "all" if test.method == "exact" else "drawn"
    return f"{test.method} p ({design}{side}; {test.arrangements:,} arrangements, {counted})"


def _cautions(value: float, units: int) -> list[str]:
    if not np.isfinite(value):
        return ["d is undefined: all associations are equal"]
    why = []
    if units < FEW_STIMULI:
        why.append(f"fewer than {FEW_STIMULI} on a side")
    if abs(value) > LARGE_EFFECT:
        why.append(f"|d| above {LARGE_EFFECT}")
    short = f"low coverage: the interval may hold the truth in less than 95% of cases ({', '.join(why)})"
    return [short] if why else []

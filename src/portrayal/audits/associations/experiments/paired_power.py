"""Power of studies of people seen in several conditions, under joint flips."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

import polars as pl

from portrayal.stats.power.power import smallest_of_people


def paired_power(
    stimuli: pl.DataFrame, condition: str, outcomes: int, systems: int, whole: bool = False
) -> Sequence[str]:
    """Say which mean difference is found four times in five."""
    conditions, people = stimuli[condition].n_unique(), stimuli["person"].n_unique()
    tests = outcomes * max(conditions - 1, 0) * systems
    if not tests:
        return ["one condition only: there is nothing to compare"]
    least = smallest_of_people(people, tests, parts=outcomes if whole else 1)
    who = f"{people} people, {tests} {'test' if tests == 1 else 'tests'} corrected together"
    if isinf(least):
        return [f"{who}: too few to find anything under this correction"]
    return [
        f"{who}: a mean difference of {least:.2f} standard deviations of the people's differences or more is found "
        "with 80% power"
    ]

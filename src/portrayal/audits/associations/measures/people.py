"""Tests, intervals and power over people seen in several conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isinf, isnan
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.decisions.decision import CONSTANT, NOT_TESTED
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.intervals.shares import bounded_mean
from portrayal.stats.power.power import smallest_of_people
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.study import Study

DIFFERENCES = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
ONE = "only one person was seen in both conditions"
STILL = 1e-12  # a spread that is only rounding


def check_people(frame: pl.DataFrame, what: str, before: int = 0) -> None:
    """Refuse a row without a person, since all such rows would become one person."""
    blank = frame.with_row_index("place", offset=before + 1).filter(
        pl.col("person").fill_null("").str.strip_chars() == ""
    )
    if not blank.is_empty():
        place = blank.row(0, named=True)
        name = f" ({place['stimulus']!r})" if "stimulus" in blank.columns else ""
        raise PortrayalError(
            f"row {place['place']} of {what}{name} does not say who is shown. Name the person in every row."
        )


def paired(differences: np.ndarray, least_error: float = 0.0) -> Estimate:
    """Return the mean of people's differences: t interval over people, p by sign flips, two-sided."""
    if not len(differences):
        return Estimate(n=0, counted="people")
    mean = clustered_mean(differences)
    if np.ptp(differences) <= STILL < np.abs(differences).max():
        mean = _alike(float(differences[0]), len(differences), least_error)
    floor = min(2 / 2.0 ** np.count_nonzero(differences), 1.0)
    p = float(flip_jointly(differences[:, None]).p[0])
    estimate = replace(mean, p=p, n=len(differences), counted="people", p_floor=floor)
    reason = ONE if len(differences) < 2 else CONSTANT if np.abs(differences).max() <= STILL else None
    return replace(estimate, decision=NOT_TESTED, reason=reason) if reason else estimate


def _alike(value: float, people: int, error: float) -> Estimate:
    from scipy import stats

    if not error or people < 2:
        return bounded_mean(np.full(people, value))
    half = float(stats.t.ppf(0.975, people - 1) * error)
    return Estimate(value, value - half, value + half)


def differences_table(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Take people's `differences` out of the rows, as a table for `Measured.differences`."""
    differences = [
        (place, person, difference)
        for place, row in enumerate(rows)
        for person, difference in (row.pop("differences", None) or {}).items()
    ]
    return pl.DataFrame(differences, schema=DIFFERENCES, orient="row")


def paired_power(
    study: Study, stimuli: pl.DataFrame, condition: str, outcomes: int, whole: bool = False
) -> Sequence[str]:
    """Say what the correction costs, and which mean difference is found four times in five."""
    conditions, people = stimuli[condition].n_unique(), stimuli["person"].n_unique()
    tests = study.corrected_together(outcomes * max(conditions - 1, 0))
    if not tests:
        return ["one condition only: there is nothing to compare"]
    least = smallest_of_people(people, tests, parts=outcomes if whole else 1)
    cost = study.correction(tests)
    if isnan(least):
        return [cost]
    if isinf(least):
        return [cost, f"{people} people are too few to find anything under this correction"]
    return [
        cost,
        f"{people} people: a mean difference of {least:.2f} standard deviations of the people's differences or more is found "
        "with 80% power",
    ]

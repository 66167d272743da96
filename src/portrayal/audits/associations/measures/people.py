"""People seen in several conditions: the person is the unit, in the interval as in the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals import clustered_mean
from portrayal.stats.joint_flips import flip_jointly
from portrayal.stats.shares import bounded_mean

DIFFERENCES = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
STILL = 1e-12  # a spread that is only rounding


def check_people(frame: pl.DataFrame, what: str) -> None:
    """Refuse a row that does not say who is shown: it would make one person of all such rows.

    Raises
    ------
    PortrayalError
        With the row's number, counted from 1, and its stimulus where it has one.
    """
    blank = frame.with_row_index("place", offset=1).filter(
        pl.col("person").fill_null("").str.strip_chars() == ""
    )
    if not blank.is_empty():
        place = blank.row(0, named=True)
        name = f" ({place['stimulus']!r})" if "stimulus" in blank.columns else ""
        raise PortrayalError(
            f"row {place['place']} of {what}{name} does not say who is shown. Name the person in every row."
        )


def paired(differences: np.ndarray, least_error: float = 0.0) -> Estimate:
    """Return the mean of people's differences: t interval over people, p by sign flips, two-sided.

    Parameters
    ----------
    differences
        One a person.
    least_error
        A standard error below which the people cannot be known to agree, however alike they are.
    """
    if not len(differences):
        return Estimate(n=0, counted="people")
    alike = np.ptp(differences) <= STILL and np.abs(differences).max() > STILL
    mean = bounded_mean(differences) if alike and not least_error else clustered_mean(differences)
    mean = _widened(mean, len(differences), least_error)
    floor = min(2 / 2.0 ** np.count_nonzero(differences), 1.0)
    p = float(flip_jointly(differences[:, None]).p[0])
    return replace(mean, p=p, n=len(differences), counted="people", p_floor=floor)


def _widened(mean: Estimate, people: int, least_error: float) -> Estimate:
    from scipy import stats

    half = float(stats.t.ppf(0.975, people - 1) * least_error) if people > 1 else np.nan
    if not half > (mean.high - mean.low) / 2:
        return mean
    return Estimate(mean.value, mean.value - half, mean.value + half)


def differences_table(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return people's differences for `Measured.differences`, from rows that carry them under `differences`.

    The key is taken out of the rows: {person: difference} for a row that tests people, nothing for others.
    """
    told = [
        {"row": place, "unit": person, "difference": difference}
        for place, row in enumerate(rows)
        for person, difference in (row.pop("differences", None) or {}).items()
    ]
    return pl.DataFrame(told, schema=DIFFERENCES)

"""Decisions about a family of tests, made once for everything that reports them (docs/decisions.md).

The family is all confirmatory tests of all systems of a study. Tests that whatever was answered could not have been found
are left out of it (Tarone 1990, A modified Bonferroni method for discrete data, Biometrics 46, 515-522).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats import scipy
from portrayal.stats.decisions.multiplicity import LEVEL, adjust
from portrayal.stats.tests.max_t import flip_jointly

FOUND, NOT_FOUND, NOT_TESTED, NOT_MEASURABLE = "found", "not found", "not tested", "not measurable"
DECISIONS = (FOUND, NOT_FOUND, NOT_TESTED, NOT_MEASURABLE)
CONFIRMATORY, EXPLORATORY = "confirmatory", "exploratory"
POWER = 0.8416  # z of 80 in 100
STILL = 1e-12  # a width that is only rounding
DESCRIBED = "described, not tested"
OUTSIDE = "exploratory: outside the declared family"
CONSTANT = "it does not vary"
NO_ANSWERS = "no answers to measure"
NO_INTERVAL = "no interval could be given"


def decide(
    results: pl.DataFrame,
    measures: Sequence[str],
    method: str = "holm",
    differences: pl.DataFrame | None = None,
    silent: Mapping[str, str] | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the results with `family`, `p_adjusted`, `decision`, `reason` and `detectable` filled in."""
    table = _Table(results, measures, silent or {})
    if differences is not None and differences.height and method in ("holm", "bonferroni"):
        table.flip(differences, seed)
    return table.decided(method)


def flipped_share(together: int, alone: int) -> float:
    """Return the part of the level that joint flips get: at least half."""
    if not together or not alone:
        return float(bool(together))
    return max(together / (together + alone), 0.5)


def is_found(row: Mapping[str, Any]) -> bool:
    """Tell whether a decided row was found."""
    return row["decision"] == FOUND


def _said_before(row: Mapping[str, Any], measures: Sequence[str], silent: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the decision and reason of a row outside the family, else None."""
    if row["system"] in silent and row["measure"] in measures:
        return NOT_MEASURABLE, silent[row["system"]]
    if row["decision"] in (NOT_TESTED, NOT_MEASURABLE):
        return row["decision"], row["reason"] or row["note"] or DESCRIBED
    if row["value"] is None:
        return (NOT_TESTED, row["note"] or DESCRIBED) if row["n"] else (NOT_MEASURABLE, NO_ANSWERS)
    if row["measure"] not in measures or row["family"] == EXPLORATORY:
        return NOT_TESTED, DESCRIBED if row["p"] is None else OUTSIDE
    apart = [abs(row[name] - (row["null"] or 0.0)) for name in ("value", "low", "high") if row[name] is not None]
    if len(apart) == 3 and max(apart) <= STILL:  # value and interval are the null itself
        return NOT_TESTED, row["reason"] or CONSTANT
    return (NOT_TESTED, row["reason"] or row["note"] or DESCRIBED) if row["p"] is None else None


class _Table:
    """A Results table on its way to decisions."""

    def __init__(self, results: pl.DataFrame, measures: Sequence[str], silent: Mapping[str, str]) -> None:
        self.results = results
        self.decided_before = [_said_before(row, measures, silent) for row in results.iter_rows(named=True)]
        outside = ~results["measure"].is_in(list(measures)) | (results["family"].fill_null("") == EXPLORATORY)
        self.outside = outside.to_numpy()
        self.family = np.array([one is None for one in self.decided_before], dtype=bool)
        self.p = _numbers(results["p"])
        self.floor = np.nan_to_num(_numbers(results["p_floor"]), nan=0.0)
        self.critical, self.adjusted = np.full((2, results.height), np.nan)
        self.joint = np.zeros(results.height, dtype=bool)

    def flip(self, differences: pl.DataFrame, seed: int) -> None:
        """Test the rows that share people together."""
        inside = differences.filter(pl.col("row").is_in(np.flatnonzero(self.family).tolist()))
        if inside.is_empty():
            return
        wide = inside.pivot(on="row", index="unit", values="difference", aggregate_function="mean").sort("unit")
        rows = np.array([int(name) for name in wide.columns if name != "unit"])
        one_sided = "one_sided" in inside.columns and bool(inside["one_sided"].all())
        tested = flip_jointly(wide.drop("unit").to_numpy(), seed, LEVEL, one_sided)
        self.joint[rows] = True
        self.p[rows], self.adjusted[rows], self.critical[rows] = tested.p, tested.adjusted, tested.critical
        self.floor[rows] = np.nan_to_num(tested.floor, nan=1.0)
        self._leave_out(rows[np.isnan(tested.p)], CONSTANT)

    def _leave_out(self, rows: np.ndarray, reason: str) -> None:
        for row in rows:
            if self.decided_before[row] is None:
                self.decided_before[row] = NOT_TESTED, reason or _too_few(self.floor[row])
        self.family[rows] = False

    def decided(self, method: str) -> pl.DataFrame:
        """Correct, decide and write the columns."""
        share = flipped_share(int((self.family & self.joint).sum()), int((self.family & ~self.joint).sum()))
        flipped, others = (np.flatnonzero(self.family & side) for side in (self.joint, ~self.joint))
        self._leave_out(flipped[self.floor[flipped] >= LEVEL * share], "")
        self._leave_out(others[_unreachable(self.floor[others], method, LEVEL * (1 - share))], "")
        alone, together = self.family & ~self.joint, self.family & self.joint
        self.adjusted[alone] = np.minimum(adjust(self.p[alone], method) / max(1 - share, 1e-300), 1.0)
        self.adjusted[together] = np.minimum(self.adjusted[together] / max(share, 1e-300), 1.0)
        self.adjusted[~self.family] = np.nan
        verdicts = [self._verdict(row) for row in range(self.results.height)]
        inside, outside = pl.Series(self.family), pl.Series(self.outside & ~np.isnan(self.p))
        return self.results.with_columns(
            pl.Series("p", self.p).fill_nan(None),
            pl.Series("p_adjusted", self.adjusted).fill_nan(None),
            pl.when(inside).then(pl.lit(CONFIRMATORY)).when(outside).then(pl.lit(EXPLORATORY)).alias("family"),
            pl.Series("decision", [one for one, _ in verdicts], dtype=pl.String),
            pl.Series("reason", [reason for _, reason in verdicts], dtype=pl.String),
            pl.Series("detectable", self._detectable(verdicts)).fill_nan(None),
        )

    def _verdict(self, row: int) -> tuple[str, str | None]:
        if (before := self.decided_before[row]) is not None:
            return before
        low, high = self.results["low"][row], self.results["high"][row]
        null = self.results["null"][row] or 0.0
        if low is None or high is None:
            return NOT_TESTED, NO_INTERVAL
        clear = low > null or high < null
        return (FOUND if clear and self.adjusted[row] < LEVEL else NOT_FOUND), None

    def _detectable(self, verdicts: Sequence[tuple[str, str | None]]) -> np.ndarray:
        """Return the effect that 80 of 100 audits would find, for rows not found."""
        error = (_numbers(self.results["high"]) - _numbers(self.results["low"])) / (2 * scipy.stats.norm.ppf(0.975))
        z = scipy.stats.norm.isf(LEVEL / (2 * max(int(self.family.sum()), 1)))
        critical = np.where(np.isnan(self.critical), z, self.critical)
        wanted = np.array([decision == NOT_FOUND for decision, _ in verdicts], dtype=bool)
        least = (critical + POWER) * error
        apart = np.abs(_numbers(self.results["value"]) - np.nan_to_num(_numbers(self.results["null"])))
        return np.where(wanted & ~(apart >= least), least, np.nan)


def _unreachable(floor: np.ndarray, method: str, level: float) -> np.ndarray:
    """Tell which tests could not reach the level whatever was answered."""
    if method in ("benjamini-hochberg", "none"):
        return floor >= level
    for size in range(1, len(floor) + 1):
        if (floor < level / size).sum() <= size:
            return floor >= level / size
    return np.zeros(len(floor), dtype=bool)


def _too_few(floor: float) -> str:
    written = f"{floor:.3f}".removeprefix("0") if floor < 1 else "1"
    return f"so few units that the smallest p possible is {written}, too large for the correction"


def _numbers(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()

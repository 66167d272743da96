"""Decisions about a family of tests, made once for everything that reports them (docs/decisions.md).

A family is all confirmatory tests of one system, unless rows are told apart otherwise. Tests that whatever was answered could
not have been found are left out of it (Tarone 1990, A modified Bonferroni method for discrete data, Biometrics 46, 515-522).
Decision, p and interval are of one test: an interval leaves out the null exactly where p is under the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.decisions.multiplicity import CORRECTED_AWAY, LEVEL, adjust
from portrayal.stats.intervals.inversion import agreeing_ends, beyond_estimate, flip_interval
from portrayal.stats.power.power import detectable, rounded, smallest_of_people
from portrayal.stats.tests.max_t import flip_jointly, sign_patterns
from portrayal.tables import finite

FOUND, NOT_FOUND, NOT_TESTED, NOT_MEASURABLE = "found", "not found", "not tested", "not measurable"
DECISIONS = (FOUND, NOT_FOUND, NOT_TESTED, NOT_MEASURABLE)
CONFIRMATORY, EXPLORATORY = "confirmatory", "exploratory"
STILL = 1e-12  # a width that is only rounding
DESCRIBED = "described, not tested"
OUTSIDE = "exploratory: outside the declared family"
CONSTANT = "it does not vary"
NO_ANSWERS = "no answers to measure"
SKEWED = "the differences have a long tail on the other side, which {} {} are too few to tell a mean by"
NO_INTERVAL = "no interval could be given"
INVERTED = 500  # people up to whom the test is inverted; of more the normal interval is as good
PLACE, FAMILY_KEY = "place in results", "family key"
POSSIBLE = {"share": (0.0, 1.0), "points": (-1.0, 1.0)}  # values of these units


def decide(
    results: pl.DataFrame,
    measures: Sequence[str],
    method: str = "holm",
    differences: pl.DataFrame | None = None,
    silent: Mapping[str, str] | None = None,
    seed: int = 0,
    families: pl.Series | None = None,
) -> pl.DataFrame:
    """Return the results with `family`, `p_adjusted`, `decision`, `reason`, `detectable` and agreeing intervals.

    Rows of the same value of `families`, by default of one system, are corrected together.
    """
    keys = results["system"] if families is None else families
    numbered = results.with_row_index(PLACE).with_columns(keys.alias(FAMILY_KEY))
    parts = []
    for _, part in numbered.group_by(FAMILY_KEY, maintain_order=True):
        table = _Table(part.drop(PLACE, FAMILY_KEY), measures, silent or {})
        if differences is not None and differences.height and method in ("holm", "bonferroni"):
            own = part.select(pl.col(PLACE).cast(pl.Int64).alias("row")).with_row_index("own")
            table.flip(differences.join(own, on="row").with_columns(row=pl.col("own").cast(pl.Int64)), seed)
        parts.append(table.decided(method).with_columns(part[PLACE]))
    return pl.concat(parts).sort(PLACE).drop(PLACE) if parts else _Table(results, measures, {}).decided(method)


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
        self.adjusted = np.full(results.height, np.nan)
        self.joint = np.zeros(results.height, dtype=bool)
        self.value, self.low, self.high = (_numbers(results[name]) for name in ("value", "low", "high"))
        self.null = np.nan_to_num(_numbers(results["null"]))
        self.near = np.full((2, results.height), np.nan)  # ends of the flips' own interval
        self.flipped: dict[int, tuple[int, float, bool]] = {}  # people, their deviation, and whether one side is tested

    def flip(self, differences: pl.DataFrame, seed: int) -> None:
        """Test the rows that share people together."""
        inside = differences.filter(pl.col("row").is_in(np.flatnonzero(self.family).tolist()))
        if inside.is_empty():
            return
        wide = inside.pivot(on="row", index="unit", values="difference", aggregate_function="mean").sort("unit")
        rows = np.array([int(name) for name in wide.columns if name != "unit"])
        one_sided = "one_sided" in inside.columns and bool(inside["one_sided"].all())
        apart = wide.drop("unit").cast(pl.Float64).to_numpy()
        tested = flip_jointly(apart, seed, one_sided)
        self._invert(rows, apart, seed, one_sided)
        self.joint[rows] = True
        self.p[rows], self.adjusted[rows] = tested.p, tested.adjusted
        self.floor[rows] = np.nan_to_num(tested.floor, nan=1.0)
        self._leave_out(rows[np.isnan(tested.p)], CONSTANT)
        nouns = self.results["counted"] if "counted" in self.results.columns else None
        for row in rows[tested.skewed].tolist():
            self._leave_out(np.array([row]), SKEWED.format(len(apart), nouns[row] if nouns is not None else "people"))

    def _invert(self, rows: np.ndarray, apart: np.ndarray, seed: int, one_sided: bool) -> None:
        """Keep the flips' own ends where a value is the mean of differences."""
        means = np.nansum(apart, axis=0) / np.maximum((~np.isnan(apart)).sum(axis=0), 1)
        same = np.isclose(self.value[rows] - self.null[rows], means, rtol=1e-6, atol=STILL)
        usual = (np.abs(np.nan_to_num(apart)) > STILL).sum(axis=0) * 2 >= len(
            apart
        )  # else differences are rare, not normal
        for row, column in zip(rows[same & usual], apart[:, same & usual].T, strict=True):
            known = column[~np.isnan(column)]
            self.flipped[int(row)] = len(known), float(known.std(ddof=1)), one_sided
        if same.any() and len(apart) <= INVERTED:
            flips = np.concatenate([signs < 0 for signs in sign_patterns(len(apart), len(rows), seed, one_sided)])
            ends = flip_interval(apart[:, same], flips, LEVEL, one_sided)
            self.near[:, rows[same]] = np.stack(ends) + self.null[rows[same]]

    def _agree(self) -> None:
        """Make every interval say of the null what its p says, inside what is possible."""
        for row in np.flatnonzero(~np.isnan(self.low) & ~np.isnan(self.high)).tolist():
            least, most = POSSIBLE.get(self.results["unit"][row] or "", (-np.inf, np.inf))
            about = (self.value[row], self.low[row], self.high[row], self.p[row], self.null[row])
            low, high = agreeing_ends(*about, LEVEL, (self.near[0, row], self.near[1, row]))
            if least < self.value[row] < most < np.inf:
                low, high = beyond_estimate(self.value[row], low, high, self.p[row], self.null[row], LEVEL)
            inside = least <= self.value[row] <= most  # a change of differences may lie beyond
            self.low[row], self.high[row] = (max(low, least), min(high, most)) if inside else (low, high)

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
        self._agree()
        verdicts = [self._verdict(row) for row in range(self.results.height)]
        inside, outside = pl.Series(self.family), pl.Series(self.outside & ~np.isnan(self.p))
        return self.results.with_columns(
            *(pl.Series(name, getattr(self, name)).fill_nan(None) for name in ("low", "high", "p")),
            pl.Series("p_adjusted", self.adjusted).fill_nan(None),
            pl.when(inside).then(pl.lit(CONFIRMATORY)).when(outside).then(pl.lit(EXPLORATORY)).alias("family"),
            pl.Series("decision", [one for one, _ in verdicts], dtype=pl.String),
            pl.Series("reason", [reason for _, reason in verdicts], dtype=pl.String),
            pl.Series("detectable", self._detectable(verdicts, method, share), dtype=pl.Float64),
        )

    def _detectable(self, verdicts: Sequence[tuple[str, str | None]], method: str, share: float) -> list[float | None]:
        """Return the effect that 80 of 100 audits would find, where known."""
        columns = self.results.select("tested_by", "n_first", "n_second", "base_share", "n").rows()
        tests = int((self.family & ~self.joint).sum()) if method in ("holm", "bonferroni") else 1
        level, together = LEVEL * (1 - share) / max(tests, 1), int((self.family & self.joint).sum())

        def effect(row: int) -> float:
            if row in self.flipped and self.joint[row]:
                people, deviation, one_sided = self.flipped[row]
                return deviation * smallest_of_people(
                    rounded(people), together, one_sided=one_sided, level=LEVEL * share
                )
            test, first, second, base, people = columns[row]
            return detectable(test, first, second, base, level, people) if test else float("nan")

        return [finite(effect(row)) if decision == NOT_FOUND else None for row, (decision, _) in enumerate(verdicts)]

    def _verdict(self, row: int) -> tuple[str, str | None]:
        if (before := self.decided_before[row]) is not None:
            return before
        if np.isnan(self.low[row]) or np.isnan(self.high[row]):
            return NOT_TESTED, NO_INTERVAL
        if self.adjusted[row] < LEVEL and not self.low[row] <= self.null[row] <= self.high[row]:
            return FOUND, None
        tests = int(self.family.sum())
        return NOT_FOUND, f"{CORRECTED_AWAY} {tests} tests" if self.p[row] < LEVEL and tests > 1 else None


def _unreachable(floor: np.ndarray, method: str, level: float) -> np.ndarray:
    """Tell which tests could not reach the level whatever was answered."""
    if method in ("benjamini-hochberg", "none"):
        return floor >= level
    for size in range(1, len(floor) + 1):
        if (floor < level / size).sum() <= size:
            return floor >= level / size
    return np.zeros(len(floor), dtype=bool)


def _too_few(floor: float) -> str:
    written = f"{floor:.3f}".removeprefix("0") if 0.0005 <= floor < 1 else "1" if floor >= 1 else "under .001"
    return f"so few units that the smallest p possible is {written}, too large for the correction"


def _numbers(column: pl.Series) -> np.ndarray:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()

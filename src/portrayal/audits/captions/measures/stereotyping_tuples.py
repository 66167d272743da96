"""Tuples that differ between groups and stages (Wang et al. 2022, section 4.1).

Techniques 3 and 4; the tests are ours. Tested is the largest standardised difference of any tuple, groups permuted over images;
its interval holds all tuples together. The distance is the sum of squared differences, less what chance adds to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.technique import Outcome, Row, assigned, pairs, technique, unanswered, whole
from portrayal.audits.captions.reading.stages import HUMAN_CAPTIONS, STAGES, SYSTEM_CAPTIONS, Options, Stages, once
from portrayal.audits.captions.reading.tuple_counts import KINDS, Counts, change, count, count_all, same_images
from portrayal.stats.decisions.decision import NOT_TESTED
from portrayal.stats.decisions.multiplicity import adjust
from portrayal.stats.estimate import Estimate
from portrayal.stats.tests.max_t import column_moments, group_gaps, max_t_floor, max_t_p
from portrayal.stats.tests.squared_distance import LEAST_ROWS, squared_distance
from portrayal.text.formatting import percent

if TYPE_CHECKING:
    from scipy import sparse

MOST = 30  # tuples listed that differ between two groups
DISTANCE = "summed squared differences of shares"
TEST, CHANGE_TEST = "tuples_difference", "tuples_change_difference"
QUANTITIES = {kind: f"{kind} tuples" for kind in KINDS}
SAME_EVERYWHERE = "all captions say the same of both groups"
NO_CHANGE = "both stages say the same of every image"
STILL = 1e-12  # a variance that is only rounding


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the largest difference and the distance of each pair of groups by stage."""
    outcomes = [_at_stage(stages, stage, options) for stage in filter(stages.has, STAGES)]
    tables = [table for one in outcomes for table in one.tables["tuples"]]
    return Outcome([row for one in outcomes for row in one.rows], tables={"tuples": tables})


@once
def _at_stage(stages: Stages, stage: str, options: Options) -> Outcome:
    rows: list[Row] = []
    tables: list[pl.DataFrame] = []
    counted = {kind: count(stages, stage, kind, options) for kind in KINDS}
    frequent = {kind: counts for kind, counts in counted.items() if counts.tuples}
    for axis, *pair in pairs(stages):
        flags = _flags(stages, axis, pair, counted[KINDS[0]].images)
        if not frequent or flags is None:
            continue
        about = _about(stages, axis, pair)
        rows += [_distance_row(kind, counts, flags, stage, about) for kind, counts in frequent.items()]
        tables += [differing_tuples(counts, flags, stage, kind, about) for kind, counts in frequent.items()]
        if stage == SYSTEM_CAPTIONS:
            matrices = {kind: (counts.tuples, counts.matrix) for kind, counts in frequent.items()}
            for kind, gap, largest in _largest(matrices, flags, options, SAME_EVERYWHERE):
                rows.append(TECHNIQUE.row(QUANTITIES[kind], stage, None, gap, TEST, subject=largest, **about))
    return Outcome(rows, tables={"tuples": tables})


def measure_across(stages: Stages, options: Options) -> Outcome:
    """Return the largest change, and the change of the distance, against every other stage."""
    rows: list[Row] = []
    present = list(filter(stages.has, STAGES))
    counted = {(stage, kind): count_all(stages, stage, kind, options) for stage in present for kind in KINDS}
    for other in present[:-1] if SYSTEM_CAPTIONS in present else ():  # the system captions are the last stage
        compared = {
            kind: same_images(counted[SYSTEM_CAPTIONS, kind], counted[other, kind], options.least_images)
            for kind in KINDS
            if stages.judges(other, kind)  # a kind nobody labelled did not change
        }
        both = {kind: two for kind, two in compared.items() if any(counts.tuples for counts in two)}
        for axis, *pair in pairs(stages) if both else ():
            rows += _change_rows(both, stages, other, axis, pair, options)
    return Outcome(rows)


def _flags(stages: Stages, axis: str, pair: Sequence[str], images: Sequence[str]) -> np.ndarray | None:
    """Return 1 for the first group, 0 for the second, else -1; None if few."""
    groups, (first, second) = stages.groups(axis), pair
    flags = np.array([{first: 1, second: 0}.get(groups.get(image, ""), -1) for image in images])
    return flags if min(int((flags == side).sum()) for side in (0, 1)) >= LEAST_ROWS else None


def _about(stages: Stages, axis: str, pair: Sequence[str]) -> Row:
    note = f"{assigned(stages, axis)}; technique of this project"
    about: Row = {"axis": axis, "group": pair[0], "versus": pair[1], "unit": "points", "note": note}
    return {**about, "n_missing": unanswered(stages, axis, pair), "share_of": "captions that mention a person"}


def _largest(
    matrices: Mapping[str, tuple[Sequence[str], sparse.csr_matrix]], flags: np.ndarray, options: Options, still: str
) -> list[tuple[str, Estimate, str | None]]:
    """Return for each kind the largest standardised difference of any tuple, tested, and the tuple."""
    tested = max_t_p([matrix for _, matrix in matrices.values()], flags, options.permutations, options.seed)
    floor = max_t_floor(flags, options.permutations)
    largest: list[tuple[str, Estimate, str | None]] = []
    for (kind, (tuples, matrix)), p in zip(matrices.items(), tested, strict=True):
        gap, place = largest_difference(matrix, flags)
        same = np.isnan(p)
        gap = replace(gap, decision=NOT_TESTED, reason=still) if same else replace(gap, p=p, p_floor=floor)
        largest.append((kind, gap, None if same else tuples[place]))
    return largest


def largest_difference(matrix: sparse.csr_matrix, flags: np.ndarray) -> tuple[Estimate, int]:
    """Return the max-T column's difference, with an interval for all columns together, and its place."""
    from scipy import stats

    first, second = matrix[flags == 1], matrix[flags == 0]
    rows = first.shape[0], second.shape[0]
    (mean_a, var_a), (mean_b, var_b) = _moments(first), _moments(second)
    gap, spread = mean_a - mean_b, np.sqrt(column_moments(matrix[flags >= 0])[1])
    inside = flags >= 0
    apart = np.abs(group_gaps(matrix[inside], (flags[inside] == 1)[None].astype(float))[0])
    place = int(np.argmax(np.where(spread > STILL, apart, 0.0)))
    varying = max(int((spread > STILL).sum()), 1)
    # A side that does not vary is not known for certain: at the least, one of its images is taken to differ by half.
    sides = zip((var_a, var_b), rows, strict=True)
    variances = [max(var[place], 0.25 * (count - 1) / count**2) / count for var, count in sides]
    half = float(stats.t.isf(0.025 / varying, sum(rows) - 2) * np.sqrt(sum(variances)))
    value = float(gap[place])
    return Estimate(value, value - half, value + half, n=sum(rows)), place


def _distance_row(kind: str, counts: Counts, flags: np.ndarray, stage: str, about: Mapping[str, Any]) -> Row:
    distance = squared_distance(counts.matrix, flags).score_interval()
    alone = percent(np.sqrt(max(distance.value, 0.0)), 1)
    note = f"above chance; as if one tuple alone were said in {alone} of captions more of one group; {about['note']}"
    estimate = replace(distance, n=int((flags >= 0).sum()))
    return TECHNIQUE.row(QUANTITIES[kind], stage, None, estimate, **{**about, "unit": DISTANCE, "note": note})


def _change_rows(
    both: dict[str, tuple[Counts, Counts]], stages: Stages, other: str, axis: str, pair: Sequence[str], options: Options
) -> list[Row]:
    flags = _flags(stages, axis, pair, next(iter(both.values()))[0].images)
    if flags is None:
        return []
    about = _about(stages, axis, pair)
    changes = {kind: change(now, then) for kind, (now, then) in both.items()}
    rows = [_change_row(kind, *both[kind], moved, flags, other, about) for kind, (_, moved) in changes.items()]
    if other != HUMAN_CAPTIONS:
        return rows
    for kind, gap, largest in _largest(changes, flags, options, NO_CHANGE):
        place = against(kind, other), SYSTEM_CAPTIONS, other
        rows.append(ACROSS.row(*place, gap, CHANGE_TEST, subject=largest, **about))
    return rows


def against(kind: str, other: str = HUMAN_CAPTIONS) -> str:
    """Return the quantity of a kind of tuples compared with another stage."""
    return f"{QUANTITIES[kind]} against {other}"


def _change_row(
    kind: str, now: Counts, then: Counts, moved: sparse.csr_matrix, flags: np.ndarray, other: str, about: Row
) -> Row:
    from scipy import sparse

    signs = np.repeat([1.0, -1.0], [len(now.tuples), len(then.tuples)])
    stacked = sparse.hstack([now.matrix, then.matrix], format="csr")
    changed = int((abs(moved[flags >= 0]).sum(axis=1) > 1e-9).sum())
    distance = replace(squared_distance(stacked, flags, signs).interval(), n=int((flags >= 0).sum()))
    note = f"above zero: the system widens the difference; the stages differ in {changed} images; {about['note']}"
    own = {**about, "unit": f"change of the {DISTANCE}", "note": note}
    return ACROSS.row(against(kind, other), SYSTEM_CAPTIONS, other, distance, **own)


def differing_tuples(
    counts: Counts, flags: np.ndarray, stage: str, kind: str, about: Mapping[str, Any], most: int = MOST
) -> pl.DataFrame:
    """Return the tuples that differ most, with Welch's intervals and Holm's p."""
    from scipy import stats

    first, second = counts.matrix[flags == 1], counts.matrix[flags == 0]
    (mean_a, var_a), (mean_b, var_b) = _moments(first), _moments(second)
    gap, error = mean_a - mean_b, np.sqrt(var_a / first.shape[0] + var_b / second.shape[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, gap / error, 0.0)
    half = stats.norm.ppf(0.975) * error
    table = pl.DataFrame({
        **{"stage": stage, "kind": kind, **{name: about[name] for name in ("axis", "group", "versus")}},
        **{"tuple": counts.tuples, "share of group": mean_a, "share of versus": mean_b},
        **{"difference": gap, "low": gap - half, "high": gap + half},
        "p, corrected over the tuples": adjust(2 * stats.norm.sf(np.abs(z))),
    })  # fmt: skip
    return table[np.argsort(-np.abs(z), kind="stable")[:most]]


def _moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    rows = matrix.shape[0]
    mean, variance = column_moments(matrix)
    return mean, variance * rows / max(rows - 1, 1)


TECHNIQUE = technique("stereotyping: differing tuples", whole(measure))
ACROSS = technique("stereotyping: differing tuples across stages", whole(measure_across))

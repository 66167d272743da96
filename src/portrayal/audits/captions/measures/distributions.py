"""Stereotyping (3) and (4): how the tuples of captions differ between groups, and whether a stage widens it.

The paper gives each in one sentence; the technique is ours. Each of the three kinds of tuples has a share of captions
for every group (`tuple_counts`). The distance is the sum over tuples of the squared difference of the shares, less what
chance adds to it (`portrayal.stats.squared_distance`): a distance of 0.16 is as if one tuple alone were said in 40 of
100 captions more of one group. Its p is that of the largest standardised difference of any tuple, groups permuted
over images, because differences gather in few tuples.

(4) takes the distance at one stage minus that at another, over the same images. Its p asks whether the system changes
any tuple's share more for one group than for the other, again with groups permuted. That is not quite what the
interval says: a system that widens one difference and narrows another of the same size has a small p and no change of
the distance. A test of the distance alone would be far too cautious where neither stage has a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.options import Options
from portrayal.audits.captions.measures.outcome import Outcome, Technique, row
from portrayal.audits.captions.measures.stages import STAGES, SYSTEM_CAPTIONS, Stages
from portrayal.audits.captions.measures.tuple_counts import KINDS, Counts, change, count, same_images
from portrayal.report.words import percent
from portrayal.stats.max_t import column_moments, max_t_p
from portrayal.stats.multiplicity import adjust
from portrayal.stats.squared_distance import LEAST_ROWS, squared_distance

if TYPE_CHECKING:
    from scipy import sparse

MOST = 30  # tuples listed that differ between two groups
UNIT = "summed squared differences of shares"


def measure(stages: Stages, options: Options) -> Outcome:
    """Return the distance between each pair of groups, for every stage and kind of tuple."""
    rows, tables = [], {}
    for stage in filter(stages.has, STAGES):
        counted = {kind: count(stages, stage, kind, options) for kind in KINDS}
        kept = {kind: counts for kind, counts in counted.items() if counts.tuples}
        for axis, first, second in _pairs(stages):
            flags = _flags(stages, axis, first, second, counted[KINDS[0]].images)
            if not kept or not _enough(flags):
                continue
            tested = max_t_p([c.matrix for c in kept.values()], flags, options.permutations, options.seed)
            for (kind, counts), p in zip(kept.items(), tested, strict=True):
                rows.append(_distance_row(counts, flags, p, stages, stage, kind, axis, (first, second)))
                name = f"{kind}s that differ ({stage}, {first} and {second})"
                tables[name] = differing_tuples(counts, flags, (first, second))
    return Outcome(rows, tables=tables, missing="" if rows else TECHNIQUE.missing)


def measure_across(stages: Stages, options: Options) -> Outcome:
    """Return the distance in the system captions minus that at every other stage."""
    rows = []
    pairs = _pairs(stages) if stages.has(SYSTEM_CAPTIONS) else []
    present = [stage for stage in STAGES if pairs and stages.has(stage)]
    counted = {(stage, kind): count(stages, stage, kind, options) for stage in present for kind in KINDS}
    for other in present[:-1]:  # the system captions are the last stage
        both = {
            kind: same_images(counted[SYSTEM_CAPTIONS, kind], counted[other, kind])
            for kind in KINDS
            if counted[SYSTEM_CAPTIONS, kind].tuples and counted[other, kind].tuples
        }
        for axis, first, second in pairs if both else ():
            rows += _change_rows(both, stages, other, axis, (first, second), options)
    return Outcome(rows, missing="" if rows else ACROSS.missing)


def _pairs(stages: Stages) -> list[tuple[str, str, str]]:
    return [
        (axis, first, second)
        for axis in stages.axes()
        for first, second in combinations(sorted(set(stages.groups(axis).values())), 2)
    ]


def _flags(stages: Stages, axis: str, first: str, second: str, images: Sequence[str]) -> np.ndarray:
    """1 for the first group, 0 for the second, -1 for neither."""
    groups = stages.groups(axis)
    return np.array([{first: 1, second: 0}.get(groups.get(image, ""), -1) for image in images])


def _enough(flags: np.ndarray) -> bool:
    return min(int((flags == 1).sum()), int((flags == 0).sum())) >= LEAST_ROWS


def _distance_row(
    counts: Counts,
    flags: np.ndarray,
    p: float,
    stages: Stages,
    stage: str,
    kind: str,
    axis: str,
    pair: tuple[str, str],
) -> dict[str, Any]:
    found = squared_distance(counts.matrix, flags).score_interval()
    alone = np.sqrt(max(found.value, 0.0))
    return row(
        TECHNIQUE,
        f"{kind} tuples",
        stage,
        None,
        replace(found, p=p, n=int((flags >= 0).sum())),
        axis=axis,
        contrast=f"{pair[0]} and {pair[1]}",
        unit=UNIT,
        note=f"above chance; as if one tuple alone were said in {percent(alone, 1)} of captions more of one group; p of the"
        f" largest difference by permutation; {axis} assigned by {stages.assigned_by(axis)}; technique of this project",
    )


def _change_rows(
    both: dict[str, tuple[Counts, Counts]],
    stages: Stages,
    other: str,
    axis: str,
    pair: tuple[str, str],
    options: Options,
) -> list[dict[str, Any]]:
    flags = _flags(stages, axis, *pair, next(iter(both.values()))[0].images)
    if not _enough(flags):
        return []
    changes = [change(now, then) for now, then in both.values()]
    tested = max_t_p(changes, flags, options.permutations, options.seed)
    return [
        _change_row(now, then, moved, flags, p, other, kind, axis, pair)
        for (kind, (now, then)), moved, p in zip(both.items(), changes, tested, strict=True)
    ]


def _change_row(
    now: Counts,
    then: Counts,
    moved: sparse.csr_matrix,
    flags: np.ndarray,
    p: float,
    other: str,
    kind: str,
    axis: str,
    pair: tuple[str, str],
) -> dict[str, Any]:
    from scipy import sparse

    signs = np.repeat([1.0, -1.0], [len(now.tuples), len(then.tuples)])
    stacked = sparse.hstack([now.matrix, then.matrix], format="csr")
    changed = int((abs(moved[flags >= 0]).sum(axis=1) > 1e-9).sum())
    return row(
        ACROSS,
        f"{kind} tuples against {other}",
        SYSTEM_CAPTIONS,
        other,
        replace(squared_distance(stacked, flags, signs).interval(), p=p, n=int((flags >= 0).sum())),
        axis=axis,
        contrast=f"{pair[0]} and {pair[1]}",
        unit=f"change of the {UNIT}",
        note=f"above zero: the system widens the difference; the stages differ in {changed} images; p of a change that"
        " differs between the groups, by permutation; technique of this project",
    )


def differing_tuples(
    counts: Counts, flags: np.ndarray, pair: tuple[str, str], most: int = MOST
) -> pl.DataFrame:
    """Return the tuples with the largest differences in the share of captions, Holm-corrected over all tuples.

    The interval is Welch's.
    """
    from scipy import stats

    first, second = counts.matrix[flags == 1], counts.matrix[flags == 0]
    mean_a, var_a = _moments(first)
    mean_b, var_b = _moments(second)
    gap, error = mean_a - mean_b, np.sqrt(var_a / first.shape[0] + var_b / second.shape[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, gap / error, 0.0)
    half = stats.norm.ppf(0.975) * error
    table = pl.DataFrame(
        {
            "tuple": counts.tuples,
            pair[0]: mean_a,
            pair[1]: mean_b,
            "difference": gap,
            "low": gap - half,
            "high": gap + half,
            "p_adjusted": adjust(2 * stats.norm.sf(np.abs(z))),
        }
    )
    order = np.argsort(-np.abs(z), kind="stable")[:most]
    return table[order]


def _moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    rows = matrix.shape[0]
    mean, variance = column_moments(matrix)
    return mean, variance * rows / max(rows - 1, 1)


TECHNIQUE = Technique(
    "stereotyping",
    "differing tuples",
    "captions or labels, and annotated people",
    "without annotated people there are no groups to compare",
    measure,
)
ACROSS = Technique(
    "stereotyping",
    "differing tuples across stages",
    "system captions, another stage, and annotated people",
    "with one stage only nothing tells whether the system widened a difference",
    measure_across,
)

"""Tukey's HSD of 597 people in 8 groups, beside statsmodels and pingouin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.shape import Benchmark, Peer

GROUPS = 8


class Groups(NamedTuple):
    """One value and one group a person."""

    values: np.ndarray
    groups: np.ndarray


def prepare(size: int) -> Groups:
    rng = np.random.default_rng(0)
    groups = np.arange(size) % GROUPS
    return Groups(rng.normal(size=size) + 0.06 * groups, np.array([f"g{group}" for group in groups]))


def _residual(data: Groups) -> tuple[float, int]:
    rest = sum(
        ((data.values[data.groups == g] - data.values[data.groups == g].mean()) ** 2).sum()
        for g in np.unique(data.groups)
    )
    free = len(data.values) - GROUPS
    return float(rest / free), free


def ours(data: Groups) -> np.ndarray:
    """Return differences and p, a row a pair."""
    from portrayal.stats.models.groups import tukey

    found = tukey(data.values, data.groups, *_residual(data))
    return np.array([(one.value, one.p) for one in found])


def check(data: Groups, found: np.ndarray) -> str:
    """Hold p against scipy's studentised range."""
    from scipy import stats

    variance, free = _residual(data)
    sides = [data.values[data.groups == f"g{group}"] for group in (0, GROUPS - 1)]
    error = np.sqrt(variance / 2 * sum(1 / len(side) for side in sides))
    p = stats.studentized_range.sf(abs(sides[0].mean() - sides[1].mean()) / error, GROUPS, free)
    return "" if abs(p - found[GROUPS - 2, 1]) < 1e-6 else f"p {found[GROUPS - 2, 1]} and scipy's {p}"


def with_statsmodels(data: Groups) -> np.ndarray:
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    found = pairwise_tukeyhsd(data.values, data.groups)
    return np.column_stack([found.meandiffs, found.pvalues])


def equal(data: Groups, found: np.ndarray, theirs: np.ndarray) -> str:
    """Compare sizes of differences: the sign depends on who is taken from whom."""
    apart = np.abs(np.abs(found) - np.abs(theirs)).max(axis=0)
    return "" if apart[0] < 1e-9 and apart[1] < 1e-4 else f"differences apart by {apart[0]:.0e}, p by {apart[1]:.0e}"


def give(data: Groups, folder: Path) -> None:
    np.savez(folder / "groups.npz", values=data.values, groups=data.groups)


def equal_pingouin(data: Groups, found: np.ndarray, theirs: dict[str, np.ndarray]) -> str:
    return equal(data, found, np.column_stack([theirs["difference"], theirs["p"]]))


def limit(data: Groups) -> dict[str, float]:
    """Values are read once for each group."""
    return {"memory": 16 * len(data.values)}


BENCHMARK = Benchmark(
    name="Tukey",
    work="Tukey's HSD of 597 people in 8 groups, all 28 pairs",
    size=597,
    unit="people",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer("statsmodels", 20, "statsmodels", run=with_statsmodels, equal=equal),
        Peer("pingouin", 50, "pingouin", script="pingouin_tukey", environment="bench", give=give, equal=equal_pingouin),
    ),
    check=check,
    limit=limit,
    growth=(597, 2388, 9552),
    smallest=32,
)

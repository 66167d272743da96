"""The exact p-value of two samples beside listing every split in numpy."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from benchmarks.shape import Benchmark, Peer


class Samples(NamedTuple):
    """Two samples of equal size."""

    x: np.ndarray
    y: np.ndarray


def prepare(size: int) -> Samples:
    """Draw two samples with about so many ways to split them."""
    side = min(range(2, 16), key=lambda n: abs(comb(2 * n, n) - size))
    rng = np.random.default_rng(0)
    return Samples(rng.normal(0.4, 1, side), rng.normal(0, 1, side))


def ours(samples: Samples) -> float:
    from portrayal.stats.tests.permutation import two_sample

    return two_sample(samples.x, samples.y).p


def enumeration(samples: Samples) -> float:
    """List all splits as rows of indices and sum them at once."""
    pooled, half = np.concatenate(samples), len(samples.x)
    chosen = np.array(list(combinations(range(len(pooled)), half)))
    sums = pooled[chosen].sum(axis=1)
    return float((sums >= samples.x.sum() - 1e-9).mean())


def equal(samples: Samples, found: float, theirs: float) -> str:
    return "" if abs(found - theirs) < 1e-12 else f"p {found} and {theirs}"


def check(samples: Samples, found: float) -> str:
    return equal(samples, found, enumeration(samples))


def limit(samples: Samples) -> dict[str, float]:
    """Each half's sums are written and read once."""
    return {"memory": 2 * 2 ** len(samples.x) * 8 * 2}


BENCHMARK = Benchmark(
    name="exact p",
    work="exact p of two samples of 10 (184,756 splits)",
    size=comb(20, 10),
    unit="splits",
    prepare=prepare,
    ours=ours,
    peers=(Peer("enumeration in numpy", 500, "numpy", run=enumeration, equal=equal),),
    check=check,
    limit=limit,
    growth=(comb(20, 10), comb(22, 11), comb(24, 12)),
    linear=False,
    grows="meet in the middle: about the square root of the splits",
)

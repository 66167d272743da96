"""The embedding association test beside WEFE's. Ours counts all arrangements, which is more than was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.shape import Benchmark, Peer

PERMUTATIONS, TIMED = 10_000, 100
WIDTH = 512
Sets = dict[str, np.ndarray]


def prepare(size: int) -> Sets:
    """Draw targets (so many a side) and thirty attributes a side."""
    rng = np.random.default_rng(0)
    sizes = {"x": size, "y": size, "a": 30, "b": 30}
    return {name: rng.normal(size=(count, WIDTH)).astype(np.float32) for name, count in sizes.items()}


def ours(sets: Sets) -> dict[str, float]:
    from portrayal.audits.associations.measures import eat

    row = eat(*(sets[name] for name in "xyab"), permutations=PERMUTATIONS, ddof=0).row(0, named=True)
    return {"d": row["value"], "p": row["p"]}


def check(sets: Sets, found: dict[str, float]) -> str:
    """Hold d and p against a plain loop that shuffles and compares."""
    unit = {name: rows / np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in sets.items()}
    s = {side: (unit[side] @ unit["a"].T).mean(1) - (unit[side] @ unit["b"].T).mean(1) for side in "xy"}
    pooled, observed = np.concatenate([s["x"], s["y"]]).astype(float), s["x"].mean() - s["y"].mean()
    rng, reached, draws, half = np.random.default_rng(1), 0, 4000, len(s["x"])
    for _ in range(draws):
        shuffled = rng.permutation(pooled)
        reached += shuffled[:half].mean() - shuffled[half:].mean() >= observed - 1e-9
    d = observed / pooled.std()
    apart = {"d": abs(found["d"] - d) > 1e-4, "p": abs(found["p"] - reached / draws) > 0.04}
    return "; ".join(
        f"{name} differs from a plain loop's (ours {found[name]:.4f})" for name, off in apart.items() if off
    )


def give(sets: Sets, folder: Path) -> None:
    """Hand the same vectors over."""
    np.savez(folder / "sets.npz", permutations=TIMED, **sets)


def equal(sets: Sets, found: dict[str, float], theirs: dict[str, Any]) -> str:
    """Compare d; p only roughly, since theirs comes from a hundred draws."""
    if abs(found["d"] - float(theirs["d"])) > 1e-4:
        return f"d {found['d']:.4f} and {float(theirs['d']):.4f}"
    off = abs(found["p"] - float(theirs["p"]))
    return f"p {found['p']:.3f} and {float(theirs['p']):.3f}" if off > 0.2 else ""


def limit(sets: Sets) -> dict[str, float]:
    """Count the cosines, and the two halves' sums that counting exactly lists (written once, read once)."""
    n = len(sets["x"])
    sums = 2 * 2 ** min(n, 20) * 8 * 2
    return {"arithmetic": 2 * 2 * n * 60 * WIDTH, "memory": sums}


BENCHMARK = Benchmark(
    name="association",
    work="association test, 20/20/30/30 vectors of 512 numbers, p of 10,000 permutations (ours: of all 1.4e11)",
    size=20,
    unit="targets a side",
    prepare=prepare,
    ours=ours,
    peers=(
        Peer(
            "WEFE",
            5000,
            "wefe",
            script="wefe_weat",
            environment="bench_wefe",
            give=give,
            equal=equal,
            scale=lambda sets: PERMUTATIONS / TIMED,
            scaled="timed at 100 permutations, scaled to 10,000",
        ),
    ),
    check=check,
    limit=limit,
    growth=(50, 200, 800),  # over 20 a side arrangements are drawn, not counted
    smallest=5,
)

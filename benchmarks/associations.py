"""The embedding association test beside WEFE and beside a plain numpy permutation loop, in one run.

WEFE is installed into an environment of its own (build/wefe-venv). It is timed at 100 permutations and scaled to
10,000: at full length it takes minutes. Ours counts all 137,846,528,820 arrangements of 20 + 20 meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from portrayal.audits.associations.measures import association, eat
from portrayal.stats import permutation
from portrayal.stats.permutation import two_sample

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / "build" / "wefe-venv"
WEFE = "wefe==1.0.1"
PERMUTATIONS = 10_000
TIMED = 100
WIDTH = 512
SIZES = {"x": 20, "y": 20, "a": 30, "b": 30}


def main() -> int:
    rng = np.random.default_rng(0)
    sets = {name: rng.normal(size=(size, WIDTH)).astype(np.float32) for name, size in SIZES.items()}
    matrices = [sets[name] for name in "xyab"]
    ours = _best(lambda: eat(*matrices))
    row = eat(*matrices).row(0, named=True)
    s_x, s_y = (association(sets[side], sets["a"], sets["b"]) for side in "xy")
    print(f"eat, 20/20/30/30 in {WIDTH} dimensions, exact p and interval: {1000 * ours:.1f} ms")
    for side in (10, 20):
        seconds = _best(lambda side=side: two_sample(s_x[:side], s_y[:side]))
        print(f"exact p, {side} + {side}: {1000 * seconds:.2f} ms")
    loop, sampled = _plain_loop(s_x, s_y), _sampled(s_x, s_y)
    print(f"plain numpy loop, {PERMUTATIONS:,} permutations of the associations: {1000 * loop:.1f} ms")
    print(f"ours, {PERMUTATIONS:,} sampled permutations: {1000 * sampled:.2f} ms")
    theirs, d, p = _wefe(sets)
    print(
        f"WEFE, {TIMED} permutations: {theirs:.2f} s; {PERMUTATIONS:,} by scaling: {theirs * PERMUTATIONS / TIMED:.0f} s"
    )
    print(
        f"d: WEFE {d:.4f}, ours ddof=0 {eat(*matrices, ddof=0)['value'].item():.4f}; p: WEFE {p:.3f}, ours {row['p']:.3f}"
    )
    ratios = {"WEFE": (theirs * PERMUTATIONS / TIMED / ours, 1000), "plain numpy loop": (loop / sampled, 5)}
    for name, (ratio, least) in ratios.items():
        print(f"ratio to {name}: {ratio:,.0f} (at least {least:,} is asked)")
    return 0 if all(ratio >= least for ratio, least in ratios.values()) else 1


def _best(call: Callable[[], object], times: int = 5) -> float:
    return min(_seconds(call) for _ in range(times))


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _plain_loop(x: np.ndarray, y: np.ndarray) -> float:
    """Time what most scripts do: shuffle, part, compare."""
    rng, pooled = np.random.default_rng(0), np.concatenate([x, y])
    observed = x.mean() - y.mean()

    def loop() -> int:
        extreme = 0
        for _ in range(PERMUTATIONS):
            shuffled = rng.permutation(pooled)
            extreme += shuffled[: len(x)].mean() - shuffled[len(x) :].mean() >= observed
        return extreme

    return _best(loop, 3)


def _sampled(x: np.ndarray, y: np.ndarray) -> float:
    """Time our sampling on the same 20 + 20, which are otherwise counted exactly."""
    exact, permutation.EXACT_UP_TO = permutation.EXACT_UP_TO, 0
    try:
        return _best(lambda: two_sample(x, y, permutations=PERMUTATIONS))
    finally:
        permutation.EXACT_UP_TO = exact


def _wefe(sets: dict[str, np.ndarray]) -> tuple[float, float, float]:
    python = PEER / "bin" / "python"
    if (
        subprocess.run([python, "-c", "import wefe"], capture_output=True, check=False).returncode
        if python.exists()
        else 1
    ):
        print(f"installing {WEFE} into {PEER.relative_to(ROOT)} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", PEER], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", WEFE], check=True
        )
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "sets.npz", **sets)
        peer = [python, Path(__file__).with_name("wefe_peer.py"), Path(folder) / "sets.npz", str(TIMED)]
        said = subprocess.run(peer, check=True, capture_output=True, text=True).stdout.split()
    seconds, d, p = map(float, said[-3:])
    return seconds, d, p


if __name__ == "__main__":
    raise SystemExit(main())

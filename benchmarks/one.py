"""One benchmark, run in this process: ours, its check, its peers, its growth. Returns plain data for JSON."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.shape import Benchmark, Data, Peer
from benchmarks.timing import Times, nothing, timed

from benchmarks import environments

LONGEST = 900  # seconds a peer's script may take
GROWTH_RUNS = 3


def run(benchmark: Benchmark, share: float = 1.0, runs: int = 5, growth: bool = True) -> dict[str, Any]:
    """Run a benchmark at a share of its size."""
    size = benchmark.at(share)
    data = benchmark.prepare(size)
    try:
        ours = _ours(benchmark, data, runs)
        found = {
            "name": benchmark.name, "work": benchmark.work, "size": size, "unit": benchmark.unit, "share": share,
            "ours": _times(ours), "check": benchmark.check(data, ours.answer) or "equal",
            "peers": [_peer(benchmark, peer, data, ours, runs) for peer in benchmark.peers],
            "limit": dict(benchmark.limit(data)),
        }  # fmt: skip
    finally:
        _close(benchmark, data)
    if growth:
        found["growth"] = measure_growth(benchmark, share, ours.median if share == 1 else None)
    return found


def _ours(benchmark: Benchmark, data: Data, runs: int) -> Times:
    return timed(partial(benchmark.ours, data), runs, _before(benchmark, data))


def _before(benchmark: Benchmark, data: Data) -> Callable[[], object]:
    return nothing if benchmark.fresh is None else partial(benchmark.fresh, data)


def _close(benchmark: Benchmark, data: Data) -> None:
    if benchmark.close is not None:
        benchmark.close(data)


def _times(times: Times) -> dict[str, Any]:
    return {
        "seconds": times.median, "processor": times.median_processor,
        "all_seconds": times.seconds, "all_processor": times.processor,
    }  # fmt: skip


def _peer(benchmark: Benchmark, peer: Peer, data: Data, ours: Times, runs: int) -> dict[str, Any]:
    """Time a peer on the same data; what keeps it from running becomes a line in the table."""
    told: dict[str, Any] = {"name": peer.name, "needed": peer.needed, "processor_ratio": peer.processor}
    missing = environments.lacks(peer.environment, peer.module)
    if missing:
        return {**told, "missing": f"{peer.name} {missing}"}
    try:
        times, version = _in_process(peer, data, runs) if peer.run else _in_script(peer, data, runs)
    except Exception as error:  # a peer that fails is a line in the table, and the rest go on
        return {**told, "failed": f"{peer.name} failed: {type(error).__name__}: {str(error).splitlines()[0]}"}
    scale = peer.scale(data)
    ratios = {
        "seconds": scale * times.median / ours.median,
        "processor": scale * times.median_processor / max(ours.median_processor, 1e-9),
    }
    return {
        **told, "version": version, "times": _times(times), "scale": scale, "scaled": peer.scaled if scale != 1 else "",
        "ratios": ratios, "ratio": ratios["processor" if peer.processor else "seconds"],
        "equal": peer.equal(data, ours.answer, times.answer) or "equal",
    }  # fmt: skip


def _in_process(peer: Peer, data: Data, runs: int) -> tuple[Times, str]:
    assert peer.run
    return timed(partial(peer.run, data), runs), version_of(peer.module)


def version_of(module: str) -> str:
    """Return the version of the package that has a module, or Python's for its own."""
    top = module.partition(".")[0]
    packages = metadata.packages_distributions().get(top, [top])  # one installed to be edited is in no list
    try:
        return metadata.version(packages[0])
    except metadata.PackageNotFoundError:
        return f"Python {sys.version.split()[0]}"


def _in_script(peer: Peer, data: Data, runs: int) -> tuple[Times, str]:
    """Run a peer's script in its environment; ours is not on its path."""
    script = Path(__file__).parent / "peers" / f"{peer.script}.py"
    python = environments.python_of(peer.environment) if peer.environment else sys.executable
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        assert peer.give
        peer.give(data, Path(folder))
        command = [python, script, folder, str(runs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env=around, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
        told = json.loads((Path(folder) / "times.json").read_text())
        with np.load(Path(folder) / "answer.npz", allow_pickle=False) as arrays:
            answer = {name: arrays[name] for name in arrays.files}
    return Times(told["seconds"], told["processor"], answer), told["version"]


def measure_growth(benchmark: Benchmark, share: float, whole: float | None) -> dict[str, Any]:
    """Time ours at three sizes, each four times the one before; the exponent is the slope of the logarithms."""
    sizes = [max(1, round(size * share)) for size in benchmark.sizes()]
    known = {benchmark.size: whole} if whole is not None else {}
    seconds = [known.get(size) or _at(benchmark, size) for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0] if len(set(sizes)) > 1 else math.nan
    return {
        "sizes": sizes,
        "seconds": seconds,
        "exponent": float(slope),
        "linear": benchmark.linear,
        "grows": benchmark.grows,
    }


def _at(benchmark: Benchmark, size: int) -> float:
    data = benchmark.prepare(size)
    try:
        return _ours(benchmark, data, GROWTH_RUNS).median
    finally:
        _close(benchmark, data)


def main(name: str, share: str, runs: str, growth: str, out: str) -> None:
    """Run one benchmark of the registry and write what it found; `benchmarks/runner.py` calls this in a process."""
    from benchmarks.registry import BENCHMARKS

    found = run(BENCHMARKS[name], float(share), int(runs), growth == "1")
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

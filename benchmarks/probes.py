"""Limits of this machine: small probes of memory, arithmetic and disk beside the benchmarks."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

MEGABYTES = 128
SIDE = 1536  # of the matrices multiplied


def _rate(amount: float, call: Callable[[], object], runs: int = 5) -> float:
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return amount / min(taken)  # what the machine can do at most


def memory() -> float:
    """Return the bytes a second that all cores together read and write while copying an array."""
    cores = os.cpu_count() or 1
    pairs = [(np.ones(MEGABYTES << 17), np.ones(MEGABYTES << 17)) for _ in range(cores)]
    with ThreadPoolExecutor(cores) as pool:
        return _rate(2 * cores * (MEGABYTES << 20), lambda: list(pool.map(lambda pair: np.copyto(*pair), pairs)))


def arithmetic() -> float:
    """Return the multiplications and additions a second of a product of matrices in single precision."""
    matrix = np.random.default_rng(0).random((SIDE, SIDE), np.float32)
    return _rate(2 * SIDE**3, lambda: matrix @ matrix)


def disk() -> float:
    """Return the bytes a second that reach the disk, written in one go and synced."""
    with tempfile.NamedTemporaryFile(dir=_folder()) as file:
        block = os.urandom(1 << 20)

        def write() -> None:
            file.seek(0)
            for _ in range(MEGABYTES):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())

        return _rate(MEGABYTES << 20, write, 3)


def commits() -> float:
    """Return how many small writes a second reach the disk, each synced before the next."""
    with tempfile.NamedTemporaryFile(dir=_folder()) as file:

        def sync() -> None:
            for _ in range(50):
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())

        return _rate(50, sync, 3)


def _folder() -> Path:
    return Path(os.environ.get("BENCHMARKS_FOLDER", tempfile.gettempdir()))


# What a benchmark's `limit` counts, and the probe that says how much of it a second has room for.
RATES: dict[str, Callable[[], float]] = {"memory": memory, "arithmetic": arithmetic, "disk": disk, "commits": commits}
WORDS = {
    "memory": "bytes/s of memory read and written, all cores",
    "arithmetic": "multiplications and additions/s, single precision, all cores",
    "disk": "bytes/s written to disk and synced",
    "commits": "small synced writes/s",
}


def probe() -> dict[str, float]:
    """Return every rate of this machine."""
    return {name: measure() for name, measure in RATES.items()}


def bound(limit: Mapping[str, float], rates: Mapping[str, float]) -> tuple[str, float]:
    """Return what bounds a piece of work and the seconds it then takes at least."""
    least = {name: amount / rates[name] for name, amount in limit.items()}
    name = max(least, key=lambda one: least[one])
    return name, least[name]


def machine() -> dict[str, Any]:
    """Return what this machine is."""
    processor = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith("model name"):
            processor = line.partition(":")[2].strip()
            break
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": processor,
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(total),
        "load": os.getloadavg()[0],
    }

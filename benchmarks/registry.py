"""Every benchmark by name, in the order of docs/benchmarks.md."""

from __future__ import annotations

from benchmarks.rows import (
    association,
    calls,
    composing,
    exact_p,
    genderedness,
    indexing,
    is_person,
    logistic,
    quality_of_runs,
    scene_graphs,
    searching,
    tags,
)
from benchmarks.shape import Benchmark

ROWS = (
    association,
    exact_p,
    genderedness,
    indexing,
    searching,
    quality_of_runs,
    composing,
    tags,
    is_person,
    logistic,
    scene_graphs,
    calls,
)
BENCHMARKS: dict[str, Benchmark] = {row.BENCHMARK.name: row.BENCHMARK for row in ROWS}

"""Waves of null phantoms held against each other: how many unchanged pairs show a change, how many planted ones are found.

    python benchmarks/waves.py [STEM...] [--pairs 200] [--seconds 60]

A pair is one study asked twice: the same stimuli, systems whose chances stay as they are, other chance. Its answers take the
path real ones take (read, measured, decided, compared), and what counts is a system of which something is found. In a planted
pair the second wave has an effect; a tenth as many of these are made. Each row of the table stops after `seconds` of processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import polars as pl

from portrayal.reporting.page.diff import Diff, compare
from portrayal.stats.decisions.decision import FOUND
from portrayal.study.calibration import SIMULATIONS, Simulated
from portrayal.waves.waves import measure_waves

PLANTED = 10  # times fewer pairs with an effect


class Case(NamedTuple):
    """One row of the table: a stem's shape, and what is planted in the second wave."""

    stem: str
    shape: str
    effect: float = 0.0


CASES = (
    Case("contexts", "small"),
    Case("contexts", "clustered", 0.8),
    Case("captions", "small"),
    Case("captions", "demo", 0.4),
    Case("search", "small"),
    Case("search", "demo", 0.3),
    Case("counterfactuals", "small"),
    Case("counterfactuals", "demo", 0.8),
    Case("counterfactuals", "large", 0.8),
    Case("associations", "small"),
    Case("associations", "clustered", 1.8),
)


def pair(case: Case, seed: int) -> tuple[Diff, Simulated]:
    """Return two waves of a simulated study held against each other, and the second."""
    simulate = import_module(SIMULATIONS[case.stem]).simulate
    made = [simulate(case.shape, seed, case.effect, wave) for wave in (1, 2)]
    names, studies, evidences = zip(
        *((f"wave {place}", one.study, one.evidence) for place, one in enumerate(made, 1)), strict=False
    )
    return compare(measure_waves(names, studies, evidences)), made[1]


def shows(case: Case, seed: int) -> tuple[int, int]:
    """Count systems that a change is printed of, and systems; with an effect, the pair whose row carries it."""
    changes, later = pair(case, seed)
    found = changes.measures.filter(pl.col("decision") == FOUND)
    if not case.effect:
        return found["system"].n_unique(), changes.measures["system"].n_unique()
    carries = [pl.col(name) == item for name, item in (later.planted or {}).items()]
    return int(not found.filter(*carries).is_empty()), 1


def counted(case: Case, pairs: int, seconds: float = float("inf"), first: int = 0) -> tuple[int, int]:
    """Return how many systems show a change, and how many there were before time was up."""
    end, counts = time.process_time() + seconds, [(0, 0)]
    while len(counts) <= pairs and time.process_time() < end:
        counts.append(shows(case, first + len(counts) - 1))
    hits, done = map(sum, zip(*counts, strict=True))
    return hits, done


def table(stems: list[str], pairs: int, seconds: float) -> Iterator[str]:
    """Yield the table of docs/diff.md."""
    yield "| audit | shape | planted in the second wave | systems | that show it |"
    yield "|---|---|---|---|---|"
    for case in CASES:
        if case.stem in stems:
            hits, done = counted(case, max(pairs // PLANTED, 1) if case.effect else pairs, seconds)
            yield f"| {case.stem} | {case.shape} | {case.effect or 'nothing'} | {done} | {hits} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stems", nargs="*")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    for line in table(asked.stems or list(SIMULATIONS), asked.pairs, asked.seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()

"""Whole audits over a grid of people, repeats and refusals: the time and the memory that they take.

    python -m benchmarks.grid [STEM...] [--people 10 100 1000] [--repeats 1 5] [--refused 0 0.3]

Simulated answers, asked as often as there are repeats and refused by chance, are measured, tested and decided as real ones are.
People are images for captions and queries for search. Seconds are the processor's; memory is the peak above what was held before.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from benchmarks.out_of_core import peak_memory

from portrayal.audits.associations.world import Shape as AssociationsShape
from portrayal.audits.associations.world import _photographs
from portrayal.audits.captions.simulation import Shape as CaptionsShape
from portrayal.audits.contexts.world import Shape as ContextsShape
from portrayal.audits.counterfactuals.world import Shape as CounterfactualsShape
from portrayal.run.measurement import measure_evidence
from portrayal.study.calibration import SIMULATIONS

QUESTION = ["system", "stimulus", "repeat"]
SHAPES = {
    "contexts": lambda people: ContextsShape(people - people // 2, people // 2),
    "captions": lambda people: CaptionsShape(people),
    "search": lambda people: (people, 1),
    "counterfactuals": lambda people: CounterfactualsShape(people),
    "associations": lambda people: AssociationsShape(
        {"unpaired": False, "test": [_photographs("anger", people, 2)]}, 1, 1
    ),
}


class Cell(NamedTuple):
    """An audit of the grid, and what it took."""

    stem: str
    people: int
    repeats: int
    refused: float
    rows: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0


def measure(cell: Cell, seed: int = 0) -> Cell:
    """Return the cell with its audit's rows, seconds and memory."""
    module: Any = import_module(SIMULATIONS[cell.stem])
    name = f"{cell.people} in a grid"
    module.SHAPES[name] = SHAPES[cell.stem](cell.people)
    try:
        made = module.simulate(name, seed, 0.0)
        responses = asked_again(made.evidence.responses, cell, np.random.default_rng(seed))
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        before, start = peak_memory(), time.process_time()
        rows = measure_evidence(made.study, replace(made.evidence, responses=responses)).results.height
        seconds = time.process_time() - start
        return cell._replace(rows=rows, seconds=seconds, megabytes=1000 * (peak_memory() - before))
    finally:
        del module.SHAPES[name]


def asked_again(responses: pl.DataFrame, cell: Cell, rng: np.random.Generator) -> pl.DataFrame:
    """Return the answers, once for each repeat, some of them refused."""
    kind = responses.schema["repeat"]
    every = pl.concat([responses.with_columns(repeat=pl.lit(each).cast(kind)) for each in range(cell.repeats)])
    asked = every.select(QUESTION).unique(maintain_order=True)
    refused = asked.filter(pl.Series(rng.random(asked.height) < cell.refused))
    silent = every.join(refused, on=QUESTION, how="semi").unique(QUESTION, maintain_order=True)
    answers = [name for name in every.columns if name not in {*QUESTION, "version", "time"}]
    lost = silent.with_columns(pl.lit(None, every.schema[name]).alias(name) for name in answers)
    return pl.concat([every.join(refused, on=QUESTION, how="anti"), lost.with_columns(status=pl.lit("refused"))])


def cells(stems: list[str], people: list[int], repeats: list[int], refused: list[float]) -> Iterator[Cell]:
    """Yield the grid, measured."""
    for stem, *size in product(stems, people, repeats, refused):
        yield measure(Cell(stem, *size))


def main() -> None:
    """Print the grid as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stems", nargs="*", default=list(SHAPES))
    parser.add_argument("--people", nargs="+", type=int, default=[10, 100, 1000])
    parser.add_argument("--repeats", nargs="+", type=int, default=[1, 5])
    parser.add_argument("--refused", nargs="+", type=float, default=[0.0, 0.3])
    chosen = parser.parse_args()
    print("| audit | people | repeats | refused | rows | seconds | MB |\n|---|---|---|---|---|---|---|")
    for cell in cells(chosen.stems, chosen.people, chosen.repeats, chosen.refused):
        print(f"| {cell.stem} | {cell.people:,} | {cell.repeats} | {cell.refused:.0%} | {cell.rows:,} | "
              f"{cell.seconds:.1f} | {cell.megabytes:.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()

"""The search instrument against phantom rankers whose slope is planted: what is reported, the difference from the perfect system.

Two systems are measured on one phantom collection (`portrayal.audits.search.phantoms`), a planted one and one without an
effect, and corrected together. Noise grows with the query's genderedness, and a few queries lie far out. Whole audits, through
files and sentences, are in `portrayal.audits.search.simulation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.gsr import relative_gsr
from portrayal.audits.search.measures.history import History, score_many
from portrayal.audits.search.measures.slope import Slope
from portrayal.audits.search.phantoms import HALF, LENGTH, Phantoms, world
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.calibration import Calibration, over_seeds

PLANTED = 0.1  # of the order of Table 2's 0.09 to 0.16
SIZES = (10, 30, 83, 250)  # queries; 83 and 250 are TIME's and Robust04's
NAMED = 83  # queries whose power is the headline figure


@dataclass(frozen=True)
class Measured:
    """The two systems of one run, and whether each was found under the correction over both."""

    slopes: Sequence[Slope]
    found: Sequence[bool]


def calibrate(runs: int = 1000, seed: int = 0, sizes: Sequence[int] = SIZES) -> Calibration:
    """Return false alarms, power and coverage over simulated collections of these numbers of queries."""
    cells = [(size, slope) for size in sizes for slope in (0.0, PLANTED)]
    # All conditions in one pool: a process that starts has much to import.
    measured = over_seeds(partial(_run, cells, runs, seed), range(len(cells) * runs))
    conditions = [_condition(*cell, measured[place * runs : (place + 1) * runs]) for place, cell in enumerate(cells)]
    nulls = [row["false_alarm"] for row in conditions if row["planted"] == 0]
    power = [row["found"] for row in conditions if row["planted"] and row["queries"] == NAMED]
    return Calibration(
        stem="search",
        false_alarm=float(np.mean(nulls)),
        power=float(power[0]) if power else float("nan"),
        coverage=float(np.mean([row["coverage"] for row in conditions])),
        runs=runs,
        seed=seed,
        conditions=conditions,
    )


def _run(cells: Sequence[tuple[int, float]], runs: int, seed: int, place: int) -> Measured:
    """Simulate one run of the condition at this place."""
    size, slope = cells[place // runs]
    return simulate(size, slope, np.random.default_rng([seed, size, round(1000 * slope), place % runs]))


def _condition(size: int, slope: float, measured: Sequence[Measured]) -> dict[str, Any]:
    """Count over the runs of one condition how often the interval holds the planted slope, and how often what is found."""
    first = [one.slopes[0] for one in measured]
    return {
        "queries": size,
        "planted": slope,
        "coverage": float(np.mean([one.low <= slope <= one.high for one in first])),
        "found": float(np.mean([one.found[0] for one in measured])),
        # A run without an effect in either system, or the second system alone beside a planted one.
        "false_alarm": float(np.mean([any(one.found[1 if slope else 0 :]) for one in measured])),
        "mean_estimate": float(np.mean([one.value for one in first])),
        "mean_width": float(np.mean([one.high - one.low for one in first])),
        "runs": len(measured),
    }


def simulate(size: int, slope: float, rng: np.random.Generator) -> Measured:
    """Make one phantom collection and measure its two systems against the perfect one."""
    tables = phantom_tables(size, (slope, 0.0), rng)
    seed = int(rng.integers(2**31))
    slopes = [relative_gsr(tables[name], tables["perfect"], seed).difference for name in ("0", "1")]
    flipped = flip_jointly(np.column_stack([slope.influence for slope in slopes]), seed)
    clear = [not slope.low <= 0 <= slope.high for slope in slopes]
    return Measured(slopes, [p < LEVEL and out for p, out in zip(flipped.adjusted, clear, strict=True)])


def phantom_tables(size: int, effects: Sequence[float], rng: np.random.Generator) -> dict[str, pl.DataFrame]:
    """Return the scored queries of one phantom collection: of the perfect system, and of one system for each effect ("0", "1" ...)."""
    phantoms = Phantoms(effects, rng)
    for question in range(size):
        phantoms.ask(question)
    scores = dict(zip(world().words, world().scores[0].tolist(), strict=True))
    lists: dict[str, Any] = {str(place): (one, False) for place, one in enumerate(_named(phantoms))}
    return score_many(_history(phantoms), {**lists, "perfect": (_relevant(phantoms), True)}, scores)


def _history(phantoms: Phantoms) -> History:
    from scipy import sparse

    count, words = len(phantoms.documents), world().words
    rows = np.repeat(np.arange(count), LENGTH)
    entries = (np.ones(rows.size, dtype=np.int32), (rows, np.concatenate(phantoms.documents)))
    counts = sparse.coo_array(entries, shape=(count, 2 * HALF)).tocsc()
    queries = {query: [words[place] for place in places] for query, places in phantoms.queries.items()}
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in _relevant(phantoms).items()}
    return History(queries, Bags([f"d{number}" for number in range(count)], words, counts), qrels, inflected=False)


def _relevant(phantoms: Phantoms) -> dict[str, list[str]]:
    return {query: [f"d{number}" for number in docs] for query, docs in phantoms.relevant.items()}


def _named(phantoms: Phantoms) -> list[dict[str, list[str]]]:
    return [{query: [f"d{number}" for number in docs] for query, docs in one.items()} for one in phantoms.lists]

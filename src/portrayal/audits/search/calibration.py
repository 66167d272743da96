"""Search instrument against phantom rankers of a planted slope (`portrayal.audits.search.world`).

Without an effect neither of two engines differs from the perfect system; with one the first does. `power` is the share of audits that
find a slope under the correction the report will use; it counts as found where the first ruler finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.search import world
from portrayal.audits.search.measures.gsr import FEWEST, Design, Slope, relative_gsr
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.calibration import Calibration, Simulated, over_seeds
from portrayal.study.study import Study

SHAPES = world.SHAPES  # of simulated audits, as portrayal.study.calibration asks for them
STATED = 0.1  # the slope beyond the perfect system's that power is stated for; Table 2 has up to 0.07
AUDITS = 1_000  # drawn for the power of one plan
PLANTED = 0.1  # slope; of the order of Table 2's 0.09 to 0.16
SIZES = (10, 30, 83, 250)  # queries; 83 and 250 are TIME's and Robust04's
NAMED = 83  # queries whose power is the headline figure


Tested = tuple[list[Slope], list[bool]]  # of the two systems of one run: the slopes, and which count as found


def calibrate(runs: int = 1000, seed: int = 0, sizes: Sequence[int] = SIZES) -> Calibration:
    """Return false alarms, power and coverage over simulated collections of these numbers of queries."""
    cells = [(size, slope) for size in sizes for slope in (0.0, PLANTED)]
    # All conditions in one pool: a process that starts has much to import.
    tested = over_seeds(partial(_test_phantoms, cells, runs, seed), range(len(cells) * runs))
    conditions = [_condition(*cell, tested[place * runs : (place + 1) * runs]) for place, cell in enumerate(cells)]
    nulls = [row["false_alarm"] for row in conditions if row["planted"] == 0]
    power = [row["found"] for row in conditions if row["planted"] and row["queries"] == NAMED]
    coverage = float(np.mean([row["coverage"] for row in conditions]))
    return Calibration(
        stem="search", false_alarm=float(np.mean(nulls)), power=float(power[0]) if power else float("nan"),
        coverage=coverage, runs=runs, seed=seed, conditions=conditions,
    )  # fmt: skip


def _condition(size: int, slope: float, tested: Sequence[Tested]) -> dict[str, Any]:
    """Count intervals that hold the planted slope, and hits, over the runs of a condition."""
    first = [slopes[0] for slopes, _ in tested]
    return {
        "queries": size,
        "planted": slope,
        "coverage": float(np.mean([one.low <= slope <= one.high for one in first])),
        "found": float(np.mean([hits[0] for _, hits in tested])),
        # A run without an effect in either system, or the second system alone beside a planted one.
        "false_alarm": float(np.mean([any(hits[1 if slope else 0 :]) for _, hits in tested])),
        "mean_estimate": float(np.mean([one.value for one in first])),
        "mean_width": float(np.mean([one.high - one.low for one in first])),
        "runs": len(tested),
    }


def _test_phantoms(cells: Sequence[tuple[int, float]], runs: int, seed: int, place: int) -> Tested:
    """Make one phantom collection and measure its two systems against the perfect one."""
    size, slope = cells[place // runs]
    rng = np.random.default_rng([seed, size, round(1000 * slope), place % runs])
    tables = world.phantom_tables(size, (slope, 0.0), rng)
    flips = int(rng.integers(2**31))
    slopes = [relative_gsr(tables[name], tables["perfect"], flips).difference for name in ("0", "1")]
    flipped = flip_jointly(np.column_stack([one.influence for one in slopes]), flips)
    clear = [not one.low <= 0 <= one.high for one in slopes]
    return slopes, [p < LEVEL and out for p, out in zip(flipped.adjusted, clear, strict=True)]


def simulate(shape: str, seed: int, effect: float, wave: int = 0) -> Simulated:
    """Return one audit of two systems, the first with a slope of `effect`.

    `wave` 1 and 2 are lists of the same collection by other chance, the effect in the second only; 0 is an audit of its own.
    """
    phantoms = world.make_wave(shape, seed, effect, wave) if wave else world.make_phantoms(shape, seed, effect)
    study, evidence = world.read_back(phantoms)
    measure = "gsr_difference" if phantoms.judged else "gsr"
    planted = {"measure": measure, "ruler": world.RULERS[0], "system": world.SYSTEMS[0]}
    return Simulated(study, evidence, planted if effect else None)


def plans() -> dict[str, tuple[float, float]]:
    """Return by shape a slope and the power that `portrayal plan` states for it."""
    return {
        shape: (slope, power(world.SHAPES[shape][0], 1, slope, rulers=len(world.RULERS)))
        for shape, slope in (("demo", 0.1), ("small", 0.3))
    }


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say how often a slope of STATED is found with these queries."""
    judged = int(stimuli["judged"].sum())
    queries = judged or stimuli.height
    if queries < FEWEST:
        return [f"{queries} queries are too few to find anything; {FEWEST} are the fewest"]
    tests, rulers = study.corrected_together(1), len(study.settings.vectors)
    against = "the perfect system's" if judged else "0 (no query is judged)"
    return [
        study.correction(tests * rulers),
        f"with {queries} queries a slope {STATED} above {against} is found in "
        f"{round(100 * power(queries, tests, STATED, rulers))} of 100 audits, where lists scatter as in docs/search_calibration.md",
    ]


def power(queries: int, tests: int, slope: float, rulers: int = 1, seed: int = 0) -> float:
    """Return the share of audits that find one system's slope after correction."""
    bank, rng = world.bank_of(slope), np.random.default_rng(seed)
    return float(np.mean([_finds(bank, queries, tests, rulers, rng) for _ in range(AUDITS)]))


def _finds(bank: world.Bank, queries: int, tests: int, rulers: int, rng: np.random.Generator) -> bool:
    """Tell whether one audit finds the slope, by corrected p."""
    drawn = rng.integers(0, world.BANK, queries)
    y, design = bank.planted[drawn], Design.of(bank.genders[drawn], None, None, np.ones(queries, bool))
    signs = rng.choice([-1.0, 1.0], (tests - 1, queries))  # the other systems, each with its own noise
    systems = [y, *(bank.null[drawn] * sign for sign in signs)]
    agreement = np.corrcoef(world.vocabulary().scores)[0, 1]
    for lists in [one for one in systems for _ in range(rulers - 1)]:  # the same lists by other rulers
        own = rng.choice(bank.null, queries) * rng.choice([-1.0, 1.0], queries)
        systems.append(agreement * lists + np.sqrt(1 - agreement**2) * own)
    columns = [design.parts(one) for one in systems]
    return bool(flip_jointly(np.column_stack(columns)).adjusted[0] < LEVEL)

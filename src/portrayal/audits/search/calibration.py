"""The search instrument against phantom rankers whose slope is planted.

A phantom collection has a vocabulary of known scores, half above and half below zero. A query is one to three
words. The phantom ranker answers it with documents whose words come from the upper half with just the
probability that makes a document's expected genderedness m g(q) plus a constant: the planted slope is m,
exactly. Lists differ in length, and each query has a topic that pulls all its documents one way, as real
queries do. Everything goes through the same code as a real run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portrayal.audits.search.measures.bags import Bags
from portrayal.audits.search.measures.gsr import gsr
from portrayal.audits.search.measures.history import History, score_history
from portrayal.audits.search.measures.slope import SMALL, Slope
from portrayal.runs.calibration import Calibration

PLANTED = 0.1  # of the order of Table 2's 0.09 to 0.16
SIZES = (30, 83, 250)  # queries; 30 shows what a small history costs, the others are TIME's and Robust04's
HALF = 200  # words of each half of the vocabulary
LENGTH = 60  # words of a document
PULL = 0.05  # the most that a query's topic adds to the score of all its documents
DRAWS, SHUFFLES = 1000, 999


def calibrate(runs: int = 1000, seed: int = 0, sizes: Sequence[int] = SIZES) -> Calibration:
    """Return false alarms, power and coverage over simulated collections of these numbers of queries."""
    conditions = [_condition(size, slope, runs, seed) for size in sizes for slope in (0.0, PLANTED)]
    headline = [row for row in conditions if row["queries"] >= SMALL]
    nulls = [row["rejected"] for row in headline if row["planted"] == 0]
    planted = [row for row in headline if row["planted"] != 0]
    return Calibration(
        stem="search",
        false_alarm=float(np.mean(nulls)),
        power=float(planted[0]["rejected"]),
        coverage=float(np.mean([row["covered"] for row in headline])),
        runs=runs,
        seed=seed,
        conditions=conditions,
    )


def _condition(size: int, slope: float, runs: int, seed: int) -> dict[str, Any]:
    """Simulate one condition: how often the interval holds the planted slope, how often p is under 5%."""
    rng = np.random.default_rng([seed, size, round(1000 * slope)])
    measured = [simulate(size, slope, rng) for _ in range(runs)]
    return {
        "queries": size,
        "planted": slope,
        "covered": float(np.mean([found.low <= slope <= found.high for found in measured])),
        "rejected": float(np.mean([found.p < 0.05 for found in measured])),
        "mean_estimate": float(np.mean([found.value for found in measured])),
        "mean_width": float(np.mean([found.high - found.low for found in measured])),
        "runs": runs,
        "note": "under 50 queries: reported, not part of the headline" if size < SMALL else "",
    }


def simulate(size: int, slope: float, rng: np.random.Generator) -> Slope:
    """Make one phantom collection and measure its ranker."""
    scores = _vocabulary(rng)
    history, lists = _phantom(size, slope, scores, rng)
    table = score_history(history, lists, {f"w{place}": score for place, score in enumerate(scores)})
    return gsr(table, seed=int(rng.integers(2**31)), draws=DRAWS, shuffles=SHUFFLES)


def _vocabulary(rng: np.random.Generator) -> np.ndarray:
    """Return scores: the first half of the words above, the second half below zero, skewed as real ones are."""
    return np.concatenate([rng.gamma(2.0, 0.06, HALF), -rng.gamma(2.0, 0.05, HALF)])


def _phantom(
    size: int, slope: float, scores: np.ndarray, rng: np.random.Generator
) -> tuple[History, dict[str, list[str]]]:
    """Return the history and the phantom's lists."""
    from scipy import sparse

    lists: dict[str, list[str]] = {}
    queries: dict[str, list[str]] = {}
    documents: list[np.ndarray] = []
    for number in range(size):
        asked = rng.choice(2 * HALF, rng.integers(1, 4), replace=False)
        answer = _answer(asked, slope, scores, rng)
        queries[f"q{number}"] = [f"w{place}" for place in asked]
        lists[f"q{number}"] = [f"d{len(documents) + place}" for place in range(len(answer))]
        documents.extend(answer)
    rows = np.repeat(np.arange(len(documents)), LENGTH)
    entries = (np.ones(rows.size, dtype=np.int32), (rows, np.concatenate(documents)))
    counts = sparse.coo_array(entries, shape=(len(documents), 2 * HALF)).tocsc()
    names, words = (
        [f"{kind}{place}" for place in range(n)] for kind, n in (("d", len(documents)), ("w", 2 * HALF))
    )
    return History(queries, Bags(names, words, counts), inflected=False), lists


def _answer(asked: np.ndarray, slope: float, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the word numbers of one query's documents: expected score slope * g(q) + a constant + its topic's pull.

    The query's own words are never drawn, since the measure would leave them out.
    """
    free = np.ones(2 * HALF, dtype=bool)
    free[asked] = False
    sides = [np.flatnonzero(free[:HALF]), np.flatnonzero(free[HALF:]) + HALF]
    high, low = (scores[side].mean() for side in sides)
    middle = (scores[:HALF].mean() + scores[HALF:].mean()) / 2
    wanted = slope * scores[asked].mean() + middle + rng.uniform(-PULL, PULL)
    shape = (rng.integers(2, 12), LENGTH)
    female = rng.random(shape) < (wanted - low) / (high - low)
    return np.where(female, rng.choice(sides[0], shape), rng.choice(sides[1], shape))

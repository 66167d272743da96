"""What a search study could find, for `portrayal plan`: under the correction that the report will use.

Queries, how far lists scatter about their line, and how far rulers agree are those of the phantom collections of the
calibration. The slope counts as found where the first ruler finds it; all rulers are corrected together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from portrayal.audits.search.measures.slope import FEWEST, fit_with_error, parts_of_slope, quantile
from portrayal.audits.search.phantoms import BASELINE, FRESH, LEAST, LENGTH, PULL, RELEVANT, world
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.tests.max_t import flip_jointly
from portrayal.study.study import Study

NAMED = 0.1  # the slope beyond the perfect system's that power is stated for; Table 2 has up to 0.07
BANK = 20_000  # phantom questions that audits are drawn from
AUDITS = 1_000


@dataclass(frozen=True, eq=False)
class Bank:
    """Phantom questions: their genderedness, and two systems' lists less the perfect system's, the first with the slope."""

    genders: np.ndarray
    planted: np.ndarray
    null: np.ndarray


def say_power(study: Study, stimuli: pl.DataFrame) -> list[str]:
    """Say how often a slope of NAMED beyond the perfect system's would be found with these queries and systems."""
    judged = int(stimuli["judged"].sum())
    queries = judged or stimuli.height
    if queries < FEWEST:
        return [f"{queries} queries are too few to find anything; {FEWEST} are the fewest"]
    tests, rulers = (len(study.systems) + sum(map(len, study.settings.compare.values())), len(study.settings.vectors))
    against = "the perfect system's" if judged else "0 (no query is judged)"
    return [
        f"with {queries} queries and {tests * rulers} comparisons corrected together, a slope {NAMED} above {against} is found in "
        f"{round(100 * power(queries, tests, NAMED, rulers))} of 100 audits, where lists scatter as in the calibration (docs/search.md)"
    ]


def power(queries: int, tests: int, slope: float, rulers: int = 1, seed: int = 0) -> float:
    """Return the share of audits that find the slope of one of several systems, corrected over all of them and all rulers."""
    bank, rng = questions(slope), np.random.default_rng(seed)
    return float(np.mean([_finds(bank, queries, tests, rulers, rng) for _ in range(AUDITS)]))


@cache
def questions(slope: float) -> Bank:
    """Return phantom questions asked of a system with this slope and of one without, documents drawn as numbers, not words."""
    rng = np.random.default_rng(0)
    asked = np.arange(3) < rng.integers(1, 4, BANK)[:, None]
    genders = (rng.choice(world().scores[0], (BANK, 3)) * asked).sum(axis=1) / asked.sum(axis=1)
    counts = rng.integers(*RELEVANT, BANK, endpoint=True)
    relevant = BASELINE * genders[:, None] + _noise(rng)
    there = np.arange(RELEVANT[1]) < counts[:, None]
    perfect = (relevant * there).sum(axis=1) / counts
    planted, null = (_listed(genders, counts, relevant, effect, rng) - perfect for effect in (slope, 0.0))
    return Bank(genders, planted, null)


def _listed(
    genders: np.ndarray, counts: np.ndarray, relevant: np.ndarray, effect: float, rng: np.random.Generator
) -> np.ndarray:
    """Return the lists of a system: some of the relevant documents and others that it pulls one way, in any order."""
    fresh = np.maximum(np.round(FRESH * counts), 1)
    wanted = (BASELINE + effect * counts / fresh) * genders
    room = np.maximum(np.abs(world().scores[0]).mean() - np.abs(wanted), 0)
    pull = np.clip(rng.uniform(-1, 1, BANK) * (LEAST + PULL * np.abs(genders)), -room, room)
    own = (wanted + pull)[:, None] + _noise(rng)
    place = np.arange(RELEVANT[1])
    documents = np.where(place < fresh[:, None], own, relevant)
    order = np.argsort(np.argsort(np.where(place < counts[:, None], rng.random(own.shape), 2.0), axis=1), axis=1)
    weights = np.where(place < counts[:, None], 1 / np.log2(order + 2.0), 0.0)
    return (documents * weights).sum(axis=1) / weights.sum(axis=1)


def _noise(rng: np.random.Generator) -> np.ndarray:
    """Return how far documents of LENGTH words lie from what is expected of them."""
    return rng.standard_normal((BANK, RELEVANT[1])) * world().scores[0].std() / np.sqrt(LENGTH)


def _finds(bank: Bank, queries: int, tests: int, rulers: int, rng: np.random.Generator) -> bool:
    """Tell whether one audit finds the slope: corrected p under the level, and interval clear of zero."""
    drawn = rng.integers(0, BANK, queries)
    x, y, units = bank.genders[drawn], bank.planted[drawn], np.arange(queries)
    found = fit_with_error(x, y, units)
    if abs(found.slope) <= quantile(x, units) * found.error:
        return False
    signs = rng.choice([-1.0, 1.0], (tests - 1, queries))  # the other systems, each with its own noise
    systems = [y, *(bank.null[drawn] * sign for sign in signs)]
    seen = [*systems, *(_by_another(one, bank, rng) for one in systems for _ in range(rulers - 1))]
    columns = [parts_of_slope(x, one, units) for one in seen]
    return bool(flip_jointly(np.column_stack(columns)).adjusted[0] < LEVEL)


def _by_another(lists: np.ndarray, bank: Bank, rng: np.random.Generator) -> np.ndarray:
    """Return what another ruler says of the same lists: it agrees as far as its words' scores do."""
    agreement = np.corrcoef(world().scores)[0, 1]
    own = rng.choice(bank.null, len(lists)) * rng.choice([-1.0, 1.0], len(lists))
    return agreement * lists + np.sqrt(1 - agreement**2) * own

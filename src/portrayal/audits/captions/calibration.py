"""The captions instrument against phantom captioners: false alarms without a harm, power and coverage with one.

Scenes are generated, phantoms write sentences about them, and the parser reads these, as in an audit. Every run has a seed of its
own, so that the figures do not hang on how many processes share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.captions.measures import (
    demeaning_nouns,
    demeaning_people,
    demeaning_rules,
    demeaning_words,
    erasing,
    group_words,
    reifying_looks,
    reifying_markedness,
    self_identification,
    stereotyping_objects,
    stereotyping_tuples,
    stereotyping_words,
)
from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.measures.outcome import ESTIMATE, Outcome
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import SYSTEM_CAPTIONS, Stages
from portrayal.audits.captions.phantom import PHANTOMS, planted
from portrayal.audits.captions.truths import OPTIONS, RATE, SCENES, Truth, truth
from portrayal.stats.decisions.multiplicity import adjust
from portrayal.study.calibration import Calibration, over_seeds
from portrayal.text.words import wordnet

NULL = "nothing, evenly careless"
PLANTED_BY = {phantom.technique: name for name, phantom in PHANTOMS.items() if phantom.technique}
FLOOR = 0.005  # a share is found when its whole interval lies above this; a perfect reader has none by chance
CEILING = 0.05  # a group is never named when the whole interval of its right words lies below this
TEST, COUNT, SILENCE = "test at 5%", f"count over {FLOOR:.1%}", f"none over {CEILING:.0%}"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Headline:
    """How calibration reads a technique."""

    rule: str  # one of the three above
    chosen: Callable[[Row], bool]
    technique: str = ""  # where it is not the headline's own key


def measure(key: str, stages: Stages, options: Options) -> Outcome:
    """Run the technique behind a headline."""
    return TECHNIQUES[HEADLINES[key].technique or key].measure(stages, options)


def system_rows(outcome: Outcome) -> list[Row]:
    """Return what was found in the system captions."""
    return [r for r in outcome.rows if r["stage"] == SYSTEM_CAPTIONS]


def headline(key: str, outcome: Outcome) -> list[Row]:
    """Return the rows of a technique that decide whether it found something in the system captions."""
    return [r for r in system_rows(outcome) if HEADLINES[key].chosen(r)]


def found(key: str, outcome: Outcome, level: float = 0.05) -> bool:
    """Say whether a technique found its harm: a corrected p under 5%, or a share whose interval excludes chance.

    Of the three rules only the test has a level; a count that no chance makes has none.
    """
    rows = headline(key, outcome)
    if HEADLINES[key].rule == TEST:
        tested = [r["p"] for r in rows if r.get("p") is not None]
        return bool(tested) and bool(np.nanmin(adjust(tested, "holm")) < level)
    if HEADLINES[key].rule == SILENCE:
        return bool(rows) and all(r["high"] < CEILING for r in rows)
    return any((r.get("low") or 0.0) > FLOOR for r in rows)


def _whole(quantity: str) -> Callable[[Row], bool]:
    return lambda r: r["measure"] == quantity and r.get("group") == "all" and not r.get("versus")


def _of_group(quantity: str) -> Callable[[Row], bool]:
    return lambda r: r["measure"] == quantity and bool(r.get("group")) and not r.get("versus")


def _tested(test: str) -> Callable[[Row], bool]:
    return lambda r: r["measure"] == test


HEADLINES: dict[str, Headline] = {
    "stereotyping: words included wrongly": Headline(COUNT, _whole(stereotyping_words.KEPT)),
    "stereotyping: objects correctly mentioned": Headline(TEST, _tested(stereotyping_objects.TEST)),
    "stereotyping: differing tuples": Headline(TEST, _tested(stereotyping_tuples.TEST)),
    "stereotyping: differing tuples across stages": Headline(TEST, _tested(stereotyping_tuples.CHANGE_TEST)),
    "demeaning: demeaning words": Headline(
        COUNT, lambda r: _whole(demeaning_words.QUANTITY)(r) and r["bound"] == ESTIMATE
    ),
    "demeaning: people not mentioned": Headline(TEST, _tested(demeaning_people.TEST)),
    "demeaning: context-specific harms": Headline(COUNT, _whole(demeaning_rules.QUANTITY)),
    "demeaning: identity adjectives used as nouns": Headline(COUNT, _whole(demeaning_nouns.QUANTITY)),
    "erasing: artifacts not recognised": Headline(COUNT, lambda r: r["quantity"] == erasing.EXCESS),
    "denying self-identification: identity terms imposed": Headline(COUNT, _whole(self_identification.ANY)),
    "reifying: looks predict the group term": Headline(TEST, _tested(reifying_looks.TEST)),
    "reifying: markedness": Headline(TEST, _tested(reifying_markedness.TEST)),
    "beside every harm: group words": Headline(COUNT, _of_group(group_words.WRONG)),
    "beside every harm: group words, never named": Headline(
        SILENCE, _of_group(group_words.RIGHT), "beside every harm: group words"
    ),
}


class Run(NamedTuple):
    """One run of one technique: an alarm without a harm, the harm found, its value inside the interval."""

    alarm: bool
    found: bool
    covered: bool


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every technique on phantoms without a harm, and on the phantom that plants its own.

    The false-alarm figure is that of the techniques that are tests: a count that a perfect reader would not make has no
    level of 5%.
    """
    found = over_seeds(one_run, np.random.SeedSequence(seed).generate_state(runs).tolist(), wordnet.load)
    conditions = [_condition(key, [run[key] for run in found]) for key in HEADLINES]
    tests = [row["false alarms"] for row in conditions if row["found by"] == TEST]
    power, coverage = (float(np.mean([row[name] for row in conditions])) for name in ("power", "coverage"))
    return Calibration("captions", float(np.mean(tests)), power, coverage, runs, seed, conditions)


def one_run(seed: int) -> dict[str, Run]:
    """Return what every technique makes of scenes without a harm, and of scenes with its own."""
    null = planted(NULL, SCENES, RATE, seed)
    runs = {}
    for key in HEADLINES:
        outcome = measure(key, planted(PLANTED_BY[key], SCENES, RATE, seed), OPTIONS)
        row = truth_row(key, outcome)
        covered = row["low"] <= planted_truth(key).value <= row["high"]
        runs[key] = Run(found(key, measure(key, null, OPTIONS)), found(key, outcome), bool(covered))
    return runs


@lru_cache(maxsize=100)
def planted_truth(key: str) -> Truth:
    """Return the value planted for a technique, and its row."""
    return truth(PLANTED_BY[key], RATE)


def truth_row(key: str, outcome: Outcome) -> Row:
    """Return the row whose interval has to hold the planted value."""
    named = planted_truth(key).row
    rows = system_rows(outcome) if "quantity" in named else headline(key, outcome)
    return next(r for r in rows if all(r.get(name) == value for name, value in named.items()))


def _condition(key: str, runs: Sequence[Run]) -> dict[str, Any]:
    alarms, hits, covered = np.array(runs, dtype=float).mean(axis=0).tolist()
    return {
        "technique": key,
        "found by": HEADLINES[key].rule,
        "runs": len(runs),
        "false alarms": alarms,
        "planted": planted_truth(key).value,
        "power": hits,
        "coverage": covered,
    }

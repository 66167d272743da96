"""Calibration of the captions audit against phantom captioners: false alarms, power and coverage."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from portrayal.audits.captions.measures.audit import TECHNIQUES
from portrayal.audits.captions.measures.technique import Outcome
from portrayal.audits.captions.phantom import NAMED, PHANTOMS, planted, sayings
from portrayal.audits.captions.reading.stages import SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.world import GENDERS, Account, Scene, all_scenes, graph
from portrayal.stats.decisions.multiplicity import adjust
from portrayal.study.calibration import Calibration, over_seeds

NULL = "nothing, evenly careless"
FLOOR = 0.005  # a share is found when its whole interval lies above this; a perfect reader has none by chance
CEILING = 0.05  # a group is never named when the whole interval of its right words lies below this
RULES = {"test": "test at 5%", "count": f"count over {FLOOR:.1%}", "silence": f"none over {CEILING:.0%}"}
SCENES = 300
RATE = 0.5
# Fewer splits than in an audit: they give the paper's interval, which is not what is calibrated.
OPTIONS = Options(splits=20, bootstraps=200, permutations=999, object_types=20)
EXPECTED = {RATE: 2.6549}  # rate -> coefficient of the group for the dog at SCENES scenes, of 4,000 simulated studies
Row = Mapping[str, Any]


class Case(NamedTuple):
    """One scene with one thing said of it."""

    probability: float
    scene: Scene
    account: Account


Flag = Callable[[Case], bool]
Value = Callable[[str, float], float]  # phantom, rate -> the planted value


def cases(name: str, rate: float, human: bool = False) -> Iterator[Case]:
    """Yield everything a phantom (or the people of its world) can say, with probabilities."""
    phantom = PHANTOMS[name]
    for of_scene, scene in all_scenes(phantom.world):
        for of_words, account in sayings(phantom.human if human else phantom.system, scene, rate):
            yield Case(of_scene * of_words, scene, account)


def share(name: str, rate: float, flag: Flag, among: Flag = lambda case: True) -> float:
    """Return the share of a phantom's captions that are flagged, among some of them."""
    chosen = [case for case in cases(name, rate) if among(case)]
    return sum(case.probability for case in chosen if flag(case)) / sum(case.probability for case in chosen)


def tuple_distance(name: str, rate: float, kind: str, human: bool = False) -> float:
    """Return the summed squared differences of the genders' shares of captions with each tuple."""
    total, apart = defaultdict[str, float](float), defaultdict[Any, dict[str, float]](dict)
    for case in cases(name, rate, human):
        if case.account.person is not None:
            gender = case.scene.gender
            total[gender] += case.probability
            # People written as `person` and undescribed.
            for each in set(getattr(graph(replace(case.account, person="person", adjective="")), f"{kind}s")):
                apart[each][gender] = apart[each].get(gender, 0.0) + case.probability
    shares = [[of.get(gender, 0.0) / total[gender] for gender in ("female", "male")] for of in apart.values()]
    return sum((first - second) ** 2 for first, second in shares)


def _share(flag: Flag, among: Flag = lambda case: True) -> Value:
    return lambda name, rate: share(name, rate, flag, among)


def _omitted_difference(name: str, rate: float) -> float:
    darker = share(name, rate, lambda c: c.account.person is None, lambda c: c.scene.skin == "darker")
    return darker - share(name, rate, lambda c: c.account.person is None, lambda c: c.scene.skin == "lighter")


def _is_woman(case: Case) -> bool:
    return case.scene.gender == "female"


def _looks_area(name: str, rate: float) -> float:
    """Return the AUC of predicting the noun of women from clothes; equal clothes tie."""
    dressed = _share(lambda c: c.scene.worn == "dress", lambda c: _is_woman(c) and c.account.person != "person")
    undressed = _share(lambda c: c.scene.worn == "dress", lambda c: _is_woman(c) and c.account.person == "person")
    return 0.5 + (dressed(name, rate) - undressed(name, rate)) / 2


@dataclass(frozen=True)
class Headline:
    """Rule by which a technique finds its phantom's harm, and its truth."""

    rule: str  # a key of RULES
    phantom: str
    measure: str
    row: Mapping[str, str] = field(default_factory=dict)  # columns of the row that holds the planted value
    every_group: bool = False  # of a count: the rows of all groups decide, not the one of everybody
    technique: str = ""  # where it is not the headline's own key

    def decides(self, row: Row) -> bool:
        """Return whether a row is one of those by which the harm is found."""
        of_count = row.get("group") and not row.get("versus") and (self.every_group or row["group"] == "all")
        return row["measure"] == self.measure and (self.rule == "test" or bool(of_count))


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
HEADLINES = {key: Headline(**table) for key, table in _TABLES.items()}
# What each phantom plants, in the unit of the row that has to recover it.
PLANTED: dict[str, Value] = {
    "words included wrongly": _share(lambda c: "purse" in c.account.things),
    "objects correctly mentioned": lambda name, rate: EXPECTED[rate],
    "differing tuples": lambda name, rate: tuple_distance(name, rate, "object"),
    "differing tuples across stages": lambda name, rate: (
        tuple_distance(name, rate, "attribute") - tuple_distance(name, rate, "attribute", human=True)
    ),
    "demeaning words": _share(lambda c: c.account.adjective == "silly"),
    "people not mentioned": _omitted_difference,
    "context-specific harms": _share(lambda c: c.account.person == "girl"),
    "identity adjectives used as nouns": _share(lambda c: c.account.person in GENDERS),
    "artifacts not recognised": _share(
        lambda c: "wheelchair" not in c.account.things, lambda c: "wheelchair" in c.scene.things
    ),
    "identity terms imposed": _share(lambda c: c.account.adjective == "elderly"),
    "looks predict the group term": _looks_area,
    "markedness": lambda name, rate: NAMED,  # drawn by a hash of the scene, which cannot be gone through
    "group words wrong": _share(lambda c: c.account.person == "man", _is_woman),
    "group never named": _share(lambda c: c.account.person == "person"),
}


def measure(key: str, stages: Stages, options: Options) -> Outcome:
    """Run the technique behind a headline."""
    return TECHNIQUES[HEADLINES[key].technique or key].measure(stages, options)


def system_rows(outcome: Outcome) -> list[Row]:
    """Return the rows of the system captions."""
    return [r for r in outcome.rows if r["stage"] == SYSTEM_CAPTIONS]


def is_found(key: str, outcome: Outcome, level: float = 0.05) -> bool:
    """Return True if a technique found its harm, by a corrected p or an interval."""
    rows = [row for row in system_rows(outcome) if HEADLINES[key].decides(row)]
    if HEADLINES[key].rule == "test":
        tested = [r["p"] for r in rows if r.get("p") is not None]
        return bool(tested) and bool(np.nanmin(adjust(tested, "holm")) < level)
    if HEADLINES[key].rule == "silence":
        return bool(rows) and all(r["high"] < CEILING for r in rows)
    return any((r.get("low") or 0.0) > FLOOR for r in rows)


def truth_row(key: str, outcome: Outcome) -> Row:
    """Return the row whose interval has to hold the planted value."""
    named = {"measure": HEADLINES[key].measure, **HEADLINES[key].row}
    return next(r for r in system_rows(outcome) if all(r.get(name) == value for name, value in named.items()))


@lru_cache(maxsize=100)
def truth(key: str) -> float:
    """Return the value planted for a technique."""
    return PLANTED[HEADLINES[key].phantom](HEADLINES[key].phantom, RATE)


class Run(NamedTuple):
    """One run of one technique: false alarm, harm found, planted value inside the interval."""

    alarm: bool
    hit: bool
    covered: bool


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every technique without and with its harm; false alarms are those of tests alone."""
    each = over_seeds(one_run, np.random.SeedSequence(seed).generate_state(runs).tolist())
    conditions = [_condition(key, [run[key] for run in each]) for key in HEADLINES]
    tests = [row["false alarms"] for row in conditions if row["found by"] == RULES["test"]]
    power, coverage = (float(np.mean([row[name] for row in conditions])) for name in ("power", "coverage"))
    return Calibration("captions", float(np.mean(tests)), power, coverage, runs, seed, conditions)


def one_run(seed: int) -> dict[str, Run]:
    """Run every technique in scenes without a harm and in scenes with its own."""
    null = planted(NULL, SCENES, RATE, seed)
    runs = {}
    for key, headline in HEADLINES.items():
        outcome = measure(key, planted(headline.phantom, SCENES, RATE, seed), OPTIONS)
        row = truth_row(key, outcome)
        covered = bool(row["low"] <= truth(key) <= row["high"])
        runs[key] = Run(is_found(key, measure(key, null, OPTIONS)), is_found(key, outcome), covered)
    return runs


def _condition(key: str, runs: Sequence[Run]) -> dict[str, Any]:
    alarms, hits, covered = np.array(runs, dtype=float).mean(axis=0).tolist()
    about = {"technique": key, "found by": RULES[HEADLINES[key].rule], "runs": len(runs), "false alarms": alarms}
    return {**about, "planted": truth(key), "power": hits, "coverage": covered}

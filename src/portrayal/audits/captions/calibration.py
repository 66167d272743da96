"""The captions instrument against phantom captioners: false alarms without a harm, power and coverage with one.

Scenes are generated, phantoms write sentences about them, and the parser reads these, as in an audit. Every run has a seed of its
own, so that the figures do not hang on how many processes share the work.

A planted value is in the unit of the row that has to recover it. All but one follow exactly from everything the phantom can say
of every scene its world can have. A penalised coefficient depends on the number of images and has no closed form: it is
pulled towards zero, the more the fewer images there are. Here the log odds would even be infinite, as the dog is never left
out with women. Its interval can hold the mean over studies of the same size, which `expected` draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from portrayal.audits.captions.measures.technique import Outcome
from portrayal.audits.captions.phantom import NAMED, PHANTOMS, planted, sayings
from portrayal.audits.captions.reading.stages import SYSTEM_CAPTIONS, Options, Stages
from portrayal.audits.captions.world import Said, Scene, all_scenes, graph
from portrayal.stats.decisions.multiplicity import adjust
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.study.calibration import Calibration, over_seeds
from portrayal.text.words import wordnet

NULL = "nothing, evenly careless"
FLOOR = 0.005  # a share is found when its whole interval lies above this; a perfect reader has none by chance
CEILING = 0.05  # a group is never named when the whole interval of its right words lies below this
TEST, COUNT, SILENCE = "test at 5%", f"count over {FLOOR:.1%}", f"none over {CEILING:.0%}"
SCENES = 300
RATE = 0.5
# Fewer splits than in an audit: they give the paper's interval, which is not what is calibrated.
OPTIONS = Options(splits=20, bootstraps=200, permutations=999, object_types=20)
STREAM = 5  # of the seeds of `expected`, beside the stream of a calibration's own seeds
STUDIES = 4000
EXPECTED = {RATE: 2.6549}  # rate -> coefficient of the group for the dog, at SCENES scenes
Row = Mapping[str, Any]


class Case(NamedTuple):
    """One scene with one thing said of it."""

    probability: float
    scene: Scene
    said: Said


Flag = Callable[[Case], bool]
Value = Callable[[str, float], float]  # phantom, rate -> the planted value


def cases(name: str, rate: float, human: bool = False) -> Iterator[Case]:
    """Yield all a phantom's system (or the people of its world) can say; the probabilities sum to one."""
    phantom = PHANTOMS[name]
    for of_scene, scene in all_scenes(phantom.world):
        for of_words, said in sayings(phantom.human if human else phantom.system, scene, rate):
            yield Case(of_scene * of_words, scene, said)


def share(name: str, rate: float, flag: Flag, among: Flag = lambda case: True) -> float:
    """Return the share of a phantom's captions that are flagged, among some of them."""
    chosen = [case for case in cases(name, rate) if among(case)]
    return sum(case.probability for case in chosen if flag(case)) / sum(case.probability for case in chosen)


def tuple_distance(name: str, rate: float, kind: str, human: bool = False) -> float:
    """Return the summed squared differences of the genders' shares of captions with each tuple."""
    total, apart = defaultdict[str, float](float), defaultdict[Any, dict[str, float]](dict)
    for case in cases(name, rate, human):
        if case.said.person is not None:
            gender = case.scene.gender
            total[gender] += case.probability
            # People written as `person` and undescribed.
            for each in set(getattr(graph(replace(case.said, person="person", adjective="")), f"{kind}s")):
                apart[each][gender] = apart[each].get(gender, 0.0) + case.probability
    shares = [[of.get(gender, 0.0) / total[gender] for gender in ("female", "male")] for of in apart.values()]
    return sum((first - second) ** 2 for first, second in shares)


def _share(flag: Flag, among: Flag = lambda case: True) -> Value:
    return lambda name, rate: share(name, rate, flag, among)


def _omitted_difference(name: str, rate: float) -> float:
    darker, lighter = (
        share(name, rate, lambda c: c.said.person is None, lambda c, skin=skin: c.scene.skin == skin)  # type: ignore[misc]
        for skin in ("darker", "lighter")
    )
    return darker - lighter


def _looks_area(name: str, rate: float) -> float:
    """Return the area under the curve of predicting the noun of women from the dress, which the others do not wear.

    Who is called by the noun scores by what is worn: the dress higher, and of two in the same clothes neither.
    """

    def in_dress(called: bool) -> float:
        return share(name, rate, lambda c: c.scene.worn == "dress", lambda c: _is_called(c) == called)

    return 0.5 + (in_dress(True) - in_dress(False)) / 2


def _is_called(case: Case) -> bool | None:
    return case.said.person != "person" if case.scene.gender == "female" else None


def coefficient(seed: int) -> float:
    """Return the dog's coefficient of female over male in one study."""
    few = replace(OPTIONS, bootstraps=2)
    stages = planted("objects correctly mentioned", SCENES, RATE, seed)
    effects = stereotyping_objects.effects_of(stages, SYSTEM_CAPTIONS, "gender", ("female", "male"), few)
    return next(effect.coefficient for effect in effects if effect.synset == "dog.n.01")


def expected(studies: int = STUDIES) -> Estimate:
    """Return the mean coefficient over studies, with the interval of the simulation."""
    seeds = np.random.SeedSequence([0, STREAM]).generate_state(studies).tolist()
    return clustered_mean(np.array([coefficient(seed) for seed in seeds]))


@dataclass(frozen=True)
class Headline:
    """The rows of a technique that decide whether it found its harm, the phantom that plants it, and what is planted."""

    phantom: str
    rule: str  # one of the three above
    measure: str
    planted: Value
    group: str | None = "all"  # of a count; None for all groups
    recovered: Mapping[str, str] = field(default_factory=lambda: {"group": "all"})  # columns of the row with that value
    technique: str = ""  # where it is not the headline's own key

    def decides(self, row: Row) -> bool:
        """Return whether a row is one of those that decide."""
        of_count = row.get("group") and not row.get("versus") and self.group in (None, row["group"])
        return row["measure"] == self.measure and (self.rule == TEST or bool(of_count))


_SKIN = {"group": "darker", "versus": "lighter"}
_WOMEN = {"group": "female"}
HEADLINES: dict[str, Headline] = {
    "stereotyping: words included wrongly": Headline(
        "words included wrongly", COUNT, stereotyping_words.KEPT, _share(lambda c: "purse" in c.said.things)
    ),
    "stereotyping: objects correctly mentioned": Headline(
        "objects correctly mentioned",
        TEST,
        stereotyping_objects.TEST,
        lambda name, rate: EXPECTED[rate],
        recovered={"measure": stereotyping_objects.COEFFICIENT, "subject": "dog", **_WOMEN, "versus": "male"},
    ),
    "stereotyping: differing tuples": Headline(
        "differing tuples",
        TEST,
        stereotyping_tuples.TEST,
        lambda name, rate: tuple_distance(name, rate, "object"),
        recovered={"measure": "object tuples", "axis": "gender"},
    ),
    "stereotyping: differing tuples across stages": Headline(
        "differing tuples across stages",
        TEST,
        stereotyping_tuples.CHANGE_TEST,
        lambda name, rate: (
            tuple_distance(name, rate, "attribute") - tuple_distance(name, rate, "attribute", human=True)
        ),
        recovered={"measure": "attribute tuples against human captions", "axis": "gender"},
    ),
    "demeaning: demeaning words": Headline(
        "demeaning words", COUNT, demeaning_words.QUANTITY, _share(lambda c: c.said.adjective == "silly")
    ),
    "demeaning: people not mentioned": Headline(
        "people not mentioned", TEST, demeaning_people.TEST, _omitted_difference, recovered=_SKIN
    ),
    "demeaning: context-specific harms": Headline(
        "context-specific harms", COUNT, demeaning_rules.QUANTITY, _share(lambda c: c.said.person == "girl")
    ),
    "demeaning: identity adjectives used as nouns": Headline(
        "identity adjectives used as nouns",
        COUNT,
        demeaning_nouns.QUANTITY,
        _share(lambda c: c.said.person in ("female", "male")),
    ),
    "erasing: artifacts not recognised": Headline(
        "artifacts not recognised",
        COUNT,
        erasing.TEST,
        _share(lambda c: "wheelchair" not in c.said.things, lambda c: "wheelchair" in c.scene.things),
        group=None,
        recovered={"group": "disabled"},
    ),
    "denying self-identification: identity terms imposed": Headline(
        "identity terms imposed", COUNT, self_identification.ANY, _share(lambda c: c.said.adjective == "elderly")
    ),
    "reifying: looks predict the group term": Headline(
        "looks predict the group term", TEST, reifying_looks.TEST, _looks_area, recovered=_WOMEN
    ),
    # Drawn by a hash of the scene, which cannot be gone through.
    "reifying: markedness": Headline(
        "markedness", TEST, reifying_markedness.TEST, lambda name, rate: NAMED, recovered=_SKIN
    ),
    "beside every harm: group words": Headline(
        "group words wrong",
        COUNT,
        group_words.WRONG,
        _share(lambda c: c.said.person == "man", lambda c: c.scene.gender == "female"),
        group=None,
        recovered=_WOMEN,
    ),
    "beside every harm: group words, never named": Headline(
        "group never named",
        SILENCE,
        group_words.RIGHT,
        _share(lambda c: c.said.person == "person"),
        group=None,
        recovered={"measure": group_words.NEUTRAL, **_WOMEN},
        technique="beside every harm: group words",
    ),
}


def measure(key: str, stages: Stages, options: Options) -> Outcome:
    """Run the technique behind a headline."""
    return TECHNIQUES[HEADLINES[key].technique or key].measure(stages, options)


def system_rows(outcome: Outcome) -> list[Row]:
    """Return the rows of the system captions."""
    return [r for r in outcome.rows if r["stage"] == SYSTEM_CAPTIONS]


def is_found(key: str, outcome: Outcome, level: float = 0.05) -> bool:
    """Return whether a technique found its harm: a corrected p under 5%, or a share whose interval excludes chance.

    Of the three rules only the test has a level; a count that no chance makes has none.
    """
    rows = [row for row in system_rows(outcome) if HEADLINES[key].decides(row)]
    if HEADLINES[key].rule == TEST:
        tested = [r["p"] for r in rows if r.get("p") is not None]
        return bool(tested) and bool(np.nanmin(adjust(tested, "holm")) < level)
    if HEADLINES[key].rule == SILENCE:
        return bool(rows) and all(r["high"] < CEILING for r in rows)
    return any((r.get("low") or 0.0) > FLOOR for r in rows)


def truth_row(key: str, outcome: Outcome) -> Row:
    """Return the row whose interval has to hold the planted value."""
    named = {"measure": HEADLINES[key].measure, **HEADLINES[key].recovered}
    return next(r for r in system_rows(outcome) if all(r.get(name) == value for name, value in named.items()))


@lru_cache(maxsize=100)
def truth(key: str) -> float:
    """Return the value planted for a technique."""
    return HEADLINES[key].planted(HEADLINES[key].phantom, RATE)


class Run(NamedTuple):
    """One run of one technique: an alarm without a harm, the harm found, its value inside the interval."""

    alarm: bool
    hit: bool
    covered: bool


def calibrate(runs: int = 1000, seed: int = 0) -> Calibration:
    """Run every technique on phantoms without a harm, and on the phantom that plants its own.

    The false-alarm figure is that of the techniques that are tests: a count that a perfect reader would not make has no
    level of 5%.
    """
    each = over_seeds(one_run, np.random.SeedSequence(seed).generate_state(runs).tolist(), wordnet.load)
    conditions = [_condition(key, [run[key] for run in each]) for key in HEADLINES]
    tests = [row["false alarms"] for row in conditions if row["found by"] == TEST]
    power, coverage = (float(np.mean([row[name] for row in conditions])) for name in ("power", "coverage"))
    return Calibration("captions", float(np.mean(tests)), power, coverage, runs, seed, conditions)


def one_run(seed: int) -> dict[str, Run]:
    """Return the findings of every technique in scenes without a harm, and in scenes with its own."""
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
    return {
        "technique": key,
        "found by": HEADLINES[key].rule,
        "runs": len(runs),
        "false alarms": alarms,
        "planted": truth(key),
        "power": hits,
        "coverage": covered,
    }

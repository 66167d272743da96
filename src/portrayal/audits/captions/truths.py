"""Planted values of each phantom captioner, in the unit of the row that has to recover them.

All but one follow exactly from everything the phantom can say of every scene its world can have, each with its probability,
worked out with the phantom's own code. A penalised coefficient depends on the number of images and has no closed form: it is
pulled towards zero, the more the fewer images there are. Here the log odds would even be infinite, as the dog is never left
out with women. Its interval can hold the mean over studies of the same size, which `expected` draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from portrayal.audits.captions.measures import group_words, stereotyping_objects
from portrayal.audits.captions.measures.reading.options import Options
from portrayal.audits.captions.measures.reading.stages import SYSTEM_CAPTIONS
from portrayal.audits.captions.phantom import NAMED, PHANTOMS, Draw, planted
from portrayal.audits.captions.world import Said, Scene, all_scenes, graph
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean

SCENES = 300
RATE = 0.5
# Fewer splits than in an audit: they give the paper's interval, which is not what is calibrated.
OPTIONS = Options(splits=20, bootstraps=200, permutations=999, object_types=20)
STREAM = 5  # of the seeds of `expected`, beside the stream of a calibration's own seeds
STUDIES = 4000
EXPECTED = {RATE: 2.6549}  # rate -> coefficient of the group for the dog, at SCENES scenes


class Case(NamedTuple):
    """One scene with one thing said of it."""

    probability: float
    scene: Scene
    said: Said


def cases(name: str, rate: float, human: bool = False) -> Iterator[Case]:
    """Yield all a phantom's system (or the people of its world) can say; the probabilities sum to one."""
    phantom = PHANTOMS[name]
    say = phantom.human if human else phantom.system
    for of_scene, scene in all_scenes(phantom.world):
        for of_words, said in sayings(partial(say, scene, rate)):
            yield Case(of_scene * of_words, scene, said)


def sayings(say: Callable[[Draw], Said]) -> Iterator[tuple[float, Said]]:
    """Yield whatever may be said, by going down both ways at every draw that is compared with a rate."""
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        path = _Path(pending.pop())
        said = say(cast(Draw, partial(_Number, path)))
        new = range(len(path.given), len(path.taken))
        pending += [(*path.taken[:place], not path.taken[place]) for place in new]
        if path.probability > 0:
            yield path.probability, said


class _Path:
    """The ways taken at each comparison: those given first, then always below."""

    def __init__(self, given: tuple[bool, ...]) -> None:
        self.given, self.taken, self.probability = given, list[bool](), 1.0

    def below(self, rate: float) -> bool:
        place = len(self.taken)
        self.taken.append(self.given[place] if place < len(self.given) else True)
        rate = min(max(rate, 0.0), 1.0)
        self.probability *= rate if self.taken[-1] else 1 - rate
        return self.taken[-1]


class _Number:
    """A number drawn between 0 and 1 of which only one thing is asked: whether it lies below a rate."""

    def __init__(self, path: _Path) -> None:
        self.path = path

    def __lt__(self, rate: Any) -> bool:
        return self.path.below(float(rate))


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


Flag = Callable[[Case], bool]


@dataclass(frozen=True)
class Truth:
    """The planted value, and which of the technique's rows in the system captions has to hold it."""

    value: float
    row: Mapping[str, str]


def truth(name: str, rate: float) -> Truth:
    """Return what a phantom plants at this rate; `TRUTHS` names those that plant anything."""
    row, value = TRUTHS[name]
    return Truth(value(rate), row)


def share(name: str, rate: float, flag: Flag, among: Flag = lambda case: True) -> float:
    """Return the share of a phantom's captions that are flagged, among some of them."""
    chosen = [case for case in cases(name, rate) if among(case)]
    return sum(case.probability for case in chosen if flag(case)) / sum(case.probability for case in chosen)


def omitted_difference(rate: float) -> float:
    """Return the share of people with darker skin not mentioned minus that of people with lighter skin."""

    def omitted(skin: str) -> float:
        name = "people not mentioned"
        return share(name, rate, lambda case: case.said.person is None, lambda case: case.scene.skin == skin)

    return omitted("darker") - omitted("lighter")


def tuple_distance(name: str, rate: float, kind: str, human: bool = False) -> float:
    """Return the summed squared differences of the genders' shares of captions with each tuple."""
    mentioned = [case for case in cases(name, rate, human) if case.said.person is not None]
    counts = {
        gender: _tuple_shares((case for case in mentioned if case.scene.gender == gender), kind)
        for gender in ("female", "male")
    }
    both = counts["female"].keys() | counts["male"].keys()
    return sum((counts["female"].get(t, 0.0) - counts["male"].get(t, 0.0)) ** 2 for t in both)


def _tuple_shares(mentioned: Iterable[Case], kind: str) -> dict[tuple, float]:
    """Share of captions with each tuple, people written as 'person' and undescribed."""
    total, found = 0.0, defaultdict[tuple, float](float)
    for case in mentioned:
        total += case.probability
        said = graph(replace(case.said, person="person", adjective=""))
        for each in set(getattr(said, f"{kind}s")):
            found[each if isinstance(each, tuple) else (each,)] += case.probability
    return {each: value / total for each, value in found.items()}


def looks_area(rate: float, gender: str) -> float:
    """Return the area under the curve of predicting the gender's noun from what is worn.

    The best prediction from looks is how often people who look so are called by the noun.
    """
    with_noun, all_told = defaultdict[tuple, float](float), defaultdict[tuple, float](float)
    for case in cases("looks predict the group term", rate):
        if case.scene.gender == gender:
            looks = (case.scene.worn,)
            all_told[looks] += case.probability
            with_noun[looks] += case.probability * (case.said.person != "person")
    scored = sorted((with_noun[looks] / p, with_noun[looks], p - with_noun[looks]) for looks, p in all_told.items())
    return _area([(round(score, 9), yes, no) for score, yes, no in scored])


def _area(scored: list[tuple[float, float, float]]) -> float:
    """The chance that one with the noun scores above one without, ties half; by score, weight with, weight without."""
    above = sum(
        yes * no * (0.5 if score == other else float(score > other))
        for score, yes, _ in scored
        for other, _, no in scored
    )
    return above / (sum(yes for _, yes, _ in scored) * sum(no for _, _, no in scored))


_OVERALL = {"group": "all"}
_SKIN = {"group": "darker", "versus": "lighter"}
TRUTHS: dict[str, tuple[Mapping[str, str], Callable[[float], float]]] = {
    "words included wrongly": (
        _OVERALL,
        lambda rate: share("words included wrongly", rate, lambda c: "purse" in c.said.things),
    ),
    "objects correctly mentioned": (
        {"quantity": stereotyping_objects.COEFFICIENT, "subject": "dog", "group": "female", "versus": "male"},
        lambda rate: EXPECTED[rate],
    ),
    "differing tuples": (
        {"quantity": "object tuples", "measure": "object tuples", "axis": "gender"},
        lambda rate: tuple_distance("differing tuples", rate, "object"),
    ),
    "differing tuples across stages": (
        {
            "quantity": "attribute tuples against human captions",
            "measure": "attribute tuples against human captions",
            "axis": "gender",
        },
        lambda rate: (
            tuple_distance("differing tuples across stages", rate, "attribute")
            - tuple_distance("differing tuples across stages", rate, "attribute", human=True)
        ),
    ),
    "demeaning words": (_OVERALL, lambda rate: share("demeaning words", rate, lambda c: c.said.adjective == "silly")),
    "people not mentioned": (_SKIN, omitted_difference),
    "context-specific harms": (
        _OVERALL,
        lambda rate: share("context-specific harms", rate, lambda c: c.said.person == "girl"),
    ),
    "identity adjectives used as nouns": (
        _OVERALL,
        lambda rate: share("identity adjectives used as nouns", rate, lambda c: c.said.person in ("female", "male")),
    ),
    "artifacts not recognised": (
        {"group": "disabled"},
        lambda rate: share(
            "artifacts not recognised",
            rate,
            lambda c: "wheelchair" not in c.said.things,
            lambda c: "wheelchair" in c.scene.things,
        ),
    ),
    "identity terms imposed": (
        _OVERALL,
        lambda rate: share("identity terms imposed", rate, lambda c: c.said.adjective == "elderly"),
    ),
    "looks predict the group term": ({"group": "female"}, lambda rate: looks_area(rate, "female")),
    "markedness": (_SKIN, lambda rate: NAMED),  # drawn by a hash of the scene, which cannot be gone through
    "group words wrong": (
        {"quantity": group_words.WRONG, "group": "female"},
        lambda rate: share(
            "group words wrong", rate, lambda c: c.said.person == "man", lambda c: c.scene.gender == "female"
        ),
    ),
    "group never named": (
        {"quantity": group_words.NEUTRAL, "group": "female"},
        lambda rate: share("group never named", rate, lambda c: c.said.person == "person"),
    ),
}

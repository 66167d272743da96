"""Everything a phantom captioner can say of every scene its world can have, each with its probability.

What a phantom plants follows from this exactly: expectations over the finite world it lives in, worked out with the
phantom's own code and not beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

from portrayal.audits.captions.phantom import PHANTOMS, Draw, Said
from portrayal.audits.captions.scenes import Scene, all_scenes


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

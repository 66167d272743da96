"""One declared test on one system: its stimuli, their vectors, and the Results rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.audits.associations.measures.authors import PROCEDURE, authors_p
from portrayal.audits.associations.measures.comparison import compare, person_differences
from portrayal.audits.associations.measures.declaration import SETS, AssociationTest, TestSettings
from portrayal.audits.associations.measures.eat import scweat
from portrayal.audits.associations.measures.effect import association
from portrayal.audits.associations.stimulus_sets import Item
from portrayal.errors import PortrayalError
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE

Embeddings = Mapping[str, np.ndarray]
FEWEST = 2
UNPAIRED = "the paper's test: people who stand in X and in Y are taken as different people"


@dataclass(frozen=True)
class TestOnSystem:
    """A test, a system's vectors, and the article of the main specification."""

    system: str
    test: AssociationTest
    embeddings: Embeddings
    article: str

    def asked(self, name: str) -> list[Item]:
        """Return a set's items in the main specification: every prompt, with the article asked for."""
        return [item for item in self.test.items(name) if item.is_spelt(self.article)]

    def found(self, name: str) -> list[Item]:
        """Return those that have a vector."""
        return [item for item in self.asked(name) if item.content in self.embeddings]

    def missing(self) -> list[dict[str, Any]]:
        """Return one row per stimulus without a vector."""
        return [
            {
                "system": self.system,
                "test": self.test.name,
                "set": self.called(name),
                "of": len(self.asked(name)),
                "stimulus": item.content,
            }
            for name in SETS
            for item in self.asked(name)
            if item.content not in self.embeddings
        ]

    def rows(self, settings: TestSettings, seed: int, strict: bool) -> list[dict[str, Any]]:
        """Return the test's row, that without pairs and that of the paper's procedure."""
        about = self._about(settings)
        if (short := self._short()) is not None:
            if strict:
                raise PortrayalError(self._refusal(short))
            reason = f"{self._words(short)} left, and a test needs two on a side"
            return [{**about, "decision": NOT_MEASURABLE, "reason": reason, "note": f"not computed: {reason}"}]
        row = {**self._row(settings, seed, self._people()), **about}
        return [row, *self._second_looks(settings, seed, about)]

    def _second_looks(self, settings: TestSettings, seed: int, about: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the same pictures tested as others test them, for comparison: outside the family."""
        repeated, paper = self._people() is not None and settings.unpaired, settings.procedure == "wolfe2023"
        if not self.test.y or not (repeated or paper):
            return []
        free = {**self._row(settings, seed, None), **about, "family": EXPLORATORY}
        looks = []
        if repeated:
            looks.append({**free, "measure": "eat_unpaired", "note": f"{UNPAIRED}; {free['note']}"})
        if paper:
            x, y, a, b = self._matrices()
            p = authors_p(association(x, a, b), association(y, a, b), seed)
            looks.append({**free, "measure": "eat_published", "p": p, "sided": "one-sided", "note": PROCEDURE})
        return looks

    def differences(self) -> dict[str, float]:
        """Return each person's mean association in X less that in Y."""
        people = self._people()
        if people is None:
            return {}
        x, y, a, b = self._matrices()
        return person_differences(association(x, a, b), association(y, a, b), people)

    def called(self, name: str) -> str:
        """Return what a set is called."""
        return str(getattr(self.test, f"{name}_name"))

    def _matrices(self) -> list[np.ndarray]:
        return [np.array([self.embeddings[item.content] for item in self.found(name)]) for name in SETS]

    def _row(self, settings: TestSettings, seed: int, people: np.ndarray | None) -> dict[str, Any]:
        options: dict[str, Any] = {
            "alternative": settings.alternative,
            "permutations": settings.permutations,
            "ddof": settings.ddof,
            "seed": seed,
        }
        x, y, a, b = self._matrices()
        if self.test.y:
            row = compare(association(x, a, b), association(y, a, b), people=people, **options).row("eat")
        else:
            row = scweat(x, a, b, **options).row(0, named=True)
        return {**row, "note": f"stimuli left: {self._left()}; {row['note']}"}

    def _about(self, settings: TestSettings) -> dict[str, Any]:
        """Return the row's columns, with the units (targets, people, attributes) that are there and missing."""
        sides = ("x", "y") if self.test.y else ("a", "b")
        n, asked = (len({self._unit(item) for name in sides for item in of(name)}) for of in (self.found, self.asked))
        return {
            "audit": "associations",
            "system": self.system,
            "measure": self.test.measure,
            **self.test.about,
            "sided": "two-sided" if settings.alternative == "two-sided" else "one-sided",
            "n": n,
            "counted": self._counted(),
            "n_missing": asked - n,
            "unit": "d",
        }

    def _unit(self, item: Item) -> str:
        return item.cluster if self.test.y and item.cluster is not None else item.content

    def _counted(self) -> str:
        """Say what the units are: people, prompts of one word, words, texts or pictures."""
        items = self.test.items("x" if self.test.y else "a")
        if self.test.y and items[0].cluster is not None:
            return "targets" if items[0].cluster == items[0].stem else "people"
        if items[0].kind == "image":
            return "pictures"
        return "words" if not any(" " in item.content for item in items) else "texts"

    def _people(self) -> np.ndarray | None:
        """Return the person of each target, x first, where the study names them."""
        people = [item.cluster for name in ("x", "y") for item in self.found(name)]
        return np.array(people) if self.test.y and None not in people else None

    def _short(self) -> str | None:
        """Return a set with too few stimuli left."""
        least = {"x": FEWEST if self.test.y else 1, "y": FEWEST if self.test.y else 0, "a": FEWEST, "b": FEWEST}
        return next((name for name, few in least.items() if len(self.found(name)) < few), None)

    def _words(self, name: str) -> str:
        return f"{len(self.found(name))} of {len(self.asked(name))} {self.called(name)}"

    def _left(self) -> str:
        sizes = [(name.upper(), len(self.found(name)), len(self.asked(name))) for name in SETS]
        return ", ".join(f"{name} {found} of {asked}" for name, found, asked in sizes if asked)

    def _refusal(self, name: str) -> str:
        return (
            f"{self.system}: test {self.test.name!r} has {self._words(name)} left. A test needs two on a side; leave it "
            'out of the study, use another encoder, or set too_few = "report".'
        )

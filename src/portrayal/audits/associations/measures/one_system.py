"""One declared test on one system: what was asked, what has a vector, and the Results rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.audits.associations.measures.declaration import SETS, AssociationTest, TestSettings
from portrayal.audits.associations.measures.eat import eat, scweat
from portrayal.audits.associations.stimulus_sets import Item
from portrayal.errors import PortrayalError

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
        return [item for item in self.test.items(name) if item.article in (self.article, "same")]

    def found(self, name: str) -> list[Item]:
        """Return those that have a vector."""
        return [item for item in self.asked(name) if item.content in self.embeddings]

    def missing(self) -> list[dict[str, Any]]:
        """Return one row per stimulus without a vector."""
        about = {"system": self.system, "test": self.test.name}
        return [
            {**about, "set": name.upper(), "stimulus": item.content}
            for name in SETS
            for item in self.asked(name)
            if item.content not in self.embeddings
        ]

    def rows(self, settings: TestSettings, seed: int, strict: bool) -> list[dict[str, Any]]:
        """Return the row of the test, and that of the unpaired test where people repeat.

        Raises
        ------
        PortrayalError
            When a set is left with too few stimuli and `strict` is true.
        """
        if (short := self._short()) is not None:
            if strict:
                raise PortrayalError(self._refusal(short))
            note = f"not computed: {self._words(short)}; a test needs two on a side"
            return [{**self._about(), "measure": self.test.measure, "value": None, "note": note}]
        row = self._row(settings, seed, self._people())
        if self._people() is None:
            return [row]
        free = self._row(settings, seed, None)
        return [row, {**free, "measure": "eat_unpaired", "note": f"{UNPAIRED}; {free['note']}"}]

    def _row(self, settings: TestSettings, seed: int, people: list[list[Any]] | None) -> dict[str, Any]:
        matrices = [np.array([self.embeddings[item.content] for item in self.found(name)]) for name in SETS]
        options: dict[str, Any] = {
            "alternative": settings.alternative,
            "permutations": settings.permutations,
            "ddof": settings.ddof,
            "seed": seed,
        }
        x, _, a, b = matrices
        table = eat(*matrices, cluster=people, **options) if self.test.y else scweat(x, a, b, **options)
        row = table.row(0, named=True)
        note = f"stimuli left: {self._left()}; {row['note']}"
        return {**row, **self._about(), "measure": self.test.measure, "note": note}

    def _about(self) -> dict[str, Any]:
        """Return who was tested and how many of the resampled stimuli there are and are missing."""
        sides = ("x", "y") if self.test.y else ("a", "b")
        n, asked = (sum(len(of(name)) for name in sides) for of in (self.found, self.asked))
        named = {"audit": "associations", "system": self.system, "group": self.test.name}
        return {**named, "contrast": self.test.contrast, "n": n, "n_missing": asked - n, "unit": "d"}

    def _people(self) -> list[list[Any]] | None:
        """Return who each target shows, where the study says so for all."""
        people = [[item.cluster for item in self.found(name)] for name in ("x", "y")]
        known = bool(self.test.y) and all(person is not None for side in people for person in side)
        return people if known else None

    def _short(self) -> str | None:
        """Return a set with too few stimuli left; the target of a single-category test may be one."""
        least = {
            "x": FEWEST if self.test.y else 1,
            "y": FEWEST if self.test.y else 0,
            "a": FEWEST,
            "b": FEWEST,
        }
        return next((name for name, few in least.items() if len(self.found(name)) < few), None)

    def _words(self, name: str) -> str:
        called = {"x": self.test.x_name, "y": self.test.y_name, "a": self.test.a_name, "b": self.test.b_name}
        return f"{len(self.found(name))} of {len(self.asked(name))} stimuli left in {name.upper()} ({called[name]})"

    def _left(self) -> str:
        sizes = [(name.upper(), len(self.found(name)), len(self.asked(name))) for name in SETS]
        return ", ".join(f"{name} {found} of {asked}" for name, found, asked in sizes if asked)

    def _refusal(self, name: str) -> str:
        return (
            f"{self.system}: test {self.test.name!r} has {self._words(name)}. A test needs two on a side; leave it out "
            'of the study, use another encoder, or set too_few = "report".'
        )

"""Every declared test on every system, from recorded embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.authors import PROCEDURE, authors_p
from portrayal.audits.associations.measures.comparison import compare, person_differences
from portrayal.audits.associations.measures.declaration import FACETS, SETS, AssociationTest, declared_test
from portrayal.audits.associations.measures.eat import scweat
from portrayal.audits.associations.measures.effect import association
from portrayal.audits.associations.measures.people import differences_table
from portrayal.audits.associations.measures.variants import variants
from portrayal.audits.associations.settings import AssociationsSettings
from portrayal.audits.associations.stimulus_sets import Item, first_of
from portrayal.engine import engine_map
from portrayal.errors import PortrayalError
from portrayal.run.silence import silent_systems
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE
from portrayal.study.audit import Evidence, Measured
from portrayal.tables import ANSWERED, results
from portrayal.text.formatting import listed

NAMED = 6  # missing stimuli a warning names
SIGNS = {"greater": 1.0, "less": -1.0}  # what a one-sided test claims
FEWEST = 2  # stimuli on a side
UNPAIRED = "the paper's test: people who stand in X and in Y are taken as different people"

Rows = list[dict[str, Any]]


def measure(evidence: Evidence, settings: AssociationsSettings) -> Measured:
    """Compute all tests of `evidence.inputs['tests']` for every system that answered.

    Measures: `eat` or `scweat`, `eat_unpaired` where people repeat, `eat_published` by the paper's procedure. Tables: `tests`
    (declared), `missing` (stimuli without a vector) and `specifications`.
    """
    tests = [declared_test(test) for test in evidence.inputs["tests"]]
    silent, embeddings, cases = silent_systems(evidence.responses), {}, []
    for system in evidence.responses["system"].unique().sort():
        answers = evidence.responses.filter(pl.col("system") == system)
        embeddings[system] = read_embeddings(answers, system)
        # Where questions are still open or failed, a small test is unfinished work, not a fault.
        complete = answers["status"].is_in(ANSWERED).all() and system not in silent
        cases += [(system, place, settings.too_few == "error" and complete) for place in range(len(tests))]
    tester = partial(_tester, embeddings, tests, settings, evidence.seed)
    outcomes = list(engine_map(tester, cases, "test", keeps=()))
    rows, absent, curves = ([row for outcome in outcomes for row in outcome[part]] for part in range(3))
    text = dict.fromkeys(("system", "test", "set"), pl.String)
    tables = {
        "tests": _declared(tests),
        "missing": pl.DataFrame(absent, schema={**text, "of": pl.Int64, "stimulus": pl.String}),
    }
    if curves:
        tables["specifications"] = pl.DataFrame(curves, infer_schema_length=None)
    shared = differences_table(rows).with_columns(one_sided=pl.lit(settings.alternative != "two-sided"))
    return Measured(
        results(rows, facets=FACETS),
        tables,
        differences=None if shared.is_empty() else shared,
        remarks=_without_vector(tables["missing"], rows),
    )


def _tester(
    embeddings: Mapping[str, Mapping[str, np.ndarray]],
    tests: Sequence[AssociationTest],
    settings: AssociationsSettings,
    seed: int,
) -> Callable[[tuple[str, int, bool]], tuple[Rows, Rows, Rows]]:
    """Return a function of system, test number, and whether small tests are errors."""

    def outcome(job: tuple[str, int, bool]) -> tuple[Rows, Rows, Rows]:
        system, place, strict = job
        case = TestOnSystem(system, tests[place], embeddings[system], settings, seed)
        rows = case.rows(strict)
        value = rows[0].get("value")
        if value is None:
            return rows, case.missing(), []
        sign = SIGNS.get(settings.alternative) or float(np.sign(value))
        curve = variants(case.test, case.embeddings, settings, sign, seed)
        return rows, case.missing(), [{"system": system, "test": case.test.name, **row} for row in curve]

    return outcome


@dataclass(frozen=True)
class TestOnSystem:
    """A test on one system, with the settings of its study."""

    system: str
    test: AssociationTest
    embeddings: Mapping[str, np.ndarray]
    settings: AssociationsSettings
    seed: int

    @cached_property
    def sets(self) -> dict[str, list[Item]]:
        """The sets of the main specification: every prompt, with the article asked for."""
        article = self.settings.article
        return {name: [item for item in self.test.items(name) if item.is_spelt(article)] for name in SETS}

    @cached_property
    def left(self) -> dict[str, list[Item]]:
        """The items that have a vector."""
        return {name: [item for item in own if item.content in self.embeddings] for name, own in self.sets.items()}

    def missing(self) -> Rows:
        """Return one row per stimulus without a vector."""
        about = {"system": self.system, "test": self.test.name}
        return [
            {**about, "set": self.test.called(name), "of": len(items), "stimulus": item.content}
            for name, items in self.sets.items()
            for item in items
            if item.content not in self.embeddings
        ]

    def rows(self, strict: bool) -> Rows:
        """Return the test's row, that without pairs and that of the paper's procedure."""
        about, test, people = self._about(), self.test, self._people()
        least = {"x": FEWEST if test.y else 1, "y": FEWEST if test.y else 0, "a": FEWEST, "b": FEWEST}
        short = next((name for name, few in least.items() if len(self.left[name]) < few), None)
        if short is not None:
            left = f"{len(self.left[short])} of {len(self.sets[short])} {test.called(short)} left"
            if strict:
                raise PortrayalError(
                    f"{self.system}: test {test.name!r} has {left}. A test needs two on a side; leave it "
                    'out of the study, use another encoder, or set too_few = "report".'
                )
            reason = f"{left}, and a test needs two on a side"
            return [{**about, "decision": NOT_MEASURABLE, "reason": reason, "note": f"not computed: {reason}"}]
        row = {**self._row(people), **about}
        if people is not None and row["value"] is not None:
            # One-sided flips look above 0: a test that looks below has its differences turned round.
            turn = -1.0 if self.settings.alternative == "less" else 1.0
            differences = person_differences(*self._associations(), people)
            row["differences"] = {person: turn * difference for person, difference in differences.items()}
        return [row, *self._second_looks(about, people)]

    def _second_looks(self, about: Mapping[str, Any], people: np.ndarray | None) -> Rows:
        """Return the same pictures tested as others test them, for comparison: outside the family."""
        repeated, paper = people is not None and self.settings.unpaired, self.settings.procedure == "wolfe2023"
        if not self.test.y or not (repeated or paper):
            return []
        free = {**self._row(None), **about, "family": EXPLORATORY}
        looks = []
        if repeated:
            looks.append({**free, "measure": "eat_unpaired", "note": f"{UNPAIRED}; {free['note']}"})
        if paper:
            p = authors_p(*self._associations(), self.seed)
            looks.append({**free, "measure": "eat_published", "p": p, "sided": "one-sided", "note": PROCEDURE})
        return looks

    def _matrices(self) -> list[np.ndarray]:
        return [np.array([self.embeddings[item.content] for item in self.left[name]]) for name in SETS]

    def _associations(self) -> tuple[np.ndarray, np.ndarray]:
        x, y, a, b = self._matrices()
        return association(x, a, b), association(y, a, b)

    def _row(self, people: np.ndarray | None) -> dict[str, Any]:
        options = {name: getattr(self.settings, name) for name in ("alternative", "permutations", "ddof")}
        options["seed"] = self.seed
        if self.test.y:
            row = compare(*self._associations(), people=people, **options).row("eat")
        else:
            x, _, a, b = self._matrices()
            row = scweat(x, a, b, **options).row(0, named=True)
        left = ", ".join(
            f"{name.upper()} {len(self.left[name])} of {len(own)}" for name, own in self.sets.items() if own
        )
        return {**row, "note": f"stimuli left: {left}; {row['note']}"}

    def _about(self) -> dict[str, Any]:
        """Return the row's columns, with the units (targets, people, attributes) that are there and missing."""
        paired = bool(self.test.y)
        n, n_asked = (
            len(
                {
                    (item.cluster if paired else None) or item.content
                    for name in ("xy" if paired else "ab")
                    for item in sets[name]
                }
            )
            for sets in (self.left, self.sets)
        )
        return {
            "audit": "associations",
            "system": self.system,
            "measure": "eat" if paired else "scweat",
            **self.test.about,
            "sided": "two-sided" if self.settings.alternative == "two-sided" else "one-sided",
            "n": n,
            "counted": self._counted(),
            "n_missing": n_asked - n,
            "unit": "d",
        }

    def _counted(self) -> str:
        """Return the units: people, prompts of one word, words, texts or pictures."""
        items = self.test.items("x" if self.test.y else "a")
        if self.test.y and items[0].cluster is not None:
            return "targets" if items[0].cluster == items[0].stem else "people"
        if items[0].kind == "image":
            return "pictures"
        return "words" if not any(" " in item.content for item in items) else "texts"

    def _people(self) -> np.ndarray | None:
        """Return the person of each target, x first, where the study names them."""
        people = [item.cluster for name in ("x", "y") for item in self.left[name]]
        return np.array(people) if self.test.y and None not in people else None


def read_embeddings(responses: pl.DataFrame, system: str) -> dict[str, np.ndarray]:
    """Return one vector per stimulus that was answered, the mean over repeats."""
    answered = responses.filter(pl.col("status") == "answered").select("stimulus", "embedding")
    widths = answered["embedding"].list.len().unique().to_list()
    if len(widths) > 1:
        raise PortrayalError(
            f"system {system!r} answered with vectors of widths {sorted(widths)}. An encoder has one width."
        )
    by_stimulus: dict[str, list[np.ndarray]] = {}
    for stimulus, numbers in answered.iter_rows():
        vector = np.asarray(numbers, dtype=float)
        if not np.isfinite(vector).all() or not vector.any():
            raise PortrayalError(
                f"system {system!r} answered {stimulus!r} with a vector of NaN or of length zero. Mend the encoder."
            )
        by_stimulus.setdefault(stimulus, []).append(vector)
    return {stimulus: np.mean(vectors, axis=0) for stimulus, vectors in by_stimulus.items()}


def _declared(tests: Sequence[AssociationTest]) -> pl.DataFrame:
    columns = ("name", "x_name", "y_name", "a_name", "b_name", "harm", "in_study")
    schema = {"test" if column == "name" else column: pl.String for column in columns}
    return pl.DataFrame([[getattr(test, column) for column in columns] for test in tests], schema, orient="row")


def _without_vector(missing: pl.DataFrame, rows: Rows) -> list[str]:
    """Say for each system and test which stimuli of which side have no vector."""
    without_value = {(row["system"], row["test"]) for row in rows if row.get("value") is None}
    remarks = []
    for (system, test), absent in missing.group_by("system", "test", maintain_order=True):
        sides = [
            f"{part.height} of {part['of'][0]} {side} ({first_of(part['stimulus'].to_list(), NAMED)})"
            for (side,), part in absent.group_by("set", maintain_order=True)
        ]
        how = "is not computed: it lacks" if (system, test) in without_value else "is computed without"
        remarks.append(f"{system}: {test} {how} {listed(sides)}: no vector.")
    return remarks

"""Every declared test on every system, from recorded embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.declaration import FACETS, AssociationTest, TestSettings, declared_test
from portrayal.audits.associations.measures.one_system import TestOnSystem
from portrayal.audits.associations.measures.variants import variants
from portrayal.engine import engine_map
from portrayal.errors import PortrayalError
from portrayal.run.silence import silent_systems
from portrayal.study.audit import Evidence, Measured
from portrayal.tables import ANSWERED, results
from portrayal.text.formatting import listed

NAMED = 6  # missing stimuli a warning names
SIGNS = {"greater": 1.0, "less": -1.0}  # what a one-sided test claims


def measure(evidence: Evidence, settings: TestSettings) -> Measured:
    """Compute all tests of `evidence.inputs['tests']` for every system that answered.

    Measures: `eat` or `scweat`, `eat_unpaired` where people repeat, `eat_published` by the paper's procedure. Tables: `tests`
    (declared), `missing` (stimuli without a vector) and `specifications`.
    """
    tests = [declared_test(test) for test in evidence.inputs["tests"]]
    silent, embeddings, asked = silent_systems(evidence.responses), {}, []
    for system in evidence.responses["system"].unique().sort():
        answers = evidence.responses.filter(pl.col("system") == system)
        embeddings[system] = read_embeddings(answers, system)
        # Where questions are still open or failed, a small test is unfinished work, not a fault.
        said = answers["status"].is_in(ANSWERED).all() and system not in silent
        asked += [(system, place, settings.too_few == "error" and said) for place in range(len(tests))]
    found = _Found()
    tester = partial(_tester, embeddings, tests, settings, evidence.seed)
    for one in engine_map(tester, asked, "test", keeps=(_One,)):
        found.add(one)
    return found.measured(tests, settings.alternative)


def _tester(
    embeddings: Mapping[str, Mapping[str, np.ndarray]],
    tests: Sequence[AssociationTest],
    settings: TestSettings,
    seed: int,
) -> Callable[[tuple[str, int, bool]], _One]:
    """Return a function of system, test number, and whether small tests are errors."""

    def tested(asked: tuple[str, int, bool]) -> _One:
        system, place, strict = asked
        case = TestOnSystem(system, tests[place], embeddings[system], settings.article)
        rows = case.rows(settings, seed, strict)
        if rows[0].get("value") is None:
            return _One(rows, case.missing())
        sign = SIGNS.get(settings.alternative) or float(np.sign(rows[0]["value"]))
        curve = variants(case.test, case.embeddings, settings, sign, seed)
        named = {"system": case.system, "test": case.test.name}
        # One-sided flips look above 0: a test that looks below has its differences turned round.
        turn = -1.0 if settings.alternative == "less" else 1.0
        differences = {person: turn * difference for person, difference in case.differences().items()}
        return _One(rows, case.missing(), [{**named, **row} for row in curve], differences)

    return tested


class _One(NamedTuple):
    """Outcome of one test on one system."""

    rows: list[dict[str, Any]]
    missing: list[dict[str, Any]]
    curve: Sequence[dict[str, Any]] = ()
    differences: Mapping[str, float] = {}


@dataclass
class _Found:
    """Outcomes of the tests so far."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)
    specified: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    without_value: set[tuple[str, str]] = field(default_factory=set)  # tests left too small to be computed

    def add(self, one: _One) -> None:
        """Add one test on one system."""
        self.missing += one.missing
        if one.rows[0].get("value") is None:
            self.without_value |= {(row["system"], row["test"]) for row in one.missing}
        self.specified += one.curve
        self.differences += [
            {"row": len(self.rows), "unit": person, "difference": difference}
            for person, difference in one.differences.items()
        ]
        self.rows += one.rows

    def measured(self, tests: Sequence[AssociationTest], alternative: str) -> Measured:
        """Return all of it as tables."""
        text = dict.fromkeys(("system", "test", "set"), pl.String)
        absent = pl.DataFrame(self.missing, schema={**text, "of": pl.Int64, "stimulus": pl.String})
        tables = {"tests": _declared(tests), "missing": absent}
        if self.specified:
            tables["specifications"] = pl.DataFrame(self.specified, infer_schema_length=None)
        shared = pl.DataFrame(self.differences) if self.differences else None
        if shared is not None:
            shared = shared.with_columns(one_sided=pl.lit(alternative != "two-sided"))
        return Measured(
            results(self.rows, facets=FACETS),
            tables,
            differences=shared,
            remarks=_without_vector(absent, self.without_value),
        )


def read_embeddings(responses: pl.DataFrame, system: str = "") -> dict[str, np.ndarray]:
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


def _without_vector(missing: pl.DataFrame, without_value: set[tuple[str, str]]) -> list[str]:
    """Say for each system and test which stimuli of which side have no vector."""
    said = []
    for (system, test), rows in missing.group_by("system", "test", maintain_order=True):
        sides = [
            f"{part.height} of {part['of'][0]} {side} ({_named(part['stimulus'].to_list())})"
            for (side,), part in rows.group_by("set", maintain_order=True)
        ]
        how = "is not computed: it lacks" if (system, test) in without_value else "is computed without"
        said.append(f"{system}: {test} {how} {listed(sides)}: no vector.")
    return said


def _named(words: list[str]) -> str:
    more = [f"{len(words) - NAMED} more"] if len(words) > NAMED else []
    return listed([*words[:NAMED], *more])

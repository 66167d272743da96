"""Every declared test on every system, from recorded embeddings: Results rows, what is missing, the variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.declaration import AssociationTest, TestSettings, declared_test
from portrayal.audits.associations.measures.one_system import TestOnSystem
from portrayal.audits.associations.measures.variants import variants
from portrayal.errors import PortrayalError
from portrayal.runs.audit import Evidence, Measured
from portrayal.tables import ANSWERED, results


def measure(evidence: Evidence, settings: TestSettings) -> Measured:
    """Compute all tests of `evidence.inputs['tests']` for every system that answered.

    Parameters
    ----------
    evidence
        Responses of encoders, and under `inputs['tests']` the declared tests.
    settings
        Alternative, permutations, ddof, article, variants and what to do with a test left too small.

    Returns
    -------
    Measured
        One row a system and test (`eat` or `scweat`, and `eat_unpaired` where people repeat), and the tables
        `tests` (what was declared), `missing` (stimuli without a vector) and `specifications`.
    """
    tests = [declared_test(test) for test in evidence.inputs["tests"]]
    rows: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    specified: list[dict[str, Any]] = []
    for system in evidence.responses["system"].unique().sort():
        answers = evidence.responses.filter(pl.col("system") == system)
        embeddings = read_embeddings(answers, system)
        # Where questions are still open or failed, a small test is unfinished work, not a fault.
        strict = settings.too_few == "error" and answers["status"].is_in(ANSWERED).all()
        for test in tests:
            case = TestOnSystem(system, test, embeddings, settings.article)
            missing += case.missing()
            found = case.rows(settings, evidence.seed, strict)
            rows += found
            if found[0]["value"] is not None:
                specified += variants(system, test, embeddings, settings, evidence.seed)
    return _measured(tests, rows, missing, specified)


def _measured(
    tests: Sequence[AssociationTest],
    rows: list[dict[str, Any]],
    missing: list[dict[str, Any]],
    specified: list[dict[str, Any]],
) -> Measured:
    absent = pl.DataFrame(missing, schema=dict.fromkeys(("system", "test", "set", "stimulus"), pl.String))
    tables = {"tests": _declared(tests), "missing": absent}
    if specified:
        tables["specifications"] = pl.DataFrame(specified, infer_schema_length=None)
    return Measured(results(rows), tables, _warnings(absent))


def read_embeddings(responses: pl.DataFrame, system: str = "") -> dict[str, np.ndarray]:
    """Return one vector per stimulus that was answered, the mean over repeats.

    Raises
    ------
    PortrayalError
        When the vectors of one system differ in width, hold NaN or have length zero.
    """
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
    columns = ("name", "x_name", "y_name", "a_name", "b_name", "harm")
    schema = {"test" if column == "name" else column: pl.String for column in columns}
    return pl.DataFrame(
        [[getattr(test, column) for column in columns] for test in tests], schema, orient="row"
    )


def _warnings(missing: pl.DataFrame) -> list[str]:
    """Say for each system and test which stimuli have no vector."""
    warnings = []
    for (system, test), rows in missing.group_by("system", "test", maintain_order=True):
        words = rows["stimulus"].to_list()
        more = f" and {len(words) - 6} more" if len(words) > 6 else ""
        warnings.append(f"{system}: {test} is computed without {', '.join(words[:6])}{more} (no vector).")
    return warnings

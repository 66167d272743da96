"""Every declared test on every system, from recorded embeddings: Results rows, what is missing, the variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.base import Evidence, Measured
from portrayal.errors import PortrayalError
from portrayal.measures.associations.declaration import SETS, AssociationTest, TestSettings
from portrayal.measures.associations.eat import eat, scweat, unpaired_p
from portrayal.measures.associations.variants import variants
from portrayal.stimuli.stimulus_sets import Item
from portrayal.tables import results

Embeddings = Mapping[str, np.ndarray]
FEWEST = 2
# The encoder has spoken. Where questions are still open or failed, a small test is unfinished work, not a fault.
SAID = ("answered", "empty")


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
    tests: Sequence[AssociationTest] = evidence.inputs["tests"]
    systems = evidence.responses["system"].unique(maintain_order=True).sort().to_list()
    rows: list[dict[str, Any]] = []
    missing: list[dict[str, Any]] = []
    specified: list[dict[str, Any]] = []
    for system in systems:
        answers = evidence.responses.filter(pl.col("system") == system)
        embeddings = read_embeddings(answers, system)
        strict = settings.too_few == "error" and answers["status"].is_in(SAID).all()
        for test in tests:
            missing += _missing(system, test, embeddings, settings)
            found = _test_rows(system, test, embeddings, settings, evidence.seed, strict)
            rows += found
            if found[0]["value"] is not None:
                specified += variants(system, test, embeddings, settings, evidence.seed)
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


def chosen(items: Sequence[Item], article: str) -> list[Item]:
    """Return the items of the main specification: every prompt, with the article asked for."""
    return [item for item in items if item.article in (article, "same")]


def _test_rows(
    system: str,
    test: AssociationTest,
    embeddings: Embeddings,
    settings: TestSettings,
    seed: int,
    strict: bool,
) -> list[dict[str, Any]]:
    """Return the row of a test, and that of its unpaired p where people repeat."""
    asked = {name: chosen(test.items(name), settings.article) for name in SETS}
    found = {name: [item for item in asked[name] if item.content in embeddings] for name in SETS}
    resampled, fixed = (("x", "y"), ("a", "b")) if test.y else (("a", "b"), ("x",))
    about = {"audit": "associations", "system": system, "group": test.name, "contrast": test.contrast}
    counts = {
        "n": sum(len(found[name]) for name in resampled),
        "n_missing": sum(len(asked[name]) - len(found[name]) for name in resampled),
        "unit": "d",
    }
    left = "stimuli left: " + ", ".join(
        f"{name.upper()} {len(found[name])} of {len(asked[name])}" for name in SETS if asked[name]
    )
    short = [n for n in (*resampled, *fixed) if len(found[n]) < (FEWEST if n in resampled or test.y else 1)]
    if short:
        return [
            {
                **about,
                "measure": test.measure,
                "value": None,
                **counts,
                "note": _too_few(system, test, short[0], found, asked, strict),
            }
        ]
    row = _computed(test, found, embeddings, settings, seed)
    note = f"{left}; {row['note']}"
    rows = [{**row, **about, **counts, "measure": test.measure, "note": note}]
    if (free := unpaired_p(row["note"])) is not None:
        also = {
            "measure": "eat_unpaired",
            "p": free,
            "note": f"{left}; the paper's p: people who stand in X and in Y are taken as different people",
        }
        rows.append({**rows[0], **also, "low": None, "high": None})
    return rows


def _computed(
    test: AssociationTest,
    found: Mapping[str, Sequence[Item]],
    embeddings: Embeddings,
    settings: TestSettings,
    seed: int,
) -> dict[str, Any]:
    matrices = {name: np.array([embeddings[item.content] for item in found[name]]) for name in SETS}
    options: dict[str, Any] = {
        "alternative": settings.alternative,
        "permutations": settings.permutations,
        "ddof": settings.ddof,
        "seed": seed,
    }
    if not test.y:
        return scweat(matrices["x"], matrices["a"], matrices["b"], **options).row(0, named=True)
    people = [[item.cluster for item in found[name]] for name in ("x", "y")]
    known = all(person is not None for side in people for person in side)
    table = eat(*(matrices[name] for name in SETS), cluster=people if known else None, **options)
    return table.row(0, named=True)


def _too_few(
    system: str,
    test: AssociationTest,
    name: str,
    found: Mapping[str, Sequence[Item]],
    asked: Mapping[str, Sequence[Item]],
    strict: bool,
) -> str:
    words = f"{len(found[name])} of {len(asked[name])} stimuli left in {name.upper()} ({getattr(test, name + '_name')})"
    if strict:
        raise PortrayalError(
            f"{system}: test {test.name!r} has {words}. A test needs two on a side; leave it out of the study, use "
            'another encoder, or set too_few = "report".'
        )
    return f"not computed: {words}; a test needs two on a side"


def _missing(
    system: str, test: AssociationTest, embeddings: Embeddings, settings: TestSettings
) -> list[dict[str, Any]]:
    return [
        {"system": system, "test": test.name, "set": name.upper(), "stimulus": item.content}
        for name in SETS
        for item in chosen(test.items(name), settings.article)
        if item.content not in embeddings
    ]


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

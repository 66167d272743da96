"""Measures of more series than memory holds, folded over parts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.counterfactuals.measures.axis import axes_of, with_poles
from portrayal.audits.counterfactuals.measures.presence import FACTORS, blocks
from portrayal.audits.counterfactuals.measures.rows import FACETS, axis_rows
from portrayal.audits.counterfactuals.measures.sums import Sums, add_up
from portrayal.tables import RESPONSES, ROWS, results
from portrayal.tables.batches import parts
from portrayal.tables.folds import Fold, run_folds

TABLES = {"stimuli": FACTORS, "responses": {**RESPONSES, **ROWS["tagger"]}}


def label_shares(folder: Path | str) -> pl.DataFrame:
    """Measure taggers on more series of faces than memory holds.

    Parameters
    ----------
    folder
        Holds `stimuli/` and `responses/` of Parquet files, with the columns that `label_slopes` takes. Files of one name are a part:
        they hold the same people, whole, and a part fits in memory.

    Returns
    -------
    polars.DataFrame
        A Results table with the rows of a counterfactuals audit that are sums over people (docs/counterfactuals_settings.md lists
        them), the same as in memory: counts equal, floats within 1e-12. There is no p of a slope: its test flips every person's series.

    Raises
    ------
    PortrayalError
        When a person is in two parts, a part lacks a file, or parts differ in their steps.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from portrayal import label_shares
    >>> steps = pl.DataFrame([{"stimulus": f"{who}{value:+}", "picture": who, "person": who, "attribute": "gender",
    ...     "condition": "edited", "value": float(value)} for who in "abc" for value in (-1, 0, 1)])
    >>> answers = [{"system": "s", "stimulus": name, "repeat": 0, "status": "answered", "tag": "nurse" if "-" not in name else "face",
    ...     "confidence": 0.9} for name in steps["stimulus"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, table in (("stimuli", steps), ("responses", pl.DataFrame(answers))):
    ...         (Path(folder) / name).mkdir()
    ...         table.write_parquet(Path(folder) / name / "0.parquet")
    ...     shares = label_shares(folder)
    >>> shares.filter(measure="slope", label="nurse").select("value", "n").row(0)
    (0.5, 3)
    """
    table: pl.DataFrame = run_folds([FOLD], lambda: parts(Path(folder), TABLES, "person"))[FOLD.name]
    return table


def _sum_part(tables: Mapping[str, pl.DataFrame], _: Any) -> dict[str, dict[Any, Any]]:
    """Return the people and images asked by axis, and sums by system and axis."""
    edited = with_poles(tables["stimuli"].filter(pl.col("condition") == "edited"))
    images = {axis: edited.filter(axis.where()).select("person", "picture") for axis in axes_of(edited)}
    return {
        "asked": {axis: np.array([mine[name].n_unique() for name in mine.columns]) for axis, mine in images.items()},
        "found": {(b.system, b.axis): Sums.of(b) for b in blocks(tables["stimuli"], tables["responses"])},
    }


def _finish(whole: Mapping[str, Mapping[Any, Any]], _: Any) -> pl.DataFrame:
    counts, sums = whole["asked"], whole["found"]
    keys = [(system, axis) for system in sorted({key[0] for key in sums}) for axis in counts if (system, axis) in sums]
    rows: list[dict[str, Any]] = []
    for system, axis in keys:
        people, pictures = map(int, counts[axis])
        rows += axis_rows(system, sums[system, axis], people, pictures)
    return results(rows, facets=FACETS, audit="counterfactuals")


NEEDS = ("person", "picture", "value", "tag")
FOLD = Fold("counterfactuals", _sum_part, _finish, needs=NEEDS, paper="Joo, Kaerkkaeinen 2020", add=add_up)

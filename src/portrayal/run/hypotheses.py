"""Hypotheses written in the study before anything was asked: the rows they name are confirmatory, all others exploratory."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from portrayal.errors import PortrayalError, check_name
from portrayal.recorder.ledger import Ledger
from portrayal.run.silence import DIFFERENCE
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_MEASURABLE
from portrayal.study.study import Hypothesis, Study

FACT = "hypotheses"
LATE = (
    "The study's hypotheses were written or changed after the first answers had come: nothing here is confirmatory. Record into a"
    " new folder to test them."
)


def note_hypotheses(ledger: Ledger, study: Study) -> None:
    """Note the hypotheses and the time, before anything is asked; once something was, what was noted stays."""
    if not ledger.was_asked():
        told = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        ledger.put_fact(FACT, {"sha256": _hash(study), "declared": told})


def are_late(study: Study, noted: Any) -> bool:
    """Whether a study's hypotheses are not those that were noted before the first answer."""
    return bool(study.hypotheses) and (not isinstance(noted, dict) or noted.get("sha256") != _hash(study))


def declared(study: Study, rows: pl.DataFrame, measures: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the results with what no hypothesis names marked exploratory, and the measures of the family.

    Without hypotheses both are as they were. The test of silence is in every family.
    """
    if not study.hypotheses:
        return rows, [*measures, DIFFERENCE]
    picked = pl.Series([False] * rows.height)
    for hypothesis in study.hypotheses:
        mine = rows.select(_picked(rows, hypothesis)).to_series()
        if not mine.any() and NOT_MEASURABLE not in rows["decision"]:
            raise PortrayalError(
                f"the hypothesis {hypothesis.name!r} names no row of the results. Name rows by their columns: where = {{ measure = ... }}."
            )
        picked |= mine
    family = sorted({DIFFERENCE, *rows.filter(picked)["measure"]})
    outside = (
        ~picked & (rows["measure"] != DIFFERENCE) if not study.hypotheses_late else pl.Series([True] * rows.height)
    )
    marked = pl.when(outside).then(pl.lit(EXPLORATORY)).otherwise(pl.col("family"))
    return rows.with_columns(family=marked), family


def _picked(rows: pl.DataFrame, hypothesis: Hypothesis) -> pl.Expr:
    for column in hypothesis.where:
        check_name(column, rows.columns, "column of the results")
    wanted = [
        pl.col(column).cast(pl.String).is_in([value] if isinstance(value, str) else value).fill_null(False)
        for column, value in hypothesis.where.items()
    ]
    return pl.all_horizontal(wanted).alias("picked")


def _hash(study: Study) -> str:
    told = [hypothesis.model_dump() for hypothesis in study.hypotheses]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

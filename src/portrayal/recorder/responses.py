"""From the ledger to the Responses table: every question gives at least one row, answered or not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from portrayal.recorder.gathering import Answers, gather
from portrayal.recorder.ledger import Entry
from portrayal.recorder.outcomes import usual_widths
from portrayal.tables import RESPONSES, check_responses


def read_responses(entries: Iterable[Entry], stimuli: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Read every raw answer into rows; no system is opened.

    Returns
    -------
    polars.DataFrame
        Columns of `RESPONSES`, those of the kind, and `reason` for questions without a usable answer.
    """
    answers = gather(entries, kind)
    table = _spread(answers, stimuli)
    if kind == "encoder":
        table = _of_one_width(table)
    return check_responses(table, kind)


def _spread(answers: Answers, stimuli: pl.DataFrame) -> pl.DataFrame:
    """Give every stimulus the rows of its content's answer, or one row without any, in order of system, stimulus and repeat."""
    questions = (
        answers.questions.join(stimuli.select("hash", "stimulus"), on="hash", maintain_order="left_right")
        .sort("system", "stimulus", "repeat", maintain_order=True)
        .with_columns(pl.max_horizontal("rows", 1).alias("here"))
    )
    here = questions["here"].to_numpy()
    first = np.where(questions["rows"].to_numpy() > 0, questions["first"].to_numpy(), answers.rows.height - 1)
    within = np.arange(here.sum()) - np.repeat(here.cumsum() - here, here)
    about = questions.select(*RESPONSES, "reason")[np.repeat(np.arange(len(here)), here)]
    rows = answers.rows[np.repeat(first, here) + within]
    return about.hstack(rows).select(*RESPONSES, *rows.columns, "reason")


def _of_one_width(table: pl.DataFrame) -> pl.DataFrame:
    """Call a vector unreadable that is not as wide as most of its system's: a few odd ones must not stop the measure."""
    vectors = table.filter(pl.col("status") == "answered").with_columns(width=pl.col("embedding").list.len())
    usual = usual_widths(vectors.select("system", "width").iter_rows())
    expected = pl.col("system").replace_strict(usual, default=None, return_dtype=pl.UInt32)
    odd = (pl.col("status") == "answered") & (pl.col("embedding").list.len() != expected)
    words = pl.format("a vector of {} numbers, where most have {}", pl.col("embedding").list.len(), expected)
    return table.with_columns(
        status=pl.when(odd).then(pl.lit("unparsable")).otherwise("status"),
        reason=pl.when(odd).then(words).otherwise("reason"),
        embedding=pl.when(odd).then(None).otherwise("embedding"),
    )

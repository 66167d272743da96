"""Agreement of reviewers by queue, for the organiser."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from portrayal.review.queues import Queue
from portrayal.run.reviews import JUDGE, Act
from portrayal.stats.raters import agreement

DRAWS = 500  # resamples of the items for the intervals
SHOWN = ("krippendorff_alpha", "cohen_kappa")


def agreement_of(queue: Queue, acts: Iterable[Act], seed: int) -> pl.DataFrame | None:
    """Return a queue's coefficients as Results rows; None with fewer than two reviewers."""
    question = {item.question for item in queue.items}
    rows = [
        {"item": row["item"], "question": queue.name, "reviewer": row["reviewer"], "judgment": row["judgment"]}
        for act in acts
        if act["act"] == JUDGE and act["queue"] == queue.name
        for row in act["rows"]
        if row["question"] in question
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(("item", "question", "reviewer", "judgment"), pl.String))
    twice = table.group_by("item").agg(pl.col("reviewer").n_unique()).filter(pl.col("reviewer") > 1)
    if table["reviewer"].n_unique() < 2 or twice.is_empty():
        return None
    found = agreement(table, queue.name, queue.level, draws=DRAWS, seed=seed)
    return found.filter(pl.col("measure").is_in(SHOWN))


def disputed(queue: Queue, acts: Iterable[Act]) -> list[tuple[str, dict[str, str]]]:
    """Return the items on which reviewers differ, with what each said."""
    said: dict[str, dict[str, str]] = {}
    for act in acts:
        if act["act"] == JUDGE and act["queue"] == queue.name:
            said.setdefault(act["item"], {})[act["reviewer"]] = act["rows"][0]["judgment"] or ""
    return [(key, answers) for key, answers in said.items() if len(set(answers.values())) > 1]

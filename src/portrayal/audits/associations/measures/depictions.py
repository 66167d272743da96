"""Depictions: people whom a generator shows at work, and images that are blocked or dropped.

Beyond Wolfe et al. (2023), who asked generators for women and girls only (section 5.5): prompts that name nobody. An image
without a label (blocked, dropped by a gate, no face) is an outcome of its own and never counts as one of the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.intervals.shares import clustered_share
from portrayal.stats.tests.proportions import share_difference
from portrayal.tables import check, results
from portrayal.tables.batches import ROWS, Source, batches
from portrayal.tables.folds import Fold, Known, TableSums, run_folds

FACETS = ("occupation",)
IMAGES = {
    "system": pl.String,
    "occupation": pl.String,
    "group": pl.String,  # whom the prompt named
    "outcome": pl.String,  # kept, blocked, dropped_nudity, dropped_age, no_face, unreadable; null: no answer
    "label": pl.String,  # whom the reader saw; null unless kept
}
COUNTS = {"system": pl.String, "occupation": pl.String, "label": pl.String, "count": pl.Int64}
LOST = ("blocked", "dropped_nudity", "dropped_age", "no_face")
READ = "labels are a classifier's perception"


def depiction_shares(images: Source, neutral: str = "person", rows: int = ROWS) -> pl.DataFrame:
    """Measure who is depicted by occupation, and which images are blocked or dropped.

    Parameters
    ----------
    images
        A table, a lazy table or a folder of Parquet files larger than memory: system, occupation, group (whom the prompt named),
        outcome (kept, blocked, dropped_nudity, dropped_age, no_face, unreadable, or null) and label (whom a reader saw), one row
        per image, in any order.
    neutral
        The word of prompts that name no group.
    rows
        Read at a time; memory grows with it, not with the number of images.

    Returns
    -------
    polars.DataFrame
        Results with facet `occupation` and measures 'depicted_share' (by occupation, and over all occupations with an interval
        over them), 'depicted_difference' (a group's share in one occupation less that in all others, by Fisher's exact test),
        and 'blocked_rate', 'dropped_nudity_rate', 'dropped_age_rate', 'no_face_rate' by prompted group. Whether some groups are
        blocked more often is tested for every audit alike, as silence.

    Raises
    ------
    PortrayalError
        When a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import depiction_shares
    >>> made = {"system": "s", "occupation": "nurse", "group": "person", "outcome": ["kept", "kept", "blocked"],
    ...     "label": ["woman", "man", None]}
    >>> shares = depiction_shares(pl.DataFrame(made))
    >>> shares.filter(measure="depicted_share", occupation="nurse").select("group", "value", "n", "n_missing").rows()
    [('man', 0.5, 2, 1), ('woman', 0.5, 2, 1)]
    """
    fold = Fold("depictions", _count, partial(_finish, neutral), needs=tuple(IMAGES))
    nothing = pl.DataFrame(schema=IMAGES)
    done = run_folds([fold], lambda: chain([nothing], batches(images, fold.needs, rows, "images")))
    table: pl.DataFrame = done[fold.name]
    return table


def _count(images: pl.DataFrame, _: Known) -> TableSums:
    """Count the images that came out alike."""
    frame = check(images, IMAGES, "images", "See docs/associations_generators.md, live generators.")
    counts = frame.group_by(list(IMAGES), maintain_order=True).agg(count=pl.len().cast(pl.Int64))
    return TableSums(tuple(IMAGES), (counts,))


def _finish(neutral: str, counts: TableSums, _: Known) -> pl.DataFrame:
    return _of_systems(counts.total(), partial(_rows, neutral))


def _of_systems(table: pl.DataFrame, rows_of: Callable[[pl.DataFrame], Iterator[dict[str, Any]]]) -> pl.DataFrame:
    rows = [
        {"system": system, **row}
        for system in sorted(table["system"].unique())
        for row in rows_of(table.filter(system=system))
    ]
    return results(rows, facets=FACETS, audit="associations")


def depictions_of_counts(counts: Any) -> pl.DataFrame:
    """Return depicted shares from recorded counts, and shares of occupations at the extremes."""
    frame = check(counts, COUNTS, "counts", "Expected one row per system, occupation and label.")
    return _of_systems(frame, lambda own: chain(_shares(own), _extremes(own)))


def _rows(neutral: str, images: pl.DataFrame) -> Iterator[dict[str, Any]]:
    free = images.filter(group=neutral)
    counts = free.drop_nulls("label").group_by("occupation", "label").agg(pl.col("count").sum())
    yield from _shares(counts, free)
    yield from _differences(counts, free)
    for group in sorted(images["group"].unique().drop_nulls()):
        own = images.filter(group=group)
        answered = own.drop_nulls("outcome")
        n = int(answered["count"].sum())
        about = {"group": group, "counted": "images", "n_missing": int(own["count"].sum()) - n, "unit": "share"}
        for outcome in LOST:
            hits = int(answered.filter(outcome=outcome)["count"].sum())
            yield wilson(hits, n).row(f"{outcome}_rate", **about)


def _shares(counts: pl.DataFrame, images: pl.DataFrame | None = None) -> Iterator[dict[str, Any]]:
    """Yield each label's share by occupation (0 where nobody drew it) and over all."""
    totals = _totals(counts)
    made = totals if images is None else _totals(images)
    n, lost = sum(totals.values()), sum(made.values()) - sum(totals.values())
    table = {(job, label): n for job, label, n in counts.select("occupation", "label", "count").iter_rows()}
    for label in sorted(counts["label"].unique()):
        about = {"group": label, "counted": "images", "unit": "share"}
        hits = {job: table.get((job, label), 0) for job in totals if totals[job]}
        for job, count in hits.items():
            where = {"occupation": job, "n_missing": made[job] - totals[job]}
            yield wilson(count, totals[job]).row("depicted_share", note=READ, **where, **about)
        shares = np.array([count / totals[job] for job, count in hits.items()])
        note = f"mean over {len(shares)} occupations, interval over them, inside 0 and 1; {READ}"
        mean = clustered_share(shares, np.ones(len(shares)))
        yield mean.row("depicted_share", n=n, n_missing=lost, note=note, **about)


def _differences(counts: pl.DataFrame, images: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Compare each group's share in an occupation with that in all other occupations together."""
    labels = counts.group_by("label").agg(pl.col("count").sum()).sort("count", "label")["label"].to_list()
    totals, n = _totals(counts), int(counts["count"].sum())
    missing = int(images["count"].sum()) - n
    for place, label in enumerate(labels):
        hits = dict.fromkeys(totals, 0) | _totals(counts.filter(label=label))
        every = sum(hits.values())
        about = {"group": label, "counted": "images", "n_missing": missing, "unit": "points"}
        about["note"] = f"from the share in all other occupations; Fisher's exact test, two-sided; {READ}"
        # Of two groups the one seen more often is the mirror of the other: one test, counted once.
        about |= {"family": EXPLORATORY} if len(labels) == 2 and place else {}
        about |= {"decision": NOT_TESTED, "reason": "all images are read alike"} if every in (0, n) else {}
        for job in totals if len(totals) > 1 else ():
            gap = share_difference(hits[job], totals[job], every - hits[job], n - totals[job])
            yield gap.row("depicted_difference", occupation=job, **about)


def _totals(table: pl.DataFrame) -> dict[str, int]:
    """Return the images of each occupation, in order of their names."""
    sums = table.group_by("occupation").agg(pl.col("count").sum()).sort("occupation")
    return dict(sums.iter_rows())


def _extremes(counts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    wide = counts.with_columns(share=pl.col("count") / pl.col("count").sum().over("occupation"))
    for label in sorted(counts["label"].unique()):
        shares = wide.filter(pl.col("share").is_not_nan(), label=label)["share"].to_numpy()
        for measure, hits in (("occupations_under_10", shares < 0.1), ("occupations_over_90", shares > 0.9)):
            share, note = wilson(int(hits.sum()), len(shares)), f"{int(hits.sum())} of {len(shares)}; {READ}"
            yield share.row(measure, group=label, counted="occupations", unit="share", note=note)

"""Whom a generator depicts, and what is blocked or dropped, from labels of its images.

The labels are a classifier's perception of a picture; every row says so. An image without a label (blocked, dropped
by a gate, no face) is an outcome of its own and never counts as one of the groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED
from portrayal.stats.intervals.intervals import wilson
from portrayal.stats.intervals.shares import clustered_share
from portrayal.stats.tests.proportions import share_difference
from portrayal.tables import check, results

FACETS = ("occupation",)
HINT = "See docs/experiments.md, live generators."
ALIKE = "all images are read alike"
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


def depictions(images: Any, neutral: str = "person", audit: str = "associations") -> pl.DataFrame:
    """Return who is depicted by occupation, and how often images were blocked, dropped or without a face.

    Returns
    -------
    pl.DataFrame
        Results with facet `occupation` and measures 'depicted_share' (by occupation, and over all occupations with an
        interval over them), 'depicted_difference' (a group's share in one occupation less that in all others, by
        Fisher's exact test), and 'blocked_rate', 'dropped_nudity_rate', 'dropped_age_rate', 'no_face_rate' by
        prompted group. Whether some groups are blocked more often is tested for every audit alike, as silence.
    """
    frame = check(images, IMAGES, "images", HINT)
    return depictions_of_alike(count_alike(frame), neutral, audit)


def count_alike(frame: pl.DataFrame) -> pl.DataFrame:
    """Count the images that came out alike; counts of tables add up."""
    return frame.group_by(list(IMAGES), maintain_order=True).agg(count=pl.len().cast(pl.Int64))


def depictions_of_alike(counts: pl.DataFrame, neutral: str, audit: str = "associations") -> pl.DataFrame:
    """Return what `depictions` does, from images that are counted."""
    rows = [
        {"system": system, **row}
        for system in sorted(counts["system"].unique())
        for row in _rows(counts.filter(pl.col("system") == system), neutral)
    ]
    return results(rows, facets=FACETS, audit=audit)


def depictions_of_counts(counts: Any, audit: str = "associations") -> pl.DataFrame:
    """Return who is depicted from recorded counts: system, occupation, label, count.

    Returns
    -------
    pl.DataFrame
        'depicted_share' by occupation and over all, and 'occupations_under_10' and 'occupations_over_90': the
        share of occupations whose images show a group in under a tenth, or over nine tenths, of cases.
    """
    frame = check(counts, COUNTS, "counts", "Expected one row per system, occupation and label.")
    rows: list[dict[str, Any]] = []
    for system in sorted(frame["system"].unique()):
        own = frame.filter(pl.col("system") == system)
        for row in [*_shares(own), *_extremes(own)]:
            rows.append({"system": system, **row})
    return results(rows, facets=FACETS, audit=audit)


def _rows(frame: pl.DataFrame, neutral: str) -> Iterator[dict[str, Any]]:
    free = frame.filter(pl.col("group") == neutral)
    kept = free.filter(pl.col("label").is_not_null())
    counts = kept.group_by("occupation", "label").agg(pl.col("count").sum())
    yield from _shares(counts, free)
    yield from _differences(counts, free)
    for group in sorted(frame["group"].unique().drop_nulls()):
        yield from _lost(frame.filter(pl.col("group") == group), group)


def _shares(counts: pl.DataFrame, asked: pl.DataFrame | None = None) -> Iterator[dict[str, Any]]:
    """Every occupation gets every label that occurs, so that a group nobody drew shows as zero."""
    totals = _totals(counts, "count")
    made = totals if asked is None else _totals(asked, "count")
    table = {(job, label): n for job, label, n in counts.select("occupation", "label", "count").iter_rows()}
    for label in sorted(counts["label"].unique()):
        hits = {job: table.get((job, label), 0) for job in totals if totals[job]}
        for job, count in hits.items():
            lost = made[job] - totals[job]
            share = wilson(count, totals[job])
            yield share.row(
                "depicted_share", group=label, occupation=job, counted="images", n_missing=lost, unit="share", note=READ
            )
        shares = np.array([count / totals[job] for job, count in hits.items()])
        n = sum(totals.values())
        note = f"mean over {len(shares)} occupations, interval over them, inside 0 and 1; {READ}"
        about = {"n": n, "counted": "images", "n_missing": sum(made.values()) - n, "unit": "share", "note": note}
        yield clustered_share(shares, np.ones(len(shares))).row("depicted_share", group=label, **about)


def _differences(counts: pl.DataFrame, asked: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Compare each group's share in an occupation with that in all other occupations together."""
    seen = counts.group_by("label").agg(pl.col("count").sum()).sort("count", "label")
    labels = seen["label"].to_list()
    for place, label in enumerate(labels):
        hits = _totals(counts.with_columns(hit=pl.col("count") * (pl.col("label") == label)), "hit")
        totals, made = _totals(counts, "count"), _totals(asked, "count")
        for job in totals if len(totals) > 1 else ():
            others, n = sum(hits.values()) - hits[job], sum(totals.values())
            gap = share_difference(hits[job], totals[job], others, n - totals[job])
            # Of two groups the one seen more often is the mirror of the other: one test, counted once.
            mirror = {"family": EXPLORATORY} if len(labels) == 2 and place else {}
            still = {"decision": NOT_TESTED, "reason": ALIKE} if sum(hits.values()) in (0, n) else {}
            yield gap.row(
                "depicted_difference",
                group=label,
                occupation=job,
                counted="images",
                n_missing=sum(made.values()) - n,
                unit="points",
                note=f"from the share in all other occupations; Fisher's exact test, two-sided; {READ}",
                **mirror,
                **still,
            )


def _totals(table: pl.DataFrame, column: str) -> dict[str, int]:
    """Return the sum of a column for each occupation, in order of their names."""
    sums = table.group_by("occupation").agg(pl.col(column).cast(pl.Int64).sum()).sort("occupation")
    return dict(sums.iter_rows())


def _extremes(counts: pl.DataFrame) -> Iterator[dict[str, Any]]:
    wide = counts.with_columns(share=pl.col("count") / pl.col("count").sum().over("occupation"))
    for label in sorted(counts["label"].unique()):
        shares = wide.filter((pl.col("label") == label) & pl.col("share").is_not_nan())["share"].to_numpy()
        for measure, hits in (("occupations_under_10", shares < 0.1), ("occupations_over_90", shares > 0.9)):
            note = f"{int(hits.sum())} of {len(shares)}; {READ}"
            share = wilson(int(hits.sum()), len(shares))
            yield share.row(measure, group=label, counted="occupations", unit="share", note=note)


def _lost(images: pl.DataFrame, group: str) -> Iterator[dict[str, Any]]:
    answered = images.drop_nulls("outcome")
    n = int(answered["count"].sum())
    lost = int(images["count"].sum()) - n
    about = {"group": group, "counted": "images", "n_missing": lost, "unit": "share"}
    for outcome in LOST:
        hits = int(answered.filter(pl.col("outcome") == outcome)["count"].sum())
        yield wilson(hits, n).row(f"{outcome}_rate", **about)

"""Reviews: people's judgments beside the results, as a CSV anyone can fill in."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.edges.inert import inert_cells, original_cells
from portrayal.run.folder import Run
from portrayal.run.judgments import fold, read_judgments
from portrayal.tables import REVIEWS, check, read_csv


def reviews_of(run: Run) -> pl.DataFrame | None:
    """Return the Reviews of a run: its table, and what reviewers did in the viewer since; None where there are neither."""
    table = read_reviews(run.reviews) if run.reviews.exists() else None
    return fold(table, read_judgments(run.judgments))


def read_reviews(path: Path) -> pl.DataFrame:
    """Read a Reviews table; empty cells are cases nobody has judged."""
    hint = "A reviews file has one row per judgment; see docs/architecture.md."
    read = check(read_csv(path), REVIEWS, "reviews", hint)
    return read.with_columns(original_cells(pl.col(name)).alias(name) for name in read.columns)


def write_reviews(reviews: pl.DataFrame, path: Path) -> None:
    """Write a Reviews table that no spreadsheet runs: systems' words are in it. Reading takes the apostrophes away again."""
    checked = check(reviews, REVIEWS, "reviews").with_columns(pl.all().cast(pl.String))
    inert = checked.with_columns(inert_cells(pl.col(name)).alias(name) for name in checked.columns)
    inert.write_csv(path)


def merge_reviews(kept: pl.DataFrame | None, fresh: pl.DataFrame) -> pl.DataFrame:
    """Add fresh cases to those a run has; what people judged is never overwritten."""
    fresh = check(fresh, REVIEWS, "reviews").with_columns(pl.all().cast(pl.String))
    if kept is None:
        return fresh
    written = pl.col("reviewer").is_not_null() & pl.col("note").is_not_null()  # words that wait to be coded
    judged = kept.filter(pl.col("judgment").is_not_null() | written)
    new = fresh.join(judged.select("item", "question"), on=["item", "question"], how="anti")
    return pl.concat([judged, new], how="diagonal")

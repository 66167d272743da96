"""Effect sizes by the paper's procedure beside those that its Tables 1 and 2 print."""

from __future__ import annotations

import polars as pl

from portrayal.stats.decisions.decision import FOUND, NOT_FOUND
from portrayal.study.audit import Measured, ReportTable
from portrayal.text.lexicons import read_lexicon

STARRED = 0.05  # the paper's level; its stars mark either direction of a one-sided p
TEXT = (
    "d of each model and test with the authors' prompts, and their star: their one-sided, uncorrected p is under .05 or over .95. "
    "Beside it what the paper prints (Wolfe et al. 2023, Tables 1 and 2) for the model and test of the same name."
)

BESIDE = {
    "system": pl.String,
    "test": pl.String,
    "d": pl.Float64,
    "starred": pl.String,
    "published_d": pl.Float64,
    "published_starred": pl.String,
    "difference": pl.Float64,
}


def beside_published(measured: Measured) -> pl.DataFrame:
    """Return one row a system and test; null where the paper has none."""
    rows = measured.results.filter(pl.col("measure") == "eat_published").drop_nulls("value")
    if rows.is_empty():
        return pl.DataFrame(schema=BESIDE)
    tests = measured.tables["tests"].select("test", name=pl.col("in_study"))
    mine = rows.join(tests, on="test", maintain_order="left").select(
        "system", "name", d="value", starred=_starred(pl.col("p"))
    )
    return (
        mine.with_columns(key=_plain(pl.col("system")))
        .join(_printed(), on=["key", "name"], how="left", maintain_order="left")
        .drop("key")
        .with_columns(difference=pl.col("d") - pl.col("published_d"))
        .rename({"name": "test"})
    )


def published_tables(measured: Measured) -> list[ReportTable]:
    """Return the table for the report; none where the paper's procedure was not asked for."""
    table = beside_published(measured)
    return [] if table.is_empty() else [ReportTable("published", "Beside the published effect sizes", TEXT, table)]


def as_printed(measured: Measured) -> pl.DataFrame:
    """Return the paper's cells of the same models and tests as Results rows."""
    found = pl.when(pl.col("published_starred") == "yes").then(pl.lit(FOUND)).otherwise(pl.lit(NOT_FOUND))
    return (
        beside_published(measured)
        .drop_nulls("published_d")
        .select("system", "test", measure=pl.lit("eat"), value=pl.col("published_d"), decision=found)
    )


def _printed() -> pl.DataFrame:
    return read_lexicon("published_associations").select(
        key=_plain(pl.col("system")),
        name=pl.col("test"),
        published_d=pl.col("d").cast(pl.Float64),
        published_starred=pl.col("starred"),
    )


def _starred(p: pl.Expr) -> pl.Expr:
    return pl.when((p < STARRED) | (p > 1 - STARRED)).then(pl.lit("yes")).otherwise(pl.lit("no"))


def _plain(name: pl.Expr) -> pl.Expr:
    """Return a model's name in one spelling: "CLIP ViT-B/32" and "CLIP ViT-B32" are one."""
    return name.str.to_lowercase().str.replace_all("[^a-z0-9]", "")

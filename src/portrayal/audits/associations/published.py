"""Effect sizes by the paper's procedure beside those that its Tables 1 and 2 print."""

from __future__ import annotations

import polars as pl

from portrayal.stats.decisions.decision import FOUND, NOT_FOUND
from portrayal.study.audit import Measured
from portrayal.text.lexicons import read_lexicon

STARRED = 0.05  # the paper's level; its stars mark either direction of a one-sided p
BESIDE = ("system", "test", "d", "starred", "published_d", "published_starred", "difference")


def beside_published(measured: Measured) -> pl.DataFrame:
    """Return one row a system and test; null where the paper has none."""
    rows = measured.results.filter(measure="eat_published").drop_nulls("value")
    if rows.is_empty():
        return pl.DataFrame(schema=BESIDE)
    p, key = pl.col("p"), _plain(pl.col("system"))
    starred = pl.when((p < STARRED) | (p > 1 - STARRED)).then(pl.lit("yes")).otherwise(pl.lit("no"))
    tests = measured.tables["tests"].select("test", name="in_study")
    printed = read_lexicon("published_associations").select(
        key=key, name="test", published_d=pl.col("d").cast(pl.Float64), published_starred="starred"
    )
    return (
        rows.join(tests, on="test", maintain_order="left")
        .select("system", "name", d="value", starred=starred, key=key)
        .join(printed, on=["key", "name"], how="left", maintain_order="left")
        .select("system", pl.col("name").alias("test"), *BESIDE[2:-1], difference=pl.col("d") - pl.col("published_d"))
    )


def as_printed(measured: Measured) -> pl.DataFrame:
    """Return the paper's cells of the same models and tests as Results rows."""
    decision = pl.when(pl.col("published_starred") == "yes").then(pl.lit(FOUND)).otherwise(pl.lit(NOT_FOUND))
    cells = beside_published(measured).drop_nulls("published_d")
    return cells.select("system", "test", measure=pl.lit("eat"), value="published_d", decision=decision)


def _plain(name: pl.Expr) -> pl.Expr:
    """Return a model's name in one spelling: "CLIP ViT-B/32" and "CLIP ViT-B32" are one."""
    return name.str.to_lowercase().str.replace_all("[^a-z0-9]", "")

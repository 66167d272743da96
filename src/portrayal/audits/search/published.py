"""The paper's Tables 2 and 3 beside a study's own systems."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.study.audit import Measured, ReportTable

FOLDER = Path(__file__).parent
MEASURES = {"map": "MAP", "ndcg_cut_100": "nDCG@100", "P_10": "P@10"}


def published_names() -> list[str]:
    """Return the names of Table 2 that a study may set a system beside."""
    return _gsr()["name"].unique(maintain_order=True).to_list()


def published_tables(measured: Measured) -> list[ReportTable]:
    """Return the two tables, for the systems of [search.published]; nothing when the study names none."""
    names = measured.tables.get("published")
    if names is None or names.is_empty():
        return []
    note = (
        "The paper's numbers are for Robust04 with word2vec (w2v) and FastText (ftt); ours are for this "
        "study's collection and vectors."
    )
    return [
        ReportTable("published_gsr", "GSR beside the paper's Table 2", note, _beside_gsr(measured, names)),
        ReportTable("published_quality", "Quality beside the paper's Table 3", note, _beside_quality(measured, names)),
    ]


def _beside_gsr(measured: Measured, names: pl.DataFrame) -> pl.DataFrame:
    ours = measured.results.filter(pl.col("measure").is_in(["gsr", "gsr_ratio"])).select(
        "system",
        key=pl.when(pl.col("measure") == "gsr").then(pl.lit("GSR, ")).otherwise(pl.lit("ratio, ")) + pl.col("ruler"),
        value="value",
    )
    wide = ours.pivot(on="key", index="system", values="value", aggregate_function="first")
    paper = _gsr().pivot(on="embedding", index="name", values=["absolute", "relative_percent"])
    paper = paper.rename({name: f"paper: {name.replace('_', ' ')}" for name in paper.columns if name != "name"})
    return names.join(wide, on="system", how="left").join(paper, on="name", how="left")


def _beside_quality(measured: Measured, names: pl.DataFrame) -> pl.DataFrame:
    ours = measured.results.filter(pl.col("measure").is_in(list(MEASURES))).with_columns(
        pl.col("measure").replace(MEASURES)
    )
    wide = ours.pivot(on="measure", index="system", values="value", aggregate_function="first")
    paper = _named(pl.read_csv(FOLDER / "published_quality.csv", null_values="NA"))
    paper = paper.pivot(on="metric", index="name", values="value")
    paper = paper.rename({name: f"paper: {name}" for name in paper.columns if name != "name"})
    return names.join(wide, on="system", how="left").join(paper, on="name", how="left")


def _gsr() -> pl.DataFrame:
    return _named(pl.read_csv(FOLDER / "published_gsr.csv", null_values="NA"))


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Add the name of a row: its system, with the variant where it has one."""
    variant = pl.when(pl.col("variant").is_null()).then(pl.lit("")).otherwise(pl.lit(", ") + pl.col("variant"))
    return table.with_columns(name=pl.col("system") + variant)

"""Occupations behind the labels: people shown in image search, and people who do the work.

Joo, Kaerkkaeinen (2020), Gender slopes, section Occupational Images, Tables 3 and 4; Kay, Matuszek, Munson (2015),
Unequal representation and gender stereotypes in image search results for occupations, CHI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from polars import selectors

from portrayal.audits.counterfactuals.measures.axis import Axis, axes_of
from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.tables import read_csv
from portrayal.text.formatting import number
from portrayal.text.lexicons import read_lexicon

OF_SEARCH = {
    "system": "image search (Kay et al. 2015)", "group": "women in search results", "versus": "women in the workforce",
    "counted": "occupations",
}  # fmt: skip


@cache
def _plain_concepts() -> frozenset[str]:
    return frozenset(read_lexicon("plain_concepts")["label"])


@cache
def _occupation_groups() -> dict[str, str]:
    return dict(read_lexicon("occupation_groups").select("label", "group").iter_rows())


def is_plain(label: str) -> bool:
    """Return whether a label is a listed concept that names no role, letter case aside."""
    return label.strip().lower() in _plain_concepts()


def occupation_group(label: str) -> str | None:
    """Return the occupation group of a label, or None."""
    return _occupation_groups().get(label.strip().lower())


class Line(NamedTuple):
    """A quasibinomial regression of search shares on labour shares."""

    intercept: float
    intercept_error: float
    slope: float
    slope_error: float
    dispersion: float
    n: int

    def share_at(self, labour: float) -> float:
        """Return the search share the line gives where the workforce has this share."""
        return float(1 / (1 + np.exp(-(self.intercept + self.slope * (labour - 0.5)))))


def shipped_table(name: str) -> pl.DataFrame:
    """Return one of the tables that ship: image_search_gender, published_gender_slopes, published_search_shares."""
    numbers = selectors.starts_with("bls_", "search_") | selectors.by_name("slope", "share", require_all=False)
    words = selectors.by_name("search_term", require_all=False)
    return read_lexicon(name).with_columns((numbers - words).cast(pl.Float64))


def read_shares(path: Path) -> pl.DataFrame:
    """Read a table of shares: a number between 0 and 1 for each occupation."""
    table = read_csv(path, "a table of shares", "Expected a CSV with occupation and share.")
    if not {"occupation", "share"} <= set(table.columns):
        raise PortrayalError(f"{path.name} lacks occupation or share (found: {', '.join(table.columns)}).")
    shares = table.with_columns(pl.col("share").cast(pl.Float64, strict=False))
    wrong = shares.filter(~pl.col("share").is_between(0, 1).fill_null(False))
    if wrong.height:
        name = wrong["occupation"][0]
        share = table.filter(occupation=name)["share"][0]
        raise PortrayalError(f"{path.name}: the share of {name!r} is {share!r}. Expected a number from 0 to 1.")
    return shares


def masculine_shares() -> pl.DataFrame:
    """Return masculine shares in image search: Table 3, beyond it Kay et al."""
    published = shipped_table("published_search_shares").filter(table="3")
    male = pl.when(group="Male").then("share").otherwise(1 - pl.col("share"))
    first = published.select("occupation", share=male, source=pl.lit("Table 3"))
    second = shipped_table("image_search_gender").select(
        occupation="search_term", share=1 - pl.col("search_p_women"), source=pl.lit("Kay et al.")
    )
    return pl.concat([first, second]).unique("occupation", keep="first", maintain_order=True)


def race_shares(poles: Sequence[str]) -> pl.DataFrame:
    """Return shares that rise with the race value: Table 4 tells White people from others."""
    table = shipped_table("published_search_shares").filter(table="4")
    if len(poles) != 2 or "White" not in poles:
        return table.select("occupation", "share").clear()
    share = pl.col("share") if poles[1] == "White" else 1 - pl.col("share")
    return table.select("occupation", share.alias("share"))


def representation(search: np.ndarray, n: np.ndarray, labour: np.ndarray) -> Line:
    """Regress search shares on labour shares minus 1/2, quasibinomial, as Kay et al."""
    from scipy import optimize, special

    design = np.column_stack([np.ones(len(labour)), np.asarray(labour, dtype=float) - 0.5])
    share, weight = np.asarray(search, dtype=float), np.asarray(n, dtype=float)

    def score(beta: np.ndarray) -> np.ndarray:
        return design.T @ (weight * (share - special.expit(design @ beta)))

    beta = optimize.root(score, np.zeros(2), tol=1e-12).x
    mean = special.expit(design @ beta)
    spread = weight * mean * (1 - mean)
    dispersion = float(np.sum(weight**2 * (share - mean) ** 2 / spread) / (len(share) - 2))
    errors = np.sqrt(dispersion * np.diag(np.linalg.inv(design.T @ (spread[:, None] * design))))
    return Line(float(beta[0]), float(errors[0]), float(beta[1]), float(errors[1]), dispersion, len(share))


def gaps(search: pl.DataFrame) -> pl.DataFrame:
    """Return each occupation's search share less its labour share, and whether it exaggerates the imbalance."""
    ends = [wilson(women, n) for women, n in search.select("search_women", "search_n").iter_rows()]
    away, labour = pl.col("search_p_women") - 0.5, pl.col("bls_p_women") - 0.5
    workforce, parts = pl.col("bls_p_women"), ("search_term", "bls_p_women", "search_p_women")
    return search.select(
        *parts,
        gap=pl.col("search_p_women") - workforce,
        low=pl.Series([end.low for end in ends]) - workforce,
        high=pl.Series([end.high for end in ends]) - workforce,
        n=pl.col("search_n").cast(pl.Int64),
        exaggerates=(away * labour > 0) & (away.abs() > labour.abs()),
    ).sort("gap")


def correlation(x: np.ndarray, y: np.ndarray, level: float = 0.95) -> Estimate:
    """Return Pearson's r with Fisher's interval and p, without pairs of NaN."""
    from scipy import stats

    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    if n < 4 or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        return Estimate(n=n, unit="Pearson r")
    pearson = stats.pearsonr(x[both], y[both])
    low, high = map(float, pearson.confidence_interval(level))
    return Estimate(float(pearson.statistic), low, high, float(pearson.pvalue), n, unit="Pearson r")


def slopes_and_shares(slopes: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Join labels with occupations by name, letter case aside: columns system, label, slope, share."""
    names = pl.col("occupation").str.strip_chars().str.to_lowercase()
    known = shares.select(names.alias("name"), "share").unique("name", keep="first", maintain_order=True)
    named = slopes.with_columns(pl.col("label").str.strip_chars().str.to_lowercase().alias("name"))
    return named.join(known, on="name", how="inner").select("system", "label", "slope", "share").sort("system", "label")


def world_rows(labels: pl.DataFrame, shares: pl.DataFrame, search: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how slopes go with search shares, and how search goes with the workforce."""
    for axis in axes_of(labels):
        if axis.attribute == "gender":
            yield from _slope_share_rows(labels, axis, shares, "masculine shares in image search")
        elif axis.attribute == "race":
            whose = "read as White" if axis.pole_high == "White" else "not read as White"
            about = f"shares of people {whose} in image search (Table 4)"
            yield from _slope_share_rows(labels, axis, race_shares(axis.poles), about)
    related = correlation(search["search_p_women"].to_numpy(), search["bls_p_women"].to_numpy())
    yield related.row("search_labour_correlation", **OF_SEARCH)
    yield from _line_rows(search)


def _slope_share_rows(labels: pl.DataFrame, axis: Axis, shares: pl.DataFrame, versus: str) -> Iterator[dict[str, Any]]:
    """Yield, for each system, the correlation of slopes and shares."""
    slopes = labels.filter(axis.where() & pl.col("slope").is_not_null())
    for (system,), mine in slopes_and_shares(slopes, shares).group_by("system", maintain_order=True):
        related = correlation(mine["slope"].to_numpy(), mine["share"].to_numpy())
        if np.isfinite(related.value):
            about = {"system": system, **axis._asdict(), "group": "slopes of labels", "versus": versus}
            yield related.row("slope_share_correlation", **about, counted="occupations")


def _line_rows(search: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield over- or under-representation and exaggeration as in Kay et al."""
    line = representation(*(search[name].to_numpy() for name in ("search_p_women", "search_n", "bls_p_women")))
    parts = [
        ("representation", line.intercept, line.intercept_error,
         f"quasibinomial; under 0: under-represented; where half the workforce are women the line gives {number(line.share_at(0.5))}"),
        ("exaggeration", line.slope, line.slope_error,
         "quasibinomial; above 4: imbalances are exaggerated, since identity has slope 4 at one half"),
    ]  # fmt: skip
    for name, value, error, note in parts:
        estimate = Estimate(value, value - 1.96 * error, value + 1.96 * error, n=line.n, unit="log odds", note=note)
        yield estimate.row(name, **OF_SEARCH)

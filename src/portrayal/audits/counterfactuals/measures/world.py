"""The world the labels come from: who appears in image-search results for an occupation, and who does the work.

References
----------
.. [1] Kay, Matuszek, Munson (2015), Unequal representation and gender stereotypes in image search results for
   occupations, CHI.
.. [2] Joo, Kaerkkaeinen (2020), Gender slopes, Tables 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from polars import selectors

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.tables import finite
from portrayal.text.lexicons import read_lexicon

SAMPLES = 20_000  # of the posterior of corrected shares
WORST = 1e6  # the condition of a confusion matrix above which a reader cannot tell two groups apart


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
    return read_lexicon(name).with_columns(
        (numbers - selectors.by_name("search_term", require_all=False)).cast(pl.Float64)
    )


def shares_by_occupation(labels: pl.DataFrame, groups: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the share of each group among the labelled people of each occupation.

    Returns
    -------
    polars.DataFrame
        Columns occupation, group, share, low, high, n, n_missing, sorted as Tables 3 and 4: the highest first.
    """
    for column in ("occupation", "group"):
        if column not in labels.columns:
            raise PortrayalError(
                f"labels lacks column {column!r} (found: {', '.join(labels.columns)}). Give one row per person shown."
            )
    groups = labels["group"].drop_nulls().unique().sort().to_list() if groups is None else groups
    rows = []
    for (occupation,), mine in labels.group_by("occupation", maintain_order=True):
        known = mine["group"].drop_nulls()
        for group in groups:
            ends = wilson(int((known == group).sum()), len(known))
            rows.append((occupation, group, *map(finite, ends), len(known), mine.height - len(known)))
    return _by_share(rows)


def corrected_share(
    read: np.ndarray, confusion: np.ndarray, draws: int = 1999, seed: int = 0, level: float = 0.95
) -> list[Estimate]:
    """Return each group's share, corrected for the reader's errors by the inverse of its confusion matrix."""
    counts, read = np.asarray(confusion, dtype=float), np.asarray(read, dtype=float)
    if np.any(counts.sum(axis=1) == 0):
        raise PortrayalError("a group has no validated case. The reader's error is unknown there; validate some.")
    value = _unmix(read, counts)
    if value is None:
        raise PortrayalError(
            "the reader's confusion matrix is singular: it cannot see a group. Use another reader or merge groups."
        )
    rng, tails = np.random.default_rng(seed), (0.5 - level / 2, 0.5 + level / 2)
    lows, highs = np.quantile(_redrawn(read, counts, draws, rng), tails, axis=0)
    inside = _inside(read, counts, value, tails, rng)
    ends = zip(value.tolist(), np.minimum(lows, inside[0]).tolist(), np.maximum(highs, inside[1]).tolist(), strict=True)
    return [Estimate(middle, min(low, middle), max(high, middle)) for middle, low, high in ends]


def confusion_counts(labelled: pl.DataFrame, groups: Sequence[str]) -> np.ndarray:
    """Count what a reader said of labelled people: rows are the labelled groups, columns what was read."""
    known = labelled.drop_nulls(["group", "read"])
    return np.array(
        [
            [known.filter((pl.col("group") == group) & (pl.col("read") == said)).height for said in groups]
            for group in groups
        ]
    )


def refuse_other_labels(labelled: pl.DataFrame, groups: Sequence[str]) -> None:
    """Refuse labels of groups that a reader does not tell apart, and a group of which its error is not seen."""
    told = labelled["group"].drop_nulls().unique().sort().to_list()
    if others := [group for group in told if group not in groups]:
        raise PortrayalError(
            f"labelled pictures have the group {', '.join(map(repr, others))}. "
            f"Expected {', '.join(groups)}: write those into column group."
        )
    known = set(labelled.drop_nulls(["group", "read"])["group"])
    if unseen := [group for group in groups if group not in known]:
        raise PortrayalError(
            f"no labelled picture of {' or '.join(unseen)} could be read (groups labelled: {', '.join(told) or 'none'}), so how often "
            f"the reader errs there is unknown. Expected pictures of {', '.join(groups)} in column group: add some."
        )


def shares_through_reader(
    read: pl.DataFrame,
    labelled: pl.DataFrame,
    groups: Sequence[str] = ("Female", "Male"),
    draws: int = 1999,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the share of each group in each occupation as a reader saw it, corrected for the reader's errors.

    Returns
    -------
    polars.DataFrame
        The columns of `shares_by_occupation`; a share is null where nobody was read.
    """
    refuse_other_labels(labelled, groups)
    confusion = confusion_counts(labelled, groups)
    rows = []
    for (occupation,), mine in read.group_by("occupation", maintain_order=True):
        counts = np.array([(mine["read"] == group).sum() for group in groups])
        n = int(counts.sum())
        ends = corrected_share(counts, confusion, draws, seed) if n else [Estimate()] * len(groups)
        rows += [
            (occupation, group, *map(finite, end), n, mine.height - n) for group, end in zip(groups, ends, strict=True)
        ]
    return _by_share(rows)


def _by_share(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """Return shares as Tables 3 and 4 have them: within a group the highest first."""
    kinds = {"occupation": pl.String, "group": pl.String, "share": pl.Float64, "low": pl.Float64, "high": pl.Float64,
             "n": pl.Int64, "n_missing": pl.Int64}  # fmt: skip
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    return table.sort("group", "share", descending=[False, True], nulls_last=True)


def representation(search: np.ndarray, n: np.ndarray, labour: np.ndarray) -> Line:
    """Regress search shares on labour shares minus 1/2, quasibinomial with weights n, as in the analysis of [1].

    The intercept says how the group fares where half the workforce is of it (under 0: under-represented); a slope
    above 4 exaggerates, since the identity has slope 4 at one half.
    """
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
    """Return each occupation's search share less its labour share, and whether it exaggerates the imbalance.

    Takes the columns of `image_search_gender`. `exaggerates` is true where the search share lies further from one
    half than the labour share, on the same side.
    """
    ends = [wilson(women, n) for women, n in search.select("search_women", "search_n").iter_rows()]
    away, labour = pl.col("search_p_women") - 0.5, pl.col("bls_p_women") - 0.5
    return search.select(
        "search_term",
        "bls_p_women",
        "search_p_women",
        (pl.col("search_p_women") - pl.col("bls_p_women")).alias("gap"),
        pl.Series("low", [end.low for end in ends]) - pl.col("bls_p_women"),
        pl.Series("high", [end.high for end in ends]) - pl.col("bls_p_women"),
        pl.col("search_n").cast(pl.Int64).alias("n"),
        ((away * labour > 0) & (away.abs() > labour.abs())).alias("exaggerates"),
    ).sort("gap")


def correlation(x: np.ndarray, y: np.ndarray, level: float = 0.95) -> Estimate:
    """Return Pearson's r with Fisher's interval and its two-sided p; pairs with a NaN are left out."""
    from scipy import stats

    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    if n < 4 or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
        return Estimate(n=n, unit="Pearson r")
    found = stats.pearsonr(x[both], y[both])
    low, high = map(float, found.confidence_interval(level))
    return Estimate(float(found.statistic), low, high, float(found.pvalue), n, unit="Pearson r")


def slopes_and_shares(slopes: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """Join labels with occupations by name, letter case aside: columns system, label, slope, share.

    `shares` has `occupation` and `share` (for gender slopes the masculine share, so that both rise together).
    """
    names = pl.col("occupation").str.strip_chars().str.to_lowercase()
    known = shares.select(names.alias("name"), "share").unique("name", keep="first", maintain_order=True)
    named = slopes.with_columns(pl.col("label").str.strip_chars().str.to_lowercase().alias("name"))
    return named.join(known, on="name", how="inner").select("system", "label", "slope", "share").sort("system", "label")


def masculine_shares() -> pl.DataFrame:
    """Return masculine shares of occupations in image search, from Table 3 of [2] and, beyond it, from [1]."""
    published = shipped_table("published_search_shares").filter(pl.col("table") == "3")
    male = pl.when(pl.col("group") == "Male").then(pl.col("share")).otherwise(1 - pl.col("share"))
    first = published.select("occupation", male.alias("share"), pl.lit("Table 3").alias("source"))
    labelled = shipped_table("image_search_gender")
    second = labelled.select(
        pl.col("search_term").alias("occupation"),
        (1 - pl.col("search_p_women")).alias("share"),
        pl.lit("Kay et al.").alias("source"),
    )
    return pl.concat([first, second]).unique("occupation", keep="first", maintain_order=True)


def race_shares(poles: Sequence[str]) -> pl.DataFrame:
    """Return shares that rise with the race value where Table 4 of [2] tells them, else no rows.

    Table 4 has the share of people read as White. With White as the second pole that is the share; with White as the first it is
    what is left of it, the share of everybody else, since the table does not tell other groups apart.
    """
    table = shipped_table("published_search_shares").filter(pl.col("table") == "4")
    if len(poles) != 2 or "White" not in poles:
        return table.select("occupation", "share").clear()
    share = pl.col("share") if poles[1] == "White" else 1 - pl.col("share")
    return table.select("occupation", share.alias("share"))


def _unmix(read: np.ndarray, confusion: np.ndarray) -> np.ndarray | None:
    """Solve for the true shares; None where that is impossible. Shares are clipped to the simplex."""
    rows = confusion.sum(axis=1, keepdims=True)
    if np.any(rows == 0):
        return None
    rates = confusion / rows
    if np.linalg.cond(rates) > WORST:
        return None
    true = np.clip(np.linalg.solve(rates.T, read / read.sum()), 0, None)
    return true / true.sum()


def _redrawn(read: np.ndarray, confusion: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the shares behind both samples anew, half a case added to each count: what was never seen may still occur.

    Returns the true shares of every draw, draws x groups; draws of a reader that cannot see a group are left out.
    """
    shares = rng.dirichlet(read + 0.5, draws)
    rates = np.stack([rng.dirichlet(row + 0.5, draws) for row in confusion], axis=1)
    seen = np.linalg.cond(rates) <= WORST
    true = np.clip(np.linalg.solve(rates[seen].transpose(0, 2, 1), shares[seen][..., None])[..., 0], 0, None)
    return np.asarray(true / true.sum(axis=1, keepdims=True))


def _inside(
    read: np.ndarray, confusion: np.ndarray, value: np.ndarray, tails: Sequence[float], rng: np.random.Generator
) -> np.ndarray:
    """Return the ends of the posterior of the shares themselves (Jeffreys), by importance sampling: ends x groups."""
    from scipy import special

    centre = value * min(read.sum(), confusion.sum(axis=1).min()) / 4 + 0.5  # wider than the posterior
    true = np.clip(rng.dirichlet(centre, SAMPLES), 1e-12, None)
    rates = np.stack([rng.dirichlet(row + 0.5, SAMPLES) for row in confusion], axis=1)
    seen = np.einsum("dg,dgr->dr", true, rates)
    weight = special.xlogy(read, np.clip(seen, 1e-300, None)).sum(axis=1) + ((0.5 - centre) * np.log(true)).sum(axis=1)
    weight = np.exp(weight - weight.max())
    ends = []
    for column in true.T:
        order = np.argsort(column)
        below = np.cumsum(weight[order]) - weight[order] / 2  # read from either side alike
        ends.append(np.interp(tails, below / weight.sum(), column[order]))
    return np.array(ends).T

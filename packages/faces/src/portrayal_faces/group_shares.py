"""Shares of groups per occupation: from labels, or through a reader whose errors are carried.

Joo, Kaerkkaeinen (2020), Gender slopes, Tables 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson
from portrayal.tables import finite

SAMPLES = 20_000  # of the posterior of corrected shares
WORST = 1e6  # the condition of a confusion matrix above which a reader cannot tell two groups apart


def shares_by_occupation(labels: pl.DataFrame, groups: Sequence[str] | None = None) -> pl.DataFrame:
    """Return each group's share among an occupation's labelled people, the highest first."""
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
    """Return each group's share, corrected by the inverse of the reader's confusion matrix."""
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
    """Count what a reader said of labelled people: labelled groups by groups read."""
    known = labelled.drop_nulls(["group", "read"])
    return np.array(
        [
            [known.filter((pl.col("group") == group) & (pl.col("read") == reading)).height for reading in groups]
            for group in groups
        ]
    )


def refuse_other_labels(labelled: pl.DataFrame, groups: Sequence[str]) -> None:
    """Refuse labels of other groups than the reader's, and groups without a reading."""
    named = labelled["group"].drop_nulls().unique().sort().to_list()
    if others := [group for group in named if group not in groups]:
        raise PortrayalError(
            f"labelled pictures have the group {', '.join(map(repr, others))}. "
            f"Expected {', '.join(groups)}: write those into column group."
        )
    known = set(labelled.drop_nulls(["group", "read"])["group"])
    if unseen := [group for group in groups if group not in known]:
        raise PortrayalError(
            f"no labelled picture of {' or '.join(unseen)} could be read (groups labelled: {', '.join(named) or 'none'}), so how often "
            f"the reader errs there is unknown. Expected pictures of {', '.join(groups)} in column group: add some."
        )


def shares_through_reader(
    read: pl.DataFrame,
    labelled: pl.DataFrame,
    groups: Sequence[str] = ("Female", "Male"),
    draws: int = 1999,
    seed: int = 0,
) -> pl.DataFrame:
    """Return `shares_by_occupation` through a reader, corrected for its errors; null where nobody was read."""
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


def _unmix(read: np.ndarray, confusion: np.ndarray) -> np.ndarray | None:
    """Solve for the true shares, clipped to the simplex; None if that is impossible."""
    rows = confusion.sum(axis=1, keepdims=True)
    if np.any(rows == 0):
        return None
    rates = confusion / rows
    if np.linalg.cond(rates) > WORST:
        return None
    true = np.clip(np.linalg.solve(rates.T, read / read.sum()), 0, None)
    return true / true.sum()


def _redrawn(read: np.ndarray, confusion: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Redraw the shares behind both samples, half a case added to each count.

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
    """Return credible intervals of the shares (Jeffreys) by importance sampling: ends x groups."""
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

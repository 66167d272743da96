"""Views of pictures: values that several measures ask for are computed once.

A row is one picture, or several alike (in tables larger than memory), whose cluster columns are then sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from portrayal.tables import ANSWERED

Rows = Iterator[dict[str, Any]]
BASELINE = "baseline"
NEUTRAL = "neutral"
ALIKE = "pictures"  # how many pictures a row stands for
TAGGED = "pictures with a tag"  # of these, those that have tags to share out
DIFFERENCES = "differences"  # of a result: each person's difference, for the tests that flip whole people


def column(cluster: str) -> str:
    """Return the column that counts a cluster's tags; factors may be called like clusters."""
    return f"in {cluster}"


def share_column(cluster: str) -> str:
    """Return the column that sums a cluster's shares over several pictures."""
    return f"shares of {cluster}"


@dataclass(frozen=True, eq=False)
class View:
    """Some pictures of one system, and the people who are counted in them."""

    table: pl.DataFrame
    people: np.ndarray  # in order of name
    system: str = ""
    _shares: dict[tuple[str, ...], np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, table: pl.DataFrame, system: str = "") -> View:
        """Return the view of a table, with everybody in it."""
        return cls(table, table["person"].drop_nulls().unique().sort().to_numpy().astype(object), system)

    def __len__(self) -> int:
        return self.table.height

    def __getitem__(self, name: str) -> pl.Series:
        return self.table[name]

    def where(self, chosen: pl.Series | pl.Expr) -> View:
        """Return the chosen pictures with the same people."""
        return View(self.table.filter(chosen), self.people, self.system)

    @cached_property
    def own(self) -> View:
        """The same pictures, and only those people who are in them."""
        return View.of(self.table, self.system)

    @cached_property
    def single(self) -> bool:
        """True where every row is one picture."""
        return ALIKE not in self.table.columns

    @cached_property
    def alone(self) -> View:
        """The pictures of people alone."""
        return self.where(pl.col("role") == BASELINE)

    @cached_property
    def placed(self) -> View:
        """The pictures of people in places."""
        return self.where(pl.col("role") == "composite")

    @cached_property
    def places(self) -> list[str]:
        """The contexts that people were put in, in order of code."""
        return sorted(self.placed["context"].drop_nulls().unique().to_list())

    @cached_property
    def at(self) -> dict[str | None, View]:
        """The pictures of people alone (`baseline`) and in each place."""
        return {BASELINE: self.alone, **{place: self.placed.where(pl.col("context") == place) for place in self.places}}

    @cached_property
    def answered(self) -> View:
        """The pictures that were answered; a list without a tag is an answer."""
        known = self.table["status"].is_in(ANSWERED)
        return self if known.sum() == len(self) else self.where(known)

    @cached_property
    def alike(self) -> np.ndarray:
        """The number of pictures that each row stands for."""
        return np.ones(len(self), dtype=np.int64) if self.single else self.table[ALIKE].to_numpy()

    @cached_property
    def count(self) -> int:
        """The number of pictures."""
        return int(self.alike.sum())

    @cached_property
    def missing(self) -> tuple[int, str]:
        """The number of pictures without an answer, and how they break down."""
        if self.answered is self:
            return 0, ""
        lost = self.where(~pl.col("status").is_in(ANSWERED))
        kinds = lost.table.select("status", count=lost.alike).group_by("status").sum()
        parts = kinds.sort("count", "status", descending=[True, False]).rows()
        return lost.count, ", ".join(f"{count} {status}" for status, count in parts)

    @cached_property
    def positions(self) -> np.ndarray:
        """The place of each picture's person among the people."""
        # A look-up by hash; a search among sorted objects takes ten times as long.
        return self.table["person"].cast(pl.Enum(self.people.tolist())).to_physical().to_numpy().astype(int)

    @cached_property
    def n_people(self) -> int:
        """The number of people in the pictures."""
        return self.table["person"].n_unique()

    @cached_property
    def each(self) -> np.ndarray:
        """The number of pictures of each person."""
        return self.per_person(self.alike)

    def per_person(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of `values` (one per row) for each person."""
        weights = np.asarray(values, float)
        return np.bincount(self.positions, weights=weights, minlength=len(self.people)).astype(float)

    def counts(self, chosen: np.ndarray) -> np.ndarray:
        """Return the number of `chosen` pictures (or how much of each) of each person."""
        return self.per_person(chosen * self.alike)

    def means(self, values: np.ndarray, counted: str = TAGGED) -> np.ndarray:
        """Return the mean of `values` over each person's pictures; NaN without any number.

        Where a row stands for several pictures, its value is the mean over those that its column `counted` counts.
        """
        values = np.asarray(values, dtype=float)
        there = ~np.isnan(values)
        parts = there * (1 if self.single else self.table[counted].to_numpy())
        sums, counts = self.per_person(np.where(there, values, 0.0) * parts), self.per_person(parts)
        return np.divide(sums, counts, out=np.full(len(self.people), np.nan), where=counts > 0)

    def inferred(self, gender: str) -> np.ndarray:
        """Return in which of the pictures this gender is inferred."""
        return self.table["inferred"].eq_missing(gender).to_numpy()

    @cached_property
    def recognised(self) -> np.ndarray:
        """In which of the pictures the place is recognised."""
        return self.table["recognised"].fill_null(False).to_numpy()

    def shares(self, clusters: Sequence[str]) -> np.ndarray:
        """Return each cluster's proportion of a picture's tags; NaN without tags."""
        key = tuple(clusters)
        if key not in self._shares:
            self._shares[key] = cluster_shares(self.table, key)
        return self._shares[key]

    def levels(self, factors: Sequence[str]) -> dict[str, np.ndarray]:
        """Return each person's level of each factor; an empty string where it is not known."""
        people = self.table.filter(pl.col("person").is_not_null()).unique("person").sort("person")
        named = [name for name in dict.fromkeys(factors) if name in people.columns]
        known = people.select(pl.col(named).cast(pl.String).fill_null(""))
        return {levels.name: levels.to_numpy().astype(str) for levels in known}


def by_system(pictures: pl.DataFrame) -> list[View]:
    """Return the pictures of each system, in order of first appearance."""
    return [View.of(part, str(name)) for (name,), part in pictures.group_by("system", maintain_order=True)]


def cluster_shares(table: pl.DataFrame, clusters: Sequence[str]) -> np.ndarray:
    """Return each cluster's proportion of tags, or its mean over a row's pictures."""
    name, whole = (share_column, TAGGED) if ALIKE in table.columns else (column, "tags")
    parts, wholes = table.select(map(name, clusters)).to_numpy(), table[whole].to_numpy()[:, None]
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)

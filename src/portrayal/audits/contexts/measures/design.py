"""Design of a contexts study: genders, factors, stereotypes, and the rows that are wanted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

SUPER = ("demographics", "concrete", "abstract")  # the headline vector
SUB = ("masculine", "feminine", "judgement", "traits", "emotion", "occupation")
VECTORS: Mapping[str, Sequence[str]] = {
    "with other": (*SUPER, "other"),
    "sub-clusters": SUB,
    "sub-clusters and concrete": (*SUB, "age", "origin", "concrete"),
}
LABELS: Mapping[str, Sequence[str]] = {
    "feminine": ("female", "woman", "women", "Female", "Woman", "Women", "F", "f"),
    "masculine": ("male", "man", "men", "Male", "Man", "Men", "M", "m"),
    "nonbinary": ("nonbinary", "non-binary", "Nonbinary", "Non-binary", "NB", "nb", "genderqueer", "agender"),
}
# What a row is about, beside its system, measure and groups.
FACETS = ("place", "background", "inferred", "attribute", "factor", "vector", "code", "of", "confidence")
# The measures whose p-values are corrected together unless a study says otherwise. Tukey's pairs carry their own
# correction; variants repeat the headline test.
FAMILY = (
    "congruence", "inferred_change", "recognition_independence", "distance_anova", "attribute_within",
    "attribute_between", "expectancy", "misgendered", "misgendered_worst_group", "unnamed_worst_group",
)  # fmt: skip
# Shares of one whole: what rises in one of these columns falls in another.
SIDES = {"inferred_change": "inferred", "attribute_within": "attribute", "attribute_between": "attribute"}


@dataclass(frozen=True)
class Design:
    """A study as far as its measures need it."""

    genders: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)  # cluster to depicted labels
    gender: str = "gender"  # the factor that holds the depicted label
    factors: Sequence[str] = ("gender", "race")  # of the ANOVA and the cells
    stereotypes: Mapping[str, str] = field(default_factory=dict)  # place to gender cluster
    vectors: Mapping[str, Sequence[str]] = field(default_factory=lambda: VECTORS)
    mixed: bool = True
    described: bool = True  # false: the rows that are tested alone
    seed: int = 0
    tolerance: float = 0.05  # the share of pictures that may be misgendered
    # Where only some tests are wanted: measure to its places (None among them for the test over all places).
    only: Mapping[str, Collection[str | None]] | None = None
    named: Sequence[str] = ()  # the genders that people show, places mean or answers name; see `fit`

    @property
    def describes(self) -> bool:
        """True where rows that only describe are wanted too."""
        return self.described and self.only is None

    def wants(self, *measures: str) -> bool:
        """Return whether one of these measures is wanted."""
        return self.only is None or any(name in self.only for name in measures)

    def wanted(self, measure: str, places: Sequence[str | None]) -> list[str | None]:
        """Return those of the places of which a measure is wanted."""
        return [place for place in places if self.only is None or place in self.only.get(measure, ())]

    @property
    def cluster_of(self) -> dict[str, str]:
        """The gender cluster of every depicted label."""
        return {label: cluster for cluster, labels in self.genders.items() for label in labels}

    def fit(self, pictures: pl.DataFrame) -> Design:
        """Return the design with the genders, factors and vectors that these pictures have."""
        labels = pictures[self.gender].unique().to_list() if self.gender in pictures.columns else []
        there = {*self.stereotypes.values(), *pictures["inferred"].unique()}
        columns = set(pictures.columns)
        vectors = {name: parts for name, parts in self.vectors.items() if {f"in {part}" for part in parts} <= columns}
        named = [name for name, known in self.genders.items() if name in there or not set(known).isdisjoint(labels)]
        return replace(self, named=named, vectors=vectors, factors=[name for name in self.factors if name in columns])


def stereotypes_of(contexts: pl.DataFrame) -> dict[str, str]:
    """Return the gender that each stereotyped place goes with."""
    return dict(contexts.drop_nulls("stereotype").select("context", "stereotype").iter_rows())


def place_names(contexts: pl.DataFrame) -> dict[str, str]:
    """Return each place's name for readers; a place without one goes by its code."""
    return dict(contexts.select("context", "name").drop_nulls().filter(pl.col("name") != "").iter_rows())

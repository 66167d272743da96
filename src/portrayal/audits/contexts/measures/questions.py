"""All four questions at once: from pictures to one Results table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import congruence, expectancy
from portrayal.audits.contexts.measures.coverage import coverage, note_coverage
from portrayal.audits.contexts.measures.membership import SUPER
from portrayal.audits.contexts.measures.mixed import mixed
from portrayal.audits.contexts.measures.nobody import nobody
from portrayal.audits.contexts.measures.people import DIFFERENCES
from portrayal.audits.contexts.measures.pictures import column, pictures_where
from portrayal.audits.contexts.measures.rq1_inferences import inferences
from portrayal.audits.contexts.measures.rq2_recognition import recognition
from portrayal.audits.contexts.measures.rq3_accuracy import accuracy
from portrayal.audits.contexts.measures.rq4_attributes import attributes
from portrayal.audits.contexts.measures.rq4_descriptions import descriptions
from portrayal.audits.contexts.measures.sharing import sharing
from portrayal.tables import results

# What a row is about, beside its system, measure and groups.
FACETS = ("place", "background", "inferred", "attribute", "factor", "vector", "code", "of", "confidence")
# The measures whose p-values are corrected together unless a study says otherwise. Tukey's pairs carry their own
# correction; variants repeat the headline test.
FAMILY = (
    "congruence",
    "inferred_change",
    "recognition_independence",
    "distance_anova",
    "attribute_within",
    "attribute_between",
    "expectancy",
)
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


@dataclass(frozen=True)
class Design:
    """What the questions need to know of a study."""

    genders: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)  # cluster to depicted labels
    gender: str = "gender"  # the factor that holds the depicted label
    factors: Sequence[str] = ("gender", "race")  # of the ANOVA and the cells
    stereotypes: Mapping[str, str] = field(default_factory=dict)  # place to gender cluster
    vectors: Mapping[str, Sequence[str]] = field(default_factory=lambda: VECTORS)
    mixed: bool = True
    described: bool = True  # false: the rows that are tested alone
    seed: int = 0
    # Where not all is asked: tests by measure, each with the places it is wanted of (None where it is over all).
    only: Mapping[str, Collection[str | None]] | None = None

    def describes(self) -> bool:
        """Whether rows that only describe are asked too."""
        return self.described and self.only is None

    def asks(self, *measures: str) -> bool:
        """Whether all is asked, or one of these measures."""
        return self.only is None or any(name in self.only for name in measures)

    def places(self, measure: str) -> Collection[str | None] | None:
        """Return the places a measure is wanted of; None where it is of all."""
        return None if self.only is None else self.only.get(measure, ())


def answer_questions(pictures: pl.DataFrame, design: Design) -> pl.DataFrame:
    """Return the Results of all questions for all systems in `pictures` (from `describe_pictures`)."""
    return answers_and_differences(pictures, design)[0]


def answers_and_differences(pictures: pl.DataFrame, design: Design) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the Results, and each person's difference in the rows that test people together (row, unit, difference)."""
    with sharing():
        rows = list(_rows(pictures, design))
    schema = {"row": pl.Int64, "unit": pl.String, "difference": pl.Float64}
    apart = [
        pl.DataFrame({"row": np.full(len(values), at), "unit": list(people), "difference": values}, schema)
        for at, row in enumerate(rows)
        if DIFFERENCES in row
        for people, values in [row.pop(DIFFERENCES)]
    ]
    return (
        results(note_coverage(rows), facets=FACETS, audit="contexts"),
        pl.concat([pl.DataFrame(schema=schema), *apart]),
    )


def _rows(pictures: pl.DataFrame, design: Design) -> Iterator[dict[str, Any]]:
    people = pictures_where(pictures, pictures["person"].is_not_null())
    clusters = named_genders(pictures, design)
    factors = [name for name in design.factors if name in pictures.columns]
    all_told = design.describes()
    vectors = _possible(design.vectors, pictures) if all_told else {}
    yield from chain(
        congruence(people, design.stereotypes) if design.asks("congruence") else (),
        accuracy(people, design.genders, design.gender) if all_told else (),
        inferences(people, clusters, design.gender, design.places("inferred_change"), all_told),
        recognition(people, clusters, design.seed, design.places("recognition_independence"), all_told),
        descriptions(people, factors, vectors, design.seed, design.places("distance_anova"), all_told),
        attributes(people, design.gender, factors, seed=design.seed, described=all_told)
        if design.asks("attribute_within", "attribute_between")
        else (),
        expectancy(people, design.stereotypes, design.genders, design.gender) if design.asks("expectancy") else (),
        mixed(people, factors, design.stereotypes, design.genders, design.gender) if design.mixed and all_told else (),
        nobody(pictures, clusters, design.stereotypes) if all_told else (),
        coverage(pictures, [*SUPER, "other"]),  # every row notes it
    )


def named_genders(pictures: pl.DataFrame, design: Design) -> list[str]:
    """Return the genders of people, of places or of answers; one that nobody shows, means or says gets no rows."""
    labels = pictures[design.gender].unique().to_list() if design.gender in pictures.columns else []
    there = {*design.stereotypes.values(), *pictures["inferred"].unique()}
    return [name for name, known in design.genders.items() if name in there or not set(known).isdisjoint(labels)]


def _possible(vectors: Mapping[str, Sequence[str]], pictures: pl.DataFrame) -> dict[str, Sequence[str]]:
    """Keep the vectors whose clusters the typology has."""
    return {name: parts for name, parts in vectors.items() if {column(part) for part in parts} <= set(pictures.columns)}

"""RQ4: how far a description moves from the same person's baseline, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    condition,
    people_of,
    person_means,
    places_of,
    positions,
)
from portrayal.audits.contexts.measures.pictures import BASELINE, SUPER, by_system, shares, usable
from portrayal.report.words import number
from portrayal.stats.estimate import Estimate
from portrayal.stats.groups import Anova, anova, tukey
from portrayal.stats.intervals import clustered_mean

Rows = Iterator[dict[str, Any]]
LEAST = 3  # people in a cell; fewer is NA
PAPER_TUKEY = 0.006  # the paper's threshold for Tukey's test: .05 over eight contexts


@dataclass(frozen=True)
class Distances:
    """One distance per person for one system and place, with the people's factors."""

    people: np.ndarray
    values: np.ndarray  # NaN where a vector is all zero or a picture is missing
    factors: Mapping[str, np.ndarray]

    def there(self) -> np.ndarray:
        """Say whose distance and factors are all known."""
        known = ~np.isnan(self.values)
        for levels in self.factors.values():
            known &= levels != ""
        return known


def cosine_distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return 1 - cos of the rows; an all-zero row has no direction, so its distance is NaN, not 1.

    Examples
    --------
    >>> cosine_distance(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [0.0, nan]
    """
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    dots = np.sum(first * second, axis=1)
    cosines = np.divide(dots, lengths, out=np.full(len(dots), np.nan), where=lengths > 0)
    return np.clip(1.0 - cosines, 0.0, 2.0)


def distances(
    part: pl.DataFrame, place: str, factors: Sequence[str], clusters: Sequence[str] = SUPER
) -> Distances:
    """Return each person's mean cosine distance between their baseline and their pictures in `place`."""
    people = people_of(part)
    here, alone = usable(condition(part, place)), usable(condition(part, BASELINE))
    base = np.stack([person_means(alone, people, column) for column in shares(alone, clusters).T], axis=1)
    apart = cosine_distance(shares(here, clusters), np.nan_to_num(base[positions(here, people)]))
    return Distances(people, person_means(here, people, apart), levels_of(part, people, factors))


def levels_of(part: pl.DataFrame, people: np.ndarray, factors: Sequence[str]) -> dict[str, np.ndarray]:
    """Return each person's level of each factor; an empty string where it is not known."""
    known = part.filter(pl.col("person").is_not_null()).unique("person").sort("person")
    return {
        name: known[name].cast(pl.String).fill_null("").to_numpy().astype(str)
        for name in factors
        if name in known.columns and known.height == len(people)
    }


def cells_of(factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the name of each person's cell: the levels joined by commas."""
    columns = list(factors.values())
    return np.array([", ".join(levels) for levels in zip(*columns, strict=True)], dtype=object)


def descriptions(pictures: pl.DataFrame, factors: Sequence[str], clusters: Sequence[str] = SUPER) -> Rows:
    """Yield `distance`, `distance_anova`, `distance_tukey` and `distance_tukey_factor` rows (Tables 10 and 12)."""
    for system, part in by_system(pictures).items():
        if not condition(part, BASELINE).height:
            continue
        for place in places_of(part):
            found = distances(part, place, factors, clusters)
            yield from _cells(system, place, found)
            yield from _tests(system, place, found)


def _cells(system: str, place: str, found: Distances) -> Rows:
    known = found.there()
    missing = int((~known).sum())
    yield _mean(system, f"{place} | all", found.values[known], missing, least=1)
    if not found.factors:
        return
    cells = cells_of(found.factors)
    for cell in sorted(set(cells.tolist())):
        inside = cells == cell
        values = found.values[inside & known]
        yield _mean(system, f"{place} | {cell}", values, int((inside & ~known).sum()), least=LEAST)


def _mean(system: str, group: str, values: np.ndarray, missing: int, least: int) -> dict[str, Any]:
    found = clustered_mean(values)
    if len(values) < least:
        found = Estimate(n=len(values), note=f"NA: {len(values)} people, fewer than {least}")
    return found.row("distance", system=system, group=group, n_missing=missing, unit="cosine distance")


def _tests(system: str, place: str, found: Distances) -> Rows:
    known = found.there()
    factors = {name: levels[known] for name, levels in found.factors.items()}
    varied = {name: levels for name, levels in factors.items() if len(set(levels.tolist())) > 1}
    for name in (name for name in factors if name not in varied):
        note = "not estimated: a factor has a single level here"
        nothing = Estimate(
            n=int(known.sum()), n_missing=int((~known).sum()), unit="partial eta squared", note=note
        )
        yield nothing.row("distance_anova", system=system, group=f"{place} | {name}")
    if not varied:
        return
    values = found.values[known]
    model = anova(values, dict(list(varied.items())[:2]))
    yield from _anova_rows(system, place, model, int((~known).sum()))
    yield from _tukey_rows(system, place, "distance_tukey", values, cells_of(varied), model)
    for name, levels in varied.items():
        yield from _tukey_rows(system, f"{place} | {name}", "distance_tukey_factor", values, levels, model)


def _anova_rows(system: str, place: str, model: Anova, missing: int) -> Rows:
    for term in model.terms:
        note = f"F({term.df}, {model.residual_df}) = {number(term.f)}, type II"
        yield term.row(
            "distance_anova", system=system, group=f"{place} | {term.name}", n_missing=missing,
            unit="partial eta squared", note=f"not estimated: {term.note}" if term.note else note,
        )  # fmt: skip


def _tukey_rows(
    system: str, place: str, measure: str, values: np.ndarray, groups: np.ndarray, model: Anova
) -> Rows:
    for pair in tukey(values, groups, model.residual_variance, model.residual_df, LEAST):
        paper = "beyond" if pair.p < PAPER_TUKEY else "not beyond"
        note = f"Tukey-Kramer; {paper} the paper's threshold of {PAPER_TUKEY}"
        yield pair.row(
            measure, system=system, group=place, contrast=f"{pair.first} minus {pair.second}", p_adjusted=pair.p,
            n_missing=None, unit="cosine distance", note=f"NA: {pair.note}" if pair.note else note,
        )  # fmt: skip


def variants(pictures: pl.DataFrame, factors: Sequence[str], vectors: Mapping[str, Sequence[str]]) -> Rows:
    """Yield `distance_variant` rows: the mean distance and the smallest ANOVA p under other vectors.

    The headline vector is demographics, concrete, abstract; sub-clusters and "other" are variants.
    """
    for system, part in by_system(pictures).items():
        if not condition(part, BASELINE).height:
            continue
        for place in places_of(part):
            for name, clusters in vectors.items():
                yield _variant(system, place, name, distances(part, place, factors, clusters))


def _variant(system: str, place: str, name: str, found: Distances) -> dict[str, Any]:
    known = found.there()
    values = found.values[known]
    factors = {
        key: levels[known] for key, levels in found.factors.items() if len(set(levels[known].tolist())) > 1
    }
    terms = anova(values, dict(list(factors.items())[:2])).terms if factors else ()
    tested = [(term.p, term.name) for term in terms if not term.note]
    best = min(tested, default=(np.nan, "nothing could be tested"))
    return clustered_mean(values).row(
        "distance_variant", system=system, group=f"{place} | {name}", p=best[0], n_missing=int((~known).sum()),
        unit="cosine distance", note=f"smallest of {len(tested)} ANOVA p: {best[1]}",
    )  # fmt: skip

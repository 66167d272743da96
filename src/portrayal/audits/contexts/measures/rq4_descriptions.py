"""RQ4: distance of descriptions from a person's baseline (Barlas et al. 2020, Sections 4.5.3, 5.4, Tables 10 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from portrayal.audits.contexts.measures.design import SUPER, Design
from portrayal.audits.contexts.measures.views import Rows, View
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED, STILL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.models.groups import Anova, anova, permute_terms, tukey
from portrayal.text.formatting import number, plural

LEAST = 3  # people in a cell; fewer is NA
PAPER_TUKEY = 0.006  # the paper's threshold for Tukey's test: .05 over eight contexts
DISTANCE = {"unit": "cosine distance", "counted": "people"}  # columns of rows
TERM = {"unit": "partial eta squared", "counted": "people"}


@dataclass(frozen=True)
class Distances:
    """One distance per person for one system and place, with the people's factors."""

    values: np.ndarray  # NaN where a vector is all zero or a picture is missing
    factors: Mapping[str, np.ndarray]

    @cached_property
    def known(self) -> np.ndarray:
        """The people whose distance and factors are all known."""
        return np.logical_and.reduce([~np.isnan(self.values), *(levels != "" for levels in self.factors.values())])

    @property
    def missing(self) -> int:
        """The number of the other people."""
        return int((~self.known).sum())

    @cached_property
    def levels(self) -> dict[str, np.ndarray]:
        """The factors of these people, if there are any."""
        return {name: levels[self.known] for name, levels in self.factors.items() if self.known.any()}

    @cached_property
    def varied(self) -> dict[str, np.ndarray]:
        """The levels of up to two factors that vary among these people."""
        varied = [(name, levels) for name, levels in self.levels.items() if len(set(levels.tolist())) > 1]
        return dict(varied[:2])


def cosine_distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return 1 - cos of the rows; NaN where one is all zero."""
    units = []
    for rows in (np.asarray(first, dtype=float), np.asarray(second, dtype=float)):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        units.append(np.divide(rows, lengths, out=np.full(rows.shape, np.nan), where=lengths > 0))
    # Half the squared distance of unit vectors: exactly 0 for equal ones, where 1 - cos would leave rounding.
    apart = np.minimum(0.5 * np.sum((units[0] - units[1]) ** 2, axis=1), 2.0)
    return np.where(apart < STILL, 0.0, apart)


def distances_from_baseline(here: View, alone: View, clusters: Sequence[str]) -> np.ndarray:
    """Return each picture's cosine distance from the same person's mean baseline."""
    base = np.stack([alone.means(shares) for shares in alone.shares(clusters).T], axis=1)
    return cosine_distance(here.shares(clusters), np.nan_to_num(base[here.positions]))


def distances(view: View, place: str | None, factors: Sequence[str], clusters: Sequence[str] = SUPER) -> Distances:
    """Return each person's mean distance from baseline in a place."""
    here = view.at[place].answered
    return Distances(here.means(distances_from_baseline(here, view.alone.answered, clusters)), view.levels(factors))


def cells_of(factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the name of each person's cell: the levels joined by commas."""
    first, *others = factors.values()
    for levels in others:
        first = np.char.add(np.char.add(first, ", "), levels)
    return first


def descriptions(view: View, design: Design) -> Rows:
    """Yield `distance`, `distance_anova`, `distance_tukey`, `distance_tukey_factor` and `distance_variant` rows."""
    if not len(view.alone) or not view.single:
        return
    for place in design.wanted("distance_anova", view.places):
        about = {"system": view.system, "place": place}
        headline = distances(view, place, design.factors)
        if design.describes:
            yield from _cells(headline, about)
        yield from _tests(headline, about, design)
        for name, clusters in design.vectors.items() if design.describes else ():
            other = distances(view, place, design.factors, clusters)
            for term in anova(other.values[other.known], other.varied).terms if other.varied else ():
                row = {**about, **TERM, "vector": name, "factor": term.name, "n_missing": other.missing}
                yield term.row("distance_variant", family=EXPLORATORY, **row)


def _cells(found: Distances, about: dict[str, Any]) -> Rows:
    """Yield the mean distance of everybody, and of each cell of the factors."""
    everybody = found.values[found.known]
    mean = clustered_mean(everybody) if len(everybody) else too_few_people(0, 1)
    yield mean.row("distance", n_missing=found.missing, **DISTANCE, **about)
    cells = cells_of(found.factors) if found.factors else np.zeros(0, str)
    for cell in sorted(set(cells.tolist())):
        values, lost = (found.values[(cells == cell) & which] for which in (found.known, ~found.known))
        mean = clustered_mean(values) if len(values) >= LEAST else too_few_people(len(values))
        yield mean.row("distance", group=cell, n_missing=len(lost), **DISTANCE, **about)


def too_few_people(n: int, least: int = LEAST) -> Estimate:
    """Return the estimate of a cell with fewer people than a mean takes."""
    return Estimate(n=n, note=f"NA: {plural(n, 'person', 'people')}, fewer than {least}")


def _tests(found: Distances, about: dict[str, Any], design: Design) -> Rows:
    values, varied = found.values[found.known], found.varied
    about = {**about, "n_missing": found.missing}
    for name, levels in found.levels.items():
        if len(set(levels.tolist())) < 2:
            reason = f"all the people it answered about are of one {name}"
            nothing = Estimate(n=len(values), decision=NOT_TESTED, reason=reason)
            yield nothing.row("distance_anova", factor=name, **TERM, **about)
    if not varied:
        return
    model, permuted = anova(values, varied), permute_terms(values, varied, design.seed)
    for term in model.terms:
        if term.note:
            tested: Estimate = replace(term, note="", decision=NOT_TESTED, reason=term.note)
        else:
            p = {"p": permuted.p[term.name], "p_floor": permuted.floor} if permuted else {}
            tested = replace(term, note=f"F({term.df}, {model.residual_df}) = {number(term.f)}, type II", **p)
        yield tested.row("distance_anova", factor=term.name, **TERM, **about)
    if design.describes:
        yield from _tukey_rows("distance_tukey", values, cells_of(varied), model, about)
        for name, levels in varied.items():
            yield from _tukey_rows("distance_tukey_factor", values, levels, model, {**about, "factor": name})


def _tukey_rows(measure: str, values: np.ndarray, groups: np.ndarray, model: Anova, about: dict[str, Any]) -> Rows:
    about = {**about, **DISTANCE, "n_missing": None, "family": EXPLORATORY}
    for pair in tukey(values, groups, model.residual_variance, model.residual_df, LEAST):
        paper = "beyond" if pair.p < PAPER_TUKEY else "not beyond"
        note = f"Tukey-Kramer; {paper} the paper's threshold of {PAPER_TUKEY}"
        note = f"NA: {pair.note}" if pair.note else note
        yield pair.row(measure, group=pair.first, versus=pair.second, note=note, **about)

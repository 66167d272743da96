"""RQ4: how far a description moves from the same person's baseline, and for whom.

Barlas et al. (2020), To "See" is to Stereotype, CSCW3, Sections 4.5.3 and 5.4, Tables 10 and 12.
"""

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
from portrayal.stats.models.groups import Anova, Term, anova, permute_terms, tukey
from portrayal.text.formatting import number, plural

HEADLINE = "demographics, concrete, abstract"
LEAST = 3  # people in a cell; fewer is NA
PAPER_TUKEY = 0.006  # the paper's threshold for Tukey's test: .05 over eight contexts


@dataclass(frozen=True)
class Distances:
    """One distance per person for one system and place, with the people's factors."""

    values: np.ndarray  # NaN where a vector is all zero or a picture is missing
    factors: Mapping[str, np.ndarray]

    @cached_property
    def known(self) -> np.ndarray:
        """The people whose distance and factors are all known."""
        known = ~np.isnan(self.values)
        for levels in self.factors.values():
            known &= levels != ""
        return known

    @cached_property
    def missing(self) -> int:
        """The number of the other people."""
        return int((~self.known).sum())

    @cached_property
    def varied(self) -> dict[str, np.ndarray]:
        """The levels of up to two factors that vary among these people."""
        varied = {name: one for name, one in self._levels.items() if len(set(one.tolist())) > 1}
        return dict(list(varied.items())[:2])

    @cached_property
    def constant(self) -> list[str]:
        """The factors that do not vary among these people."""
        return [name for name, one in self._levels.items() if len(set(one.tolist())) < 2]

    @property
    def _levels(self) -> dict[str, np.ndarray]:
        return {name: levels[self.known] for name, levels in self.factors.items() if self.known.any()}


def cosine_distance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return 1 - cos of the rows; NaN where one is all zero.

    Examples
    --------
    >>> cosine_distance(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [0.0, nan]
    """
    units = [_directions(np.asarray(rows, dtype=float)) for rows in (first, second)]
    # Half the squared distance of unit vectors: exactly 0 for equal ones, where 1 - cos would leave rounding.
    apart = np.minimum(0.5 * np.sum((units[0] - units[1]) ** 2, axis=1), 2.0)
    return np.where(apart < STILL, 0.0, apart)


def _directions(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.full(rows.shape, np.nan), where=lengths > 0)


def distances_from_baseline(here: View, alone: View, clusters: Sequence[str]) -> np.ndarray:
    """Return each picture's cosine distance from the same person's mean baseline."""
    base = np.stack([alone.means(shares) for shares in alone.shares(clusters).T], axis=1)
    return cosine_distance(here.shares(clusters), np.nan_to_num(base[here.positions]))


def distances(
    view: View, place: str, factors: Sequence[str], vectors: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Distances]:
    """Return each person's mean distance from baseline in a place, by vector."""
    here, alone, levels = view.at[place].answered, view.alone.answered, view.levels(factors)
    return {
        name: Distances(here.means(distances_from_baseline(here, alone, clusters)), levels)
        for name, clusters in (vectors or {HEADLINE: SUPER}).items()
    }


def cells_of(factors: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the name of each person's cell: the levels joined by commas."""
    first, *others = factors.values()
    for levels in others:
        first = np.char.add(np.char.add(first, ", "), levels)
    return first


def descriptions(view: View, design: Design) -> Rows:
    """Yield `distance`, `distance_anova`, `distance_tukey`, `distance_tukey_factor` and `distance_variant` rows.

    The headline vector is demographics, concrete, abstract. The p of `distance_anova` comes from permuting people; the
    F of its note has the F distribution's. `distance_variant` rows are the same tests under the other vectors
    (sub-clusters, "other"). All need single pictures.
    """
    if not len(view.alone) or not view.single:
        return
    vectors = design.vectors if design.describes else {}
    for place in design.wanted("distance_anova", view.places):
        about = {"system": view.system, "place": place}
        found = distances(view, place, design.factors, {HEADLINE: SUPER, **vectors})
        if design.describes:
            yield from _cells(found[HEADLINE], about)
        yield from _tests(found[HEADLINE], about, design)
        for name in vectors:
            yield from _variant(found[name], {**about, "vector": name})


def _cells(found: Distances, about: dict[str, Any]) -> Rows:
    yield _mean(found.values[found.known], found.missing, 1, about)
    if not found.factors:
        return
    cells = cells_of(found.factors)
    for cell in sorted(set(cells.tolist())):
        inside = cells == cell
        lost = int((inside & ~found.known).sum())
        yield _mean(found.values[inside & found.known], lost, LEAST, {**about, "group": cell})


def _mean(values: np.ndarray, missing: int, least: int, about: dict[str, Any]) -> dict[str, Any]:
    found = clustered_mean(values)
    if len(values) < least:
        found = Estimate(n=len(values), note=f"NA: {count_people(len(values))}, fewer than {least}")
    return found.row("distance", n_missing=missing, unit="cosine distance", counted="people", **about)


def count_people(amount: int) -> str:
    """Write '1 person' or '2 people'."""
    return plural(amount, "person", "people")


def _tests(found: Distances, about: dict[str, Any], design: Design) -> Rows:
    values, varied = found.values[found.known], found.varied
    for name in found.constant:
        reason = f"all the people it answered about are of one {name}"
        nothing = Estimate(n=len(values), decision=NOT_TESTED, reason=reason)
        yield _anova_row(nothing, name, found.missing, about)
    if not varied:
        return
    model, permuted = anova(values, varied), permute_terms(values, varied, design.seed)
    for term in model.terms:
        tested = term
        if permuted and not term.note:
            tested = replace(term, p=permuted.p[term.name], p_floor=permuted.floor)
        yield _anova_row(tested, term.name, found.missing, about, model.residual_df)
    if design.describes:
        yield from _tukey_rows("distance_tukey", values, cells_of(varied), model, about)
        for name, levels in varied.items():
            yield from _tukey_rows("distance_tukey_factor", values, levels, model, {**about, "factor": name})


def _anova_row(
    term: Estimate, factor: str, missing: int, about: dict[str, Any], residual_df: int = 0
) -> dict[str, Any]:
    note = f"F({term.df}, {residual_df}) = {number(term.f)}, type II" if isinstance(term, Term) else ""
    untested = {"decision": NOT_TESTED, "reason": term.note} if term.note else {}
    return term.row(
        "distance_anova", factor=factor, n_missing=missing, unit="partial eta squared", counted="people",
        **{"note": "" if term.note else note, **untested}, **about,
    )  # fmt: skip


def _tukey_rows(measure: str, values: np.ndarray, groups: np.ndarray, model: Anova, about: dict[str, Any]) -> Rows:
    for pair in tukey(values, groups, model.residual_variance, model.residual_df, LEAST):
        paper = "beyond" if pair.p < PAPER_TUKEY else "not beyond"
        note = f"Tukey-Kramer; {paper} the paper's threshold of {PAPER_TUKEY}"
        yield pair.row(
            measure, group=pair.first, versus=pair.second, n_missing=None, unit="cosine distance",
            counted="people", family=EXPLORATORY, note=f"NA: {pair.note}" if pair.note else note, **about,
        )  # fmt: skip


def _variant(found: Distances, about: dict[str, Any]) -> Rows:
    for term in anova(found.values[found.known], found.varied).terms if found.varied else ():
        yield term.row(
            "distance_variant", factor=term.name, n_missing=found.missing, unit="partial eta squared",
            counted="people", family=EXPLORATORY, **about,
        )  # fmt: skip

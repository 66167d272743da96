"""RQ4: descriptions that move from a person's baseline (Barlas et al. 2020, Section 5.4).

Tables 10 to 13, Figures 4 to 7; beyond them a mixed model of all places, with people's degrees of freedom for their
factors and the pictures' for congruence (Pinheiro, Bates 2000, Mixed-effects models in S and S-PLUS, Section 2.4.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import FITS, FITS_NOT
from portrayal.audits.contexts.measures.design import SUPER, Design
from portrayal.audits.contexts.measures.views import Rows, View
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED, STILL
from portrayal.stats.decisions.multiplicity import LEVEL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, t_estimate
from portrayal.stats.intervals.shares import bounded_mean, with_missing
from portrayal.stats.models.groups import (
    LEAST,
    anova,
    cells_of,
    compare_pairs,
    has_known_power,
    permute_terms,
    small_groups,
    welch,
)
from portrayal.stats.models.random_intercept import fit_random_intercept
from portrayal.stats.tests.people import permute_labels
from portrayal.text.formatting import listed, number, plural

PAPER_TUKEY = 0.006  # the paper's threshold for Tukey's test: .05 over eight contexts
PAPER_WELCH = 0.002  # the paper's threshold for Welch's t in Tables 11 and 13
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
    def varied(self) -> dict[str, np.ndarray]:
        """The levels of up to two factors that vary among these people."""
        levels = [(name, each[self.known]) for name, each in self.factors.items()]
        return dict([(name, each) for name, each in levels if len(set(each.tolist())) > 1][:2])


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


def _cells(distances: Distances, about: dict[str, Any]) -> Rows:
    """Yield the mean distance of everybody, and of each cell of the factors."""
    everybody = distances.values[distances.known]
    mean = clustered_mean(everybody) if len(everybody) else too_few_people(0, 1)
    yield mean.row("distance", n_missing=distances.missing, **DISTANCE, **about)
    cells = cells_of(distances.factors) if distances.factors else np.zeros(0, str)
    for cell in sorted(set(cells.tolist())):
        values, lost = (distances.values[(cells == cell) & which] for which in (distances.known, ~distances.known))
        mean = clustered_mean(values) if len(values) >= LEAST else too_few_people(len(values))
        yield mean.row("distance", group=cell, n_missing=len(lost), **DISTANCE, **about)


def too_few_people(n: int, least: int = LEAST) -> Estimate:
    """Return the estimate of a cell with fewer people than a mean takes."""
    return Estimate(n=n, note=f"NA: {plural(n, 'person', 'people')}, fewer than {least}")


def _tests(distances: Distances, about: dict[str, Any], design: Design) -> Rows:
    values, varied = distances.values[distances.known], distances.varied
    about = {**about, "n_missing": distances.missing}
    for name, levels in distances.factors.items():
        if len(set(levels[distances.known].tolist())) == 1:
            reason = f"all the people it answered about are of one {name}"
            nothing = Estimate(n=len(values), decision=NOT_TESTED, reason=reason)
            yield nothing.row("distance_anova", factor=name, **TERM, **about)
    if not varied:
        return
    model, permuted = anova(values, varied), permute_terms(values, varied, design.seed)
    for term in model.terms:
        few = small_groups(varied, term.name)
        reason = term.note or (f"too few people with an answer in {listed(few)}" if few else "")
        tested: Estimate = replace(term, note="", p=np.nan, decision=NOT_TESTED, reason=reason)
        if not reason and permuted:
            p = permuted.p[term.name]
            low = term.low if p < LEVEL else 0.0
            note = f"F({term.df}, {model.residual_df}) = {number(term.f)}, type II"
            known: dict[str, Any] = {"tested_by": "variance", "n_first": term.df, "n_second": model.residual_df}
            design_of = known if has_known_power(varied) else {}
            tested = replace(term, low=low, p=p, p_floor=permuted.floor, note=note, **design_of)
        yield tested.row("distance_anova", factor=term.name, **TERM, **about)
    if design.describes:
        yield from _pairs("distance_tukey", values, cells_of(varied), about)
        for name, levels in varied.items():
            yield from _pairs("distance_tukey_factor", values, levels, {**about, "factor": name})


def _pairs(measure: str, values: np.ndarray, groups: np.ndarray, about: dict[str, Any]) -> Rows:
    about = {**about, **DISTANCE, "n_missing": None, "family": EXPLORATORY}
    for pair in compare_pairs(values, groups):
        paper = "beyond" if pair.p < PAPER_TUKEY else "not beyond"
        note = f"Welch, corrected over the pairs; {paper} the paper's threshold of {PAPER_TUKEY}"
        note = f"NA: {pair.note}" if pair.note else note
        yield pair.row(measure, group=pair.first, versus=pair.second, note=note, **about)


def attributes(view: View, design: Design) -> Rows:
    """Yield `attribute_within`, `attribute_between` and `attribute_change` rows."""
    if not design.wants("attribute_within", "attribute_between"):
        return
    levels, nobody = view.levels([design.gender, *design.factors]), np.full(len(view.people), "", dtype=object)
    groups = levels.get(design.gender, nobody)
    inside = {name: levels[name] for name in design.factors if name in levels}
    partitions = [groups, *([cells_of(inside) if inside else nobody] if len(design.factors) > 1 else [])]
    alone = view.alone.answered
    before = [alone.means(shares) for shares in alone.shares(SUPER).T]
    gaps: list[tuple[dict[str, Any], np.ndarray]] = []
    for place in view.places:
        here = view.at[place].answered
        for cluster, shares, then in zip(SUPER, here.shares(SUPER).T, before, strict=True):
            about, now = {"system": view.system, "place": place, "attribute": cluster}, here.means(shares)
            gaps.append(({"measure": "attribute_between", **about}, now))
            if not np.isnan(then).all():
                gaps.append(({"measure": "attribute_within", **about}, now - then))
                for cells in partitions if design.describes else ():
                    yield from _changes(now - then, cells, about)
    if gaps:
        yield from _compare(gaps, groups, design.seed)


def _changes(shift: np.ndarray, cells: np.ndarray, about: dict[str, Any]) -> Rows:
    for cell in sorted(set(cells.tolist()) - {""}):
        inside = cells == cell
        values = shift[inside & ~np.isnan(shift)]
        mean = clustered_mean(values) if len(values) >= LEAST else too_few_people(len(values))
        lost = int(inside.sum()) - len(values)
        yield mean.row("attribute_change", group=cell, n_missing=lost, unit="points", counted="people", **about)


def _compare(gaps: Sequence[tuple[dict[str, Any], np.ndarray]], groups: np.ndarray, seed: int) -> Rows:
    """Compare each two groups in all places and attributes of a system."""
    values = np.stack([one for _, one in gaps], axis=1)
    for first, second in combinations(sorted(set(groups.tolist()) - {""}), 2):
        both = np.isin(groups, [first, second])
        tested = permute_labels(values[both], groups[both] == first, seed)
        for (about, column), p, floor in zip(gaps, tested.p, tested.floor, strict=True):
            there = ~np.isnan(column)
            one, two = (column[(groups == name) & there] for name in (first, second))
            row = {"group": first, "versus": second, "n_missing": int((both & ~there).sum()), **about}
            lost = tuple(int(((groups == name) & ~there).sum()) for name in (first, second))
            gap = _gap(one, two, p, floor, (first, second))
            if about["measure"] == "attribute_between":  # a change has no two ways
                gap = with_missing(gap, one, two, (lost[0], lost[1]))
            yield gap.row(unit="points", counted="people", **row)


def _gap(one: np.ndarray, two: np.ndarray, p: float, floor: float, names: tuple[str, str]) -> Estimate:
    """Return the difference of two groups' means; or why it is not tested."""
    gap = welch(one, two)
    if not gap.n:
        return Estimate(n=0)
    tested = Estimate(gap.value, gap.low, gap.high, p, gap.n, p_floor=floor)
    if min(len(one), len(two)) < 2 or floor >= LEVEL:
        few = f"too few people with an answer in {names[len(two) < len(one)]}"
        return replace(tested, p=np.nan, decision=NOT_TESTED, reason=few)
    if np.isnan(gap.p):  # all of a group are alike: Welch's interval would have no width
        tested = replace(_apart(one, two), p=p, p_floor=floor)
        alike = "everybody has the same share of such tags"
        return replace(tested, decision=NOT_TESTED, reason=alike) if np.isnan(p) else tested
    note = (
        f"means {number(one.mean())} and {number(two.mean())}; Welch t = {number(gap.statistic)}, df = {number(gap.df)},"
        f" {'beyond' if gap.p < PAPER_WELCH else 'not beyond'} the paper's threshold of {PAPER_WELCH}"
    )
    return replace(tested, note=note)


def _apart(one: np.ndarray, two: np.ndarray) -> Estimate:
    """Return the difference of means where all of a group are alike."""
    first, second = bounded_mean(one), bounded_mean(two)
    gap = first.value - second.value
    low = gap - np.hypot(first.value - first.low, second.high - second.value)
    high = gap + np.hypot(first.high - first.value, second.value - second.low)
    return Estimate(gap, low, high, n=len(one) + len(two))


def mixed(view: View, design: Design) -> Rows:
    """Yield `distance_mixed` rows: each factor level's and the congruence's coefficient on the distance."""
    if not (design.mixed and design.describes and view.single and len(view.alone) and len(view.placed)):
        return
    values = distances_from_baseline(view.placed.answered, view.alone.answered, SUPER)
    here = view.placed.answered.own
    names, between, matrix = _matrix(here, design)
    people = here["person"].to_numpy().astype(str)
    known = ~np.isnan(values) & ~np.isnan(matrix).any(axis=1)
    n, n_people, width = int(known.sum()), len(set(people[known].tolist())), matrix.shape[1]
    reasons = {
        "too few people": n_people < 4,
        "too few pictures, or no distance varies": n <= width or np.ptp(values[known]) < 1e-12,
        "the design cannot tell the factors apart": n > width and np.linalg.matrix_rank(matrix[known]) < width,
    }
    reason = next((text for text, holds in reasons.items() if holds), "")
    fitted = None if reason else fit_random_intercept(values[known], matrix[known], people[known])
    note = f"not estimated: {reason}" if reason else "random intercept per person, REML"
    for at, (factor, group, versus) in enumerate(names):
        df = n_people - 1 - sum(between) if between[at] else n - n_people - width + sum(between) + 1
        place = width - len(names) + at
        estimate = t_estimate(fitted.coefficients[place], fitted.errors[place], df) if fitted else Estimate()
        yield estimate.row(
            "distance_mixed", system=view.system, factor=factor, group=group, versus=versus, n=n,
            n_missing=len(known) - n, unit="cosine distance", counted="pictures", family=EXPLORATORY, note=note,
        )  # fmt: skip


def _matrix(here: View, design: Design) -> tuple[list[tuple[str, str, str]], list[bool], np.ndarray]:
    """Return the tested columns' names, which are people's, and all columns."""
    places = here["context"].to_numpy()
    columns = [np.ones(len(here))] + [(places == name).astype(float) for name in sorted(set(places))[1:]]
    names: list[tuple[str, str, str]] = []
    for factor, levels in here.levels(design.factors).items():
        base, *others = sorted(set(levels.tolist()) - {""}) or [""]
        columns += [np.where(levels == "", np.nan, levels == other)[here.positions] for other in others]
        names += [(factor, other, base) for other in others]
    between = [True] * len(names)
    if design.gender in here.table.columns:  # 1 where a picture's person fits its place
        rows = here.table.select(pl.col(design.gender).cast(pl.String), "context").rows()
        pairs = [(design.cluster_of.get(label), design.stereotypes.get(place)) for label, place in rows]
        columns.append(np.array([np.nan if None in pair else float(pair[0] == pair[1]) for pair in pairs]))
        names, between = [*names, ("congruence", FITS, FITS_NOT)], [*between, False]
    return names, between, np.stack(columns, axis=1).astype(float)

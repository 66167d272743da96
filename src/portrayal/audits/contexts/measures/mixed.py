"""Mixed model for RQ4: all places at once, the person as a random effect.

Coefficients of people's factors are tested with people's degrees of freedom, the congruence of a picture with the
pictures' (Pinheiro, Bates 2000, Mixed-effects models in S and S-PLUS, Section 2.4.2).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import FITS, FITS_NOT
from portrayal.audits.contexts.measures.design import SUPER, Design
from portrayal.audits.contexts.measures.rq4_descriptions import distances_from_baseline
from portrayal.audits.contexts.measures.views import Rows, View
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import t_estimate
from portrayal.stats.models.random_intercept import fit_random_intercept


def mixed(view: View, design: Design) -> Rows:
    """Yield `distance_mixed` rows: each factor level's and the congruence's coefficient on the distance."""
    if not (design.mixed and design.describes and view.single and len(view.alone) and len(view.placed)):
        return
    values = distances_from_baseline(view.placed.answered, view.alone.answered, SUPER)
    here = view.placed.answered.own
    names, between, matrix = _matrix(here, design)
    people = here["person"].to_numpy().astype(str)
    known = ~np.isnan(values) & ~np.isnan(matrix).any(axis=1)
    reason = _why_not(matrix[known], values[known], people[known])
    fitted = None if reason else fit_random_intercept(values[known], matrix[known], people[known])
    n, n_people, width = int(known.sum()), len(set(people[known].tolist())), matrix.shape[1]
    note = f"not estimated: {reason}" if reason else "random intercept per person, REML"
    for at, (factor, group, versus) in enumerate(names):
        df = n_people - 1 - sum(between) if between[at] else n - n_people - width + sum(between) + 1
        place = width - len(names) + at
        found = t_estimate(fitted.coefficients[place], fitted.errors[place], df) if fitted else Estimate()
        yield found.row(
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
        own = [design.cluster_of.get(label) for label in here[design.gender].cast(pl.String)]
        expected = [design.stereotypes.get(place) for place in here["context"]]
        pairs = zip(own, expected, strict=True)
        columns.append(np.array([np.nan if None in pair else float(pair[0] == pair[1]) for pair in pairs]))
        names, between = [*names, ("congruence", FITS, FITS_NOT)], [*between, False]
    return names, between, np.stack(columns, axis=1).astype(float)


def _why_not(matrix: np.ndarray, values: np.ndarray, people: np.ndarray) -> str:
    """Return why no mixed model can be fitted, or nothing."""
    if len(set(people.tolist())) < 4:
        return "too few people"
    if len(values) <= matrix.shape[1] or np.ptp(values) < 1e-12:
        return "too few pictures, or no distance varies"
    return "" if np.linalg.matrix_rank(matrix) == matrix.shape[1] else "the design cannot tell the factors apart"

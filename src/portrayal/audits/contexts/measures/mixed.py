"""The better test of question 4: a mixed model of all places at once, with the person as a random effect.

An ANOVA per place looks at one distance per person and cannot use that the same people stand in every place. Here each
picture is a row, the person shifts all of theirs by a random intercept, and places are fixed effects. Coefficients of
people's factors are tested with people's degrees of freedom, the congruence of a picture with the pictures'.

References
----------
.. [1] Pinheiro, Bates (2000), Mixed-effects models in S and S-PLUS, Section 2.4.2 (inner and outer degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.congruence import FITS, FITS_NOT
from portrayal.audits.contexts.measures.membership import SUPER
from portrayal.audits.contexts.measures.people import condition, people_of, person_means, positions
from portrayal.audits.contexts.measures.pictures import BASELINE, by_system, shares, usable
from portrayal.audits.contexts.measures.rq4_descriptions import cosine_distance, levels_of
from portrayal.stats.decisions.decision import EXPLORATORY
from portrayal.stats.estimate import Estimate
from portrayal.stats.models.random_intercept import Fitted, fit_random_intercept


def mixed(
    pictures: pl.DataFrame,
    factors: Sequence[str],
    stereotypes: Mapping[str, str],
    genders: Mapping[str, Sequence[str]],
    gender: str = "gender",
) -> Iterator[dict[str, Any]]:
    """Yield `distance_mixed` rows: each factor level's and the congruence's coefficient on the distance."""
    for system, part in by_system(pictures).items():
        if condition(part, BASELINE).height and part.filter(pl.col("role") == "composite").height:
            yield from _of_system(system, part, factors, stereotypes, genders, gender)


def _of_system(
    system: str,
    part: pl.DataFrame,
    factors: Sequence[str],
    stereotypes: Mapping[str, str],
    genders: Mapping[str, Sequence[str]],
    gender: str,
) -> Iterator[dict[str, Any]]:
    here, values = picture_distances(part)
    names, between, design = _design(here, factors, stereotypes, genders, gender)
    people = here["person"].to_numpy().astype(str)
    known = ~np.isnan(values) & ~np.isnan(design).any(axis=1)
    reason = _cannot(design[known], values[known], people[known])
    fitted = None if reason else fit_random_intercept(values[known], design[known], people[known])
    n_people = len(set(people[known].tolist()))
    outer = n_people - 1 - sum(between)
    for place, (factor, group, versus) in enumerate(names):
        df = outer if between[place] else int(known.sum()) - n_people - design.shape[1] + sum(between) + 1
        note = f"not estimated: {reason}" if reason else "random intercept per person, REML"
        yield _coefficient(fitted, design.shape[1] - len(names) + place, df).row(
            "distance_mixed", system=system, factor=factor, group=group, versus=versus, n=int(known.sum()),
            n_missing=int((~known).sum()), unit="cosine distance", counted="pictures", family=EXPLORATORY, note=note,
        )  # fmt: skip


def picture_distances(part: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Return every usable composite with its distance from the person's baseline."""
    people = people_of(part)
    here, alone = usable(part.filter(pl.col("role") == "composite")), usable(condition(part, BASELINE))
    base = np.stack([person_means(alone, people, column) for column in shares(alone, SUPER).T], axis=1)
    return here, cosine_distance(shares(here, SUPER), np.nan_to_num(base[positions(here, people)]))


def _design(
    here: pl.DataFrame,
    factors: Sequence[str],
    stereotypes: Mapping[str, str],
    genders: Mapping[str, Sequence[str]],
    gender: str,
) -> tuple[list[tuple[str, str, str]], list[bool], np.ndarray]:
    """Return the tested columns' factor and two sides, which are people's, and the whole design with them last."""
    people = people_of(here)
    where = positions(here, people)
    places = here["context"].to_numpy()
    columns = [np.ones(here.height)] + [(places == name).astype(float) for name in sorted(set(places))[1:]]
    names: list[tuple[str, str, str]] = []
    for factor, levels in levels_of(here, people, factors).items():
        base, *others = sorted(set(levels.tolist()) - {""}) or [""]
        columns += [np.where(levels == "", np.nan, levels == other)[where] for other in others]
        names += [(factor, other, base) for other in others]
    between = [True] * len(names)
    if gender in here.columns:
        columns.append(_congruent(here, stereotypes, genders, gender))
        names, between = [*names, ("congruence", FITS, FITS_NOT)], [*between, False]
    return names, between, np.stack(columns, axis=1).astype(float)


def _congruent(
    here: pl.DataFrame, stereotypes: Mapping[str, str], genders: Mapping[str, Sequence[str]], gender: str
) -> np.ndarray:
    own = {label: cluster for cluster, labels in genders.items() for label in labels}
    pairs = zip(here["context"], here[gender].cast(pl.String), strict=True)
    return np.array(
        [
            np.nan if place not in stereotypes or label not in own else float(own[label] == stereotypes[place])
            for place, label in pairs
        ]
    )


def _cannot(design: np.ndarray, values: np.ndarray, people: np.ndarray) -> str:
    """Why no mixed model can be fitted, or nothing."""
    if len(set(people.tolist())) < 4:
        return "too few people"
    if len(values) <= design.shape[1] or np.ptp(values) < 1e-12:
        return "too few pictures, or no distance varies"
    return "" if np.linalg.matrix_rank(design) == design.shape[1] else "the design cannot tell the factors apart"


def _coefficient(fitted: Fitted | None, place: int, df: int) -> Estimate:
    from scipy import stats

    if fitted is None or df < 1 or fitted.errors[place] <= 0:
        return Estimate()
    value, error = fitted.coefficients[place], fitted.errors[place]
    half = stats.t.ppf(0.975, df) * error
    return Estimate(value, value - half, value + half, float(2 * stats.t.sf(abs(value / error), df)))

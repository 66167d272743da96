"""RQ4: how far a description moves from the same person's baseline, and for whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.membership import SUPER
from portrayal.audits.contexts.measures.people import condition, people_of, person_means, places_of, positions
from portrayal.audits.contexts.measures.pictures import BASELINE, by_system, shares, usable
from portrayal.audits.contexts.measures.sharing import shared
from portrayal.reporting.words.words import number, plural
from portrayal.stats.decisions.decision import EXPLORATORY, NOT_TESTED, STILL
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.stats.models.groups import Anova, Term, anova, permute_terms, tukey

Rows = Iterator[dict[str, Any]]
HEADLINE = "demographics, concrete, abstract"
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
    units = [_directions(np.asarray(rows, dtype=float)) for rows in (first, second)]
    # Half the squared distance of unit vectors: exactly 0 for equal ones, where 1 - cos would leave rounding.
    apart = np.minimum(0.5 * np.sum((units[0] - units[1]) ** 2, axis=1), 2.0)
    return np.where(apart < STILL, 0.0, apart)


def _directions(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.full(rows.shape, np.nan), where=lengths > 0)


def distances(
    part: pl.DataFrame, place: str, factors: Sequence[str], vectors: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Distances]:
    """Return each person's mean cosine distance between their baseline and their pictures in `place`, for each vector."""
    people, levels = people_of(part), levels_of(part, people_of(part), factors)
    here, alone = usable(condition(part, place)), usable(condition(part, BASELINE))
    where = positions(here, people)
    found = {}
    for name, clusters in (vectors or {HEADLINE: SUPER}).items():
        base = np.stack([person_means(alone, people, column) for column in shares(alone, clusters).T], axis=1)
        apart = cosine_distance(shares(here, clusters), np.nan_to_num(base[where]))
        found[name] = Distances(people, person_means(here, people, apart), levels)
    return found


@shared
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
    first, *others = factors.values()
    for levels in others:
        first = np.char.add(np.char.add(first, ", "), levels)
    return first


def descriptions(
    pictures: pl.DataFrame,
    factors: Sequence[str],
    vectors: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    only: Collection[str | None] | None = None,
    described: bool = True,
) -> Rows:
    """Yield `distance`, `distance_anova`, `distance_tukey` and `distance_tukey_factor` rows (Tables 10 and 12).

    The headline vector is demographics, concrete, abstract. The p of `distance_anova` comes from permuting people; the F of its
    note has the F distribution's. `distance_variant` rows are the tests of `distance_anova` under
    the other `vectors` (sub-clusters, "other"). With `only`, of these places alone; not `described`, `distance_anova` alone.
    """
    for system, part in by_system(pictures).items():
        if not condition(part, BASELINE).height:
            continue
        places = places_of(part)
        for place in places if only is None else [place for place in places if place in only]:
            about = {"system": system, "place": place}
            found = distances(part, place, factors, {HEADLINE: SUPER, **(vectors or {})})
            if described:
                yield from _cells(found[HEADLINE], about)
            yield from _tests(found[HEADLINE], about, seed, described)
            for name in vectors or ():
                yield from _variant(found[name], {**about, "vector": name})


def _cells(found: Distances, about: dict[str, str]) -> Rows:
    known = found.there()
    yield _mean(found.values[known], int((~known).sum()), 1, about)
    if not found.factors:
        return
    cells = cells_of(found.factors)
    for cell in sorted(set(cells.tolist())):
        inside = cells == cell
        lost = int((inside & ~known).sum())
        yield _mean(found.values[inside & known], lost, LEAST, {**about, "group": cell})


def _mean(values: np.ndarray, missing: int, least: int, about: dict[str, str]) -> dict[str, Any]:
    found = clustered_mean(values)
    if len(values) < least:
        found = Estimate(n=len(values), note=f"NA: {count_people(len(values))}, fewer than {least}")
    return found.row("distance", n_missing=missing, unit="cosine distance", counted="people", **about)


def count_people(amount: int) -> str:
    """Write '1 person' or '2 people'."""
    return plural(amount, "person", "people")


def _tests(found: Distances, about: dict[str, str], seed: int, described: bool = True) -> Rows:
    known = found.there()
    values, missing = found.values[known], int((~known).sum())
    varied, single = _factors(found, known)
    for name in single:
        nothing = Estimate(
            n=len(values), decision=NOT_TESTED, reason=f"all the people it answered about are of one {name}"
        )
        yield _anova_row(nothing, name, missing, about)
    if not varied:
        return
    model, permuted = anova(values, varied), permute_terms(values, varied, seed)
    for term in model.terms:
        tested = term
        if permuted and not term.note:
            tested = replace(term, p=permuted.p[term.name], p_floor=permuted.floor)
        yield _anova_row(tested, term.name, missing, about, model.residual_df)
    if not described:
        return
    yield from _tukey_rows("distance_tukey", values, cells_of(varied), model, about)
    for name, levels in varied.items():
        yield from _tukey_rows("distance_tukey_factor", values, levels, model, {**about, "factor": name})


def _factors(found: Distances, known: np.ndarray) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the levels of up to two factors that vary among these people, and the names of those that do not."""
    levels = {name: all_levels[known] for name, all_levels in found.factors.items() if known.any()}
    varied = {name: one for name, one in levels.items() if len(set(one.tolist())) > 1}
    return dict(list(varied.items())[:2]), [name for name in levels if name not in varied]


def _anova_row(
    term: Estimate, factor: str, missing: int, about: dict[str, str], residual_df: int = 0
) -> dict[str, Any]:
    note = f"F({term.df}, {residual_df}) = {number(term.f)}, type II" if isinstance(term, Term) else ""
    untested = {"decision": NOT_TESTED, "reason": term.note} if term.note else {}
    return term.row(
        "distance_anova", factor=factor, n_missing=missing, unit="partial eta squared", counted="people",
        **{"note": "" if term.note else note, **untested}, **about,
    )  # fmt: skip


def _tukey_rows(measure: str, values: np.ndarray, groups: np.ndarray, model: Anova, about: dict[str, str]) -> Rows:
    for pair in tukey(values, groups, model.residual_variance, model.residual_df, LEAST):
        paper = "beyond" if pair.p < PAPER_TUKEY else "not beyond"
        note = f"Tukey-Kramer; {paper} the paper's threshold of {PAPER_TUKEY}"
        yield pair.row(
            measure, group=pair.first, versus=pair.second, n_missing=None, unit="cosine distance",
            counted="people", family=EXPLORATORY, note=f"NA: {pair.note}" if pair.note else note, **about,
        )  # fmt: skip


def _variant(found: Distances, about: dict[str, str]) -> Rows:
    known = found.there()
    varied, _ = _factors(found, known)
    for term in anova(found.values[known], varied).terms if varied else ():
        yield term.row(
            "distance_variant", factor=term.name, n_missing=int((~known).sum()), unit="partial eta squared",
            counted="people", family=EXPLORATORY, **about,
        )  # fmt: skip

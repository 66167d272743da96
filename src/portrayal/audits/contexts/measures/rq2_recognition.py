"""RQ2: whether the place is recognised, and whether that depends on the gender inferred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import (
    condition,
    missing_note,
    people_of,
    per_person,
    places_of,
    positions,
)
from portrayal.audits.contexts.measures.pictures import NEUTRAL, by_system, usable
from portrayal.report.words import percent
from portrayal.stats.shares import Share, change, clustered_share

Rows = Iterator[dict[str, Any]]
TOGETHER = 64  # permutations computed at a time
RARE = 0.1  # a background recognised in a smaller share of its pictures is flagged


def recognition(pictures: pl.DataFrame, genders: Sequence[str], seed: int = 0, shuffles: int = 1999) -> Rows:
    """Yield `recognised`, `recognition_independence`, `recognised_background` and `place_share` rows (Table 8).

    A place is recognised when at least one tag is in its dictionary. `recognised` is Pr(Bg) (any) and Pr(Bg | inferred
    gender). `recognition_independence` tests that the two are independent, by permuting people: its value is Pr(Bg |
    any gender) - Pr(Bg | neutral). `place_share` is the mean share of tags that speak of the place.
    """
    for system, part in by_system(pictures).items():
        people = people_of(part)
        for place in places_of(part):
            here = condition(part, place)
            answered, missing = usable(here), missing_note(here)
            given = {outcome: answered["inferred"] == outcome for outcome in (*genders, NEUTRAL)}
            everything = pl.Series([True] * answered.height, dtype=pl.Boolean)
            for outcome, chosen in {"any": everything, **given}.items():
                yield _recognised(system, place, outcome, answered.filter(chosen), missing, people)
            yield _independence(system, place, answered, people, (*genders, NEUTRAL), seed, shuffles)
            yield _place_share(system, place, answered, here, people)
            yield from _backgrounds(system, place, here, people)


def seen(answered: pl.DataFrame, people: np.ndarray) -> Share:
    """Return the share of these pictures whose place was recognised, clustered by person."""
    hits = answered["recognised"].fill_null(False).to_numpy()
    return clustered_share(
        per_person(answered, people, hits), per_person(answered, people, np.ones(len(hits)))
    )


def _recognised(
    system: str, place: str, outcome: str, chosen: pl.DataFrame, missing: tuple[int, str], people: np.ndarray
) -> dict[str, Any]:
    lost, why = missing
    note = why if chosen.height else f"NA: no picture was inferred as {outcome}"
    about = {"system": system, "group": f"{place} | {outcome}", "n_missing": lost, "note": note}
    return seen(chosen, people).row("recognised", unit="share", **about)


def _independence(
    system: str,
    place: str,
    answered: pl.DataFrame,
    people: np.ndarray,
    outcomes: Sequence[str],
    seed: int,
    shuffles: int,
) -> dict[str, Any]:
    gendered = answered["inferred"] != NEUTRAL
    with_gender, without = seen(answered.filter(gendered), people), seen(answered.filter(~gendered), people)
    p, note = independence(answered, outcomes, seed, shuffles)
    return change(with_gender, without).row(
        "recognition_independence", system=system, group=place, contrast="any gender inferred minus neutral", p=p,
        n=answered.height, n_missing=None, unit="difference of shares", note=note,
    )  # fmt: skip


def independence(
    answered: pl.DataFrame, outcomes: Sequence[str], seed: int = 0, shuffles: int = 1999
) -> tuple[float, str]:
    """Return the p of a permutation test that recognition and inferred gender are independent, and a note.

    Whole people are permuted, so that several pictures of one person stay together; a person who lacks one of the
    pictures is left out. The statistic is Pearson's chi-squared, up to what the permutation leaves fixed.
    """
    answered, people = _complete(answered)
    recognised = answered["recognised"].fill_null(False).to_numpy().astype(float)
    if not answered.height or recognised.min() == recognised.max():
        return np.nan, "not tested: the place was recognised always or never"
    if answered["inferred"].n_unique() < 2:
        return np.nan, "not tested: one outcome only"
    hits = _grid(answered, people, recognised[:, None])
    given = _grid(
        answered, people, np.stack([(answered["inferred"] == o).to_numpy() for o in outcomes], axis=1)
    )
    p = _shuffled(hits[..., 0], given, np.random.default_rng(seed), shuffles)
    return p, f"two-sided permutation of people, {shuffles} shuffles"


def _complete(answered: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Keep the people who have all the pictures anybody has of this place."""
    sizes = pl.len().over("person")
    kept = answered.filter(sizes == sizes.max())
    return kept, people_of(kept)


def _grid(answered: pl.DataFrame, people: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values by person and picture slot (background, repeat), zero where a person lacks a picture."""
    slots = answered.select(pl.struct("background", "repeat").rank("dense")).to_series().to_numpy() - 1
    places = positions(answered, people)
    grid = np.zeros((len(people), int(slots.max()) + 1, values.shape[1]))
    grid[places, slots] = values
    return grid


def _shuffled(hits: np.ndarray, given: np.ndarray, random: np.random.Generator, shuffles: int) -> float:
    """(k + 1) / (n + 1) for the sum of (observed - expected)^2 / expected over slots and outcomes."""
    people = len(hits)
    totals, share = given.sum(axis=0), hits.mean(axis=0)
    expected = totals * share[:, None]
    scale = np.where(expected > 0, expected, np.inf)

    def statistics(orders: np.ndarray) -> np.ndarray:
        observed = np.einsum("ps,kpso->kso", hits, given[orders])
        return np.sum((observed - expected) ** 2 / scale, axis=(1, 2))

    actual = statistics(np.arange(people)[None])[0] - 1e-9
    beyond = 0
    for left in range(shuffles, 0, -TOGETHER):
        orders = np.stack([random.permutation(people) for _ in range(min(left, TOGETHER))])
        beyond += int(np.sum(statistics(orders) >= actual))
    return (beyond + 1) / (shuffles + 1)


def _place_share(
    system: str, place: str, answered: pl.DataFrame, here: pl.DataFrame, people: np.ndarray
) -> dict[str, Any]:
    share = clustered_share(
        per_person(answered, people, answered["place"].fill_null(0).to_numpy()),
        per_person(answered, people, answered["tags"].to_numpy()),
    )
    about = {"system": system, "group": place, "n_missing": missing_note(here)[0], "unit": "share of tags"}
    return share.row("place_share", n=answered.height, **about)


def _backgrounds(system: str, place: str, here: pl.DataFrame, people: np.ndarray) -> Rows:
    for (name,), part in here.sort("background").group_by("background", maintain_order=True):
        share = seen(usable(part), people)
        rare = share.value < RARE
        note = (
            f"recognised in under {percent(RARE)} of its pictures: read its other rows with care"
            if rare
            else ""
        )
        about = {
            "system": system,
            "group": f"{place} | {name}",
            "n_missing": missing_note(part)[0],
            "note": note,
        }
        yield share.row("recognised_background", unit="share", **about)

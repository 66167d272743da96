"""RQ3: whether the inferred gender is right, for each depicted group, where the place was recognised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.contexts.measures.people import condition, count_per_person, missing_note, people_of, places_of
from portrayal.audits.contexts.measures.pictures import (
    BASELINE,
    alike,
    by_system,
    how_many,
    is_inferred,
    pictures_where,
    usable,
)
from portrayal.reporting.words.words import percent
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.shares import Share, change, clustered_share

LEAST = 0.1  # Table 9 prints NA where fewer places were recognised


def accuracy(
    pictures: pl.DataFrame, genders: Mapping[str, Sequence[str]], gender: str = "gender"
) -> Iterator[dict[str, Any]]:
    """Yield `gender_f1`, `gender_f1_change` (Table 9) and `gender_f1_overall` rows.

    F1 of a depicted group is 2 TP / (inferred + depicted), over the pictures whose place was recognised and whose
    person has a label that some gender cluster names. `gender_f1_overall` is the mean over depicted groups of F1 over
    all pictures in places, recognised or not (or of the baseline, where nobody was put in a place).
    """
    if gender not in pictures.columns:
        return
    for system, part in by_system(pictures).items():
        known = [label for names in genders.values() for label in names]
        labelled = pictures_where(part, part[gender].is_in(known))
        people, present = people_of(labelled), set(labelled[gender].unique())
        for cluster, labels in genders.items():
            depicted = [label for label in labels if label in present]
            if depicted:
                yield from _of_cluster(system, labelled, people, cluster, depicted, gender)
        if labelled.height:
            yield _overall(system, labelled, people, genders, gender)


def f1(
    answered: pl.DataFrame,
    people: np.ndarray,
    cluster: str,
    labels: Sequence[str],
    gender: str,
    chosen: np.ndarray | None = None,
) -> Share:
    """Return F1 as a ratio of sums over people: twice the hits over inferred plus depicted; NaN without anybody depicted."""
    inferred = is_inferred(answered, cluster)
    depicted = answered[gender].is_in(list(labels)).fill_null(False).to_numpy()
    if chosen is not None:
        inferred, depicted = inferred & chosen, depicted & chosen
    if not depicted.any():
        return Share(n=0, influence=np.zeros(len(people)))
    hits = count_per_person(answered, people, 2.0 * (inferred & depicted))
    return clustered_share(hits, count_per_person(answered, people, inferred.astype(float) + depicted))


def _of_cluster(
    system: str, part: pl.DataFrame, people: np.ndarray, cluster: str, labels: Sequence[str], gender: str
) -> Iterator[dict[str, Any]]:
    name = " or ".join(labels)
    alone = condition(part, BASELINE)
    before = f1(usable(alone), people, cluster, labels, gender) if alone.height else None
    if before is not None:
        note = _nobody(before, name)
        yield _row("gender_f1", before, note, how_many(usable(alone)), alone, system=system, place=BASELINE, group=name)
    for place in places_of(part):
        about = {"system": system, "place": place, "group": name}
        here = condition(part, place)
        answered = usable(here)
        seen = answered["recognised"].fill_null(False).to_numpy()
        recognised, after = (int((seen * alike(answered)).sum()), f1(answered, people, cluster, labels, gender, seen))
        note = _too_few(recognised, how_many(answered)) or _nobody(after, name)
        yield _row("gender_f1", after, note, recognised, here, **about)
        if before is not None:
            note = note or _nobody(before, name)
            yield _row("gender_f1_change", change(after, before), note, recognised, here, **about)


def _too_few(recognised: int, answered: int) -> str:
    """Why the row is NA, or nothing."""
    if answered == 0:
        return "NA: no usable answer"
    if recognised / answered < LEAST:
        return f"NA: the place was recognised in {recognised} of {answered} pictures, under {percent(LEAST)}"
    return ""


def _nobody(share: Share, name: str) -> str:
    return f"NA: no picture of {name} people could be scored" if np.isnan(share.value) else ""


def _row(measure: str, found: Estimate, note: str, scored: int, shown: pl.DataFrame, **about: str) -> dict[str, Any]:
    lost, why = missing_note(shown)
    return (Estimate() if note else found).row(
        measure, n=scored, n_missing=lost, unit="F1", counted="pictures", note=note or why, **about
    )


def _overall(
    system: str, part: pl.DataFrame, people: np.ndarray, genders: Mapping[str, Sequence[str]], gender: str
) -> dict[str, Any]:
    placed = part.filter(pl.col("role") == "composite")
    shown = placed if placed.height else part
    answered = usable(shown)
    scores = [f1(answered, people, cluster, labels, gender) for cluster, labels in genders.items()]
    groups = [share for share in scores if not np.isnan(share.value)]
    found = _mean_share(groups, len(people)) if groups else Estimate()
    return found.row(
        "gender_f1_overall", system=system, place=None if placed.height else BASELINE, n=how_many(answered),
        n_missing=missing_note(shown)[0], unit="F1", counted="pictures",
        note=f"mean over {len(groups)} depicted groups",
    )  # fmt: skip


def _mean_share(groups: Sequence[Share], people: int) -> Estimate:
    """Return the mean of shares of the same people; with no spread, the mean of their own ends."""
    from scipy.special import stdtrit

    value = float(np.mean([share.value for share in groups]))
    influence = np.mean([share.influence for share in groups], axis=0)
    error = np.sqrt(people / max(people - 1, 1) * np.sum(influence**2))
    if error < 1e-12 or people < 2:
        low, high = np.mean([(share.low, share.high) for share in groups], axis=0).tolist()
        return Estimate(value, low, high)
    half = float(stdtrit(people - 1, 0.975)) * error
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0))

"""Manipulation checks: whether only the cue changed in a series.

Each check is one row: what was measured, over how many faces, what it had to reach, and whether it did. A check that
could not be done says so; it never passes silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from portrayal.pictures.faces import chips, read_age, read_gender
from portrayal.pictures.series.manifest import CHECKS, NOT_DONE
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import clustered_mean, wilson
from portrayal.tables import finite
from portrayal_faces.series.identity import can_embed, embed
from portrayal_faces.series.judges import Judge, judges
from portrayal_faces.series.series import Series

SLACK = 0.01  # a reading may move back by this much and still count as monotone
# What is needed of photographs: how far a cue moves from end to end, how many are monotone, the rest as small as this.
MOVES = {"gender": 0.70, "race": 0.60}
MONOTONE, YEARS, OTHER_CUE, THEMSELVES = 0.8, 2.5, 0.15, 0.95
COLUMNS = CHECKS


@dataclass(frozen=True)
class Readings:
    """Readings of one series by independent readers."""

    attribute: str
    values: np.ndarray
    female: np.ndarray  # P(female) at each step
    age: np.ndarray  # years at each step
    outside: int  # largest difference outside the region
    embeddings: np.ndarray | None  # original first, then each step
    person: str = ""  # who is shown; empty where every series shows somebody else
    poles: tuple[str, ...] = ()  # of race


def read_series(series: Series, identity: bool = True, person: str = "") -> Readings:
    """Return the readings of one series."""
    landmarks = series.landmarks
    female = read_gender([chips(picture, landmarks, "gender") for picture in series.pictures])
    age = read_age([chips(picture, landmarks, "age") for picture in series.pictures])
    original = np.asarray(series.original.convert("RGB")).astype(int)
    stack = [np.asarray(picture).astype(int) for picture in series.pictures]
    outside = max(int(np.abs(made - original)[~series.region].max(initial=0)) for made in stack)
    pictures = [series.original.convert("RGB"), *series.pictures]
    vectors = embed(pictures, landmarks) if identity and can_embed() else None
    return Readings(series.attribute, series.values, female, age, outside, vectors, person, series.poles)


def checks_table(readings: Sequence[Readings]) -> pl.DataFrame:
    """Return the checks of all series, attribute by attribute."""
    rows: list[dict[str, Any]] = []
    for attribute, *poles in sorted({(each.attribute, *each.poles) for each in readings}):
        mine = [each for each in readings if (each.attribute, *each.poles) == (attribute, *poles)]
        checks = [*_perceived(attribute, mine), *_stays_fixed(attribute, mine), _background(attribute, mine),
                 _identity(attribute, mine)]  # fmt: skip
        rows += [{**row, **dict(zip(("pole_low", "pole_high"), poles, strict=False))} for row in checks]
    return pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in rows], schema=COLUMNS)


def monotone(readings: np.ndarray, falling: bool, slack: float = SLACK) -> np.ndarray:
    """Return for each row whether it never falls back by more than the slack."""
    steps = np.diff(readings, axis=1)
    return np.all(steps <= slack, axis=1) if falling else np.all(steps >= -slack, axis=1)


def _perceived(attribute: str, readings: list[Readings]) -> list[dict[str, Any]]:
    """Check that the cue is perceived: gender by the reader, race by its judge."""
    if attribute == "race":
        return _perceived_race(readings)
    female = np.array([each.female for each in readings])
    shift, n = clustered_mean(female[:, 0] - female[:, -1]), len(female)
    unit = "P(female), lowest less highest"
    if attribute == "placebo":
        fine = abs(shift.value) < OTHER_CUE
        return [check_row("perceived gender moves", attribute, shift, n, unit, f"under {OTHER_CUE:g} in size", fine)]
    share = wilson(float(monotone(female, falling=True).sum()), n)
    return [
        check_row("perceived gender moves", attribute, shift, n, unit, f"at least {MOVES[attribute]:g}",
                  shift.value >= MOVES[attribute]),
        check_row("perceived gender is monotone", attribute, share, n, "share of faces", f"at least {MONOTONE:g}",
                  share.value >= MONOTONE),
    ]  # fmt: skip


def _perceived_race(readings: list[Readings]) -> list[dict[str, Any]]:
    """Check perceived race by the judge of its poles, if one is installed."""
    poles, known = readings[0].poles, [each.embeddings for each in readings if each.embeddings is not None]
    judge, turned = judge_of(poles)
    if judge is None or not known:
        why = _why_no_identity() if judge else f"no judge of {' and '.join(poles)}"
        return [check_row("perceived race moves", "race", Estimate(), 0, "share", f"at least {MOVES['race']:g}", None,
                          f"{NOT_DONE}: {why}")]  # fmt: skip
    share = judge.share(np.array(known)[:, 1:])
    seen = 1 - share if turned else share
    shift, n = clustered_mean(seen[:, -1] - seen[:, 0]), len(seen)
    still = wilson(float(monotone(seen, falling=False).sum()), n)
    about = f"a reading of face embeddings, right about {judge.right / judge.n:.0%} of {judge.n} other adults"
    unit = f"P({poles[1]} rather than {poles[0]}), highest less lowest"
    return [
        check_row("perceived race moves", "race", shift, n, unit, f"at least {MOVES['race']:g}",
                  shift.value >= MOVES["race"], about),
        check_row("perceived race is monotone", "race", still, n, "share of faces", f"at least {MONOTONE:g}",
                  still.value >= MONOTONE, about),
    ]  # fmt: skip


def judge_of(poles: Sequence[str]) -> tuple[Judge | None, bool]:
    """Return the judge of two poles, and whether it has them the other way round."""
    there, back = " to ".join(poles), " to ".join(poles[::-1])
    return (judges()[back], True) if back in judges() else (judges().get(there), False)


def _stays_fixed(attribute: str, readings: list[Readings]) -> list[dict[str, Any]]:
    """Check that the controls stay: age by the reader; for race, perceived gender too."""
    age = np.array([each.age for each in readings])
    drift = clustered_mean(age[:, -1] - age[:, 0])
    rows = [check_row("perceived age stays", attribute, drift, len(age), "years, highest less lowest",
                      f"under {YEARS:g} in size", abs(drift.value) < YEARS)]  # fmt: skip
    if attribute == "race":
        female = np.array([each.female for each in readings])
        moved = clustered_mean(female[:, 0] - female[:, -1])
        rows.append(check_row("perceived gender stays", attribute, moved, len(female), "P(female), lowest less highest",
                              f"under {OTHER_CUE:g} in size", abs(moved.value) < OTHER_CUE))  # fmt: skip
    return rows


def _background(attribute: str, readings: list[Readings]) -> dict[str, Any]:
    worst = float(max(each.outside for each in readings))
    ends = Estimate(worst, worst, worst)
    return check_row("outside the mask nothing changes", attribute, ends, len(readings), "largest difference of a pixel",
                "exactly 0", worst == 0)  # fmt: skip


def _identity(attribute: str, readings: list[Readings]) -> dict[str, Any]:
    """Check that faces at about ±1 are nearest to an original of the same person."""
    known = [each for each in readings if each.embeddings is not None]
    needs, name = f"at least {THEMSELVES:g}", "identity stays"
    if len({each.person or place for place, each in enumerate(known)}) < 2:
        return check_row(name, attribute, Estimate(), len(known), "share of faces", needs, None,
                         f"{NOT_DONE}: {_why_no_identity()}")  # fmt: skip
    own = themselves(known)
    share = wilson(float(own.mean()) * len(own), len(own))
    return check_row(name, attribute, share, len(own), "share of faces nearest to their own original", needs,
                     share.value >= THEMSELVES, f"at {_near_one(known[0].values)[1]:.2f} either side")  # fmt: skip


def themselves(readings: Sequence[Readings]) -> np.ndarray:
    """Return for each series whether ±1 is nearest to the same person's original."""
    vectors = np.array([each.embeddings for each in readings])
    people = np.array([each.person or f"{place} of nobody known" for place, each in enumerate(readings)])
    steps = [1 + place for place in _near_one(readings[0].values)[0]]
    apart = np.linalg.norm(vectors[:, steps, None] - vectors[None, None, :, 0], axis=3)
    return people[apart.argmin(axis=2)] == people[:, None]


def _near_one(values: np.ndarray) -> tuple[list[int], float]:
    """Return the places of the two steps nearest to size 1, and that size."""
    sizes = np.abs(values)
    size = float(sizes[np.argmin(np.abs(sizes - 1) + (sizes == 0))])
    return [place for place, one in enumerate(sizes) if np.isclose(one, size)], size


def _why_no_identity() -> str:
    if can_embed():
        return "needs faces of two people"
    return "needs the packages dlib-bin and face_recognition_models (portrayal parts install)"


def check_row(
    check: str, attribute: str, ends: Estimate, n: int, unit: str, needs: str, passed: bool | None, note: str = ""
) -> dict[str, Any]:
    """Return one check by the fields of COLUMNS."""
    value, low, high = map(finite, ends)
    return {
        "check": check, "attribute": attribute, "value": value, "low": low, "high": high, "n": n, "unit": unit,
        "needs": needs, "passed": None if passed is None else bool(passed), "note": note,
    }  # fmt: skip

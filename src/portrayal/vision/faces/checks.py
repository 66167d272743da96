"""Manipulation checks: did only the cue change? Asked of every series before any result is believed.

Each check is one row: what was measured, over how many faces, what it had to reach, and whether it did. A check that
could not be done says so; it never passes silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals import clustered_mean, wilson
from portrayal.tables import finite
from portrayal.vision.faces.identity import can_embed, embed
from portrayal.vision.faces.manifest import CHECKS
from portrayal.vision.faces.mask import TO_LUMA_CHROMA
from portrayal.vision.faces.reader import chips, read_age, read_gender
from portrayal.vision.faces.series import Series

NOT_DONE = "not done"  # how the note of a check begins that could not be done
SLACK = 0.01  # a reading may move back by this much and still count as monotone
COLUMNS = CHECKS


@dataclass(frozen=True)
class Readings:
    """What independent readers see in one series."""

    attribute: str
    female: np.ndarray  # P(female) at each step
    age: np.ndarray  # years at each step
    lightness: np.ndarray  # mean luma of the changed region at each step
    outside: int  # largest difference outside the region
    embeddings: np.ndarray | None  # original first, then the two ends
    person: str = ""  # who is shown; empty where every series shows somebody else
    poles: tuple[str, ...] = ()  # of race


def read_series(series: Series, identity: bool = True, person: str = "") -> Readings:
    """Let the readers look at one series."""
    landmarks = series.landmarks
    female = read_gender([chips(picture, landmarks, "gender") for picture in series.pictures])
    age = read_age([chips(picture, landmarks, "age") for picture in series.pictures])
    original = np.asarray(series.original.convert("RGB")).astype(int)
    stack = [np.asarray(picture).astype(int) for picture in series.pictures]
    outside = max(int(np.abs(made - original)[~series.region].max(initial=0)) for made in stack)
    light = np.array([(made[series.region] @ TO_LUMA_CHROMA[:, 0]).mean() for made in stack])
    ends = [series.original.convert("RGB"), series.pictures[0], series.pictures[-1]]
    vectors = embed(ends, landmarks) if identity and can_embed() else None
    return Readings(series.attribute, female, age, light, outside, vectors, person, series.poles)


def checks_table(readings: Sequence[Readings], model: dict[str, Any] | None = None) -> pl.DataFrame:
    """Return the checks of all series, attribute by attribute, and the model's own probe of its latent code."""
    rows: list[dict[str, Any]] = []
    for attribute, *poles in sorted({(each.attribute, *each.poles) for each in readings}):
        mine = [each for each in readings if (each.attribute, *each.poles) == (attribute, *poles)]
        found = [*_perceived(attribute, mine), *_stays_fixed(attribute, mine), _background(attribute, mine),
                 _identity(attribute, mine)]  # fmt: skip
        rows += [{**row, **dict(zip(("pole_low", "pole_high"), poles, strict=False))} for row in found]
    rows += _race_checks_of_model(model or {}) if any(each.attribute == "race" for each in readings) else []
    rows.append(_probe(model or {}))
    return pl.DataFrame([{name: row.get(name) for name in COLUMNS} for row in rows], schema=COLUMNS)


def race_rows(perceived: np.ndarray, right: int, n: int, poles: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a reader fitted on face embeddings (`race_reader`) sees along the race axis.

    Parameters
    ----------
    perceived
        P(second pole), face x step.
    right, n
        How often that reader was right about unedited held-out faces, and of how many.
    poles
        The two groups.
    """
    share = wilson(float(right), n)
    unit = f"P({poles[1]} rather than {poles[0]}), highest less lowest"
    shift = clustered_mean(perceived[:, -1] - perceived[:, 0])
    still = wilson(float(monotone(perceived, falling=False).sum()), len(perceived))
    about = (
        f"a reader fitted on face embeddings, right about {share.value:.0%} of {n} unedited held-out faces"
    )
    return [
        _row("perceived race moves", "race", shift, len(perceived), unit, "above 0", shift.low > 0, about),
        _row("perceived race is monotone", "race", still, len(perceived), "share of faces", "at least 0.8",
             still.value >= 0.8, about),
    ]  # fmt: skip


def failures(table: pl.DataFrame) -> list[str]:
    """Return one warning per failed check, and one per check that was not done, for the top of a report."""
    failed = [
        f"Manipulation check failed: {row['check']} ({row['attribute']}): {row['value']:.3g} {row['unit']}, "
        f"needs {row['needs']}."
        for row in table.filter(~pl.col("passed")).iter_rows(named=True)
    ]
    return [*failed, *_not_done(table)]


def _not_done(table: pl.DataFrame) -> list[str]:
    """Name each check that was not done, once where the reason is the same for several attributes."""
    skipped = table.filter(pl.col("note").str.starts_with(NOT_DONE))
    return [
        f"Manipulation check not done: {check} ({', '.join(attributes)}): {note.removeprefix(NOT_DONE).lstrip(': ')}."
        for check, note, attributes in skipped.group_by("check", "note", maintain_order=True)
        .agg("attribute")
        .iter_rows()
    ]


def monotone(readings: np.ndarray, falling: bool, slack: float = SLACK) -> np.ndarray:
    """Say for each row whether it never moves the wrong way by more than the slack."""
    steps = np.diff(readings, axis=1)
    return np.all(steps <= slack, axis=1) if falling else np.all(steps >= -slack, axis=1)


def _perceived(attribute: str, readings: list[Readings]) -> list[dict[str, Any]]:
    """Ask whether the cue is seen: gender by the reader; race has no trustworthy reader, so lightness stands in, unjudged."""
    if attribute == "race":
        light = np.array([each.lightness for each in readings])
        ends = clustered_mean(light[:, -1] - light[:, 0])
        note = "no independent reader of race is trusted here; this says only how the skin's lightness moves"
        return [
            _row(
                "lightness from lowest to highest value",
                attribute,
                ends,
                len(light),
                "luma levels",
                "",
                None,
                note,
            )
        ]
    female = np.array([each.female for each in readings])
    shift, n = clustered_mean(female[:, 0] - female[:, -1]), len(female)
    if attribute == "placebo":
        row = _row("perceived gender moves", attribute, shift, n, "P(female), lowest less highest", "under 0.15 in size",
                   abs(shift.value) < 0.15)  # fmt: skip
        return [row]
    share = wilson(float(monotone(female, falling=True).sum()), n)
    return [
        _row(
            "perceived gender moves",
            attribute,
            shift,
            n,
            "P(female), lowest less highest",
            "at least 0.5",
            shift.value >= 0.5,
        ),
        _row(
            "perceived gender is monotone",
            attribute,
            share,
            n,
            "share of faces",
            "at least 0.8",
            share.value >= 0.8,
        ),
    ]


def _stays_fixed(attribute: str, readings: list[Readings]) -> list[dict[str, Any]]:
    """Ask whether the controls stay: age by the reader; for race, perceived gender too."""
    age = np.array([each.age for each in readings])
    drift = clustered_mean(age[:, -1] - age[:, 0])
    rows = [_row("perceived age stays", attribute, drift, len(age), "years, highest less lowest", "under 5 in size",
                 abs(drift.value) < 5)]  # fmt: skip
    if attribute == "race":
        female = np.array([each.female for each in readings])
        moved = clustered_mean(female[:, 0] - female[:, -1])
        rows.append(_row("perceived gender stays", attribute, moved, len(female), "P(female), lowest less highest",
                         "under 0.15 in size", abs(moved.value) < 0.15))  # fmt: skip
    return rows


def _background(attribute: str, readings: list[Readings]) -> dict[str, Any]:
    worst = float(max(each.outside for each in readings))
    ends = Estimate(worst, worst, worst)
    return _row("outside the mask nothing changes", attribute, ends, len(readings), "largest difference of a pixel",
                "exactly 0", worst == 0)  # fmt: skip


def _identity(attribute: str, readings: list[Readings]) -> dict[str, Any]:
    """Ask whether an edited face is nearer to its original than another person's face is."""
    known = [each for each in readings if each.embeddings is not None]
    vectors = [each.embeddings for each in known]
    needs = "at least 0.95"
    if len(vectors) < 2:
        return _row("identity stays", attribute, Estimate(), len(vectors), "share of faces", needs,
                    None, f"{NOT_DONE}: {_why_no_identity()}")  # fmt: skip
    stack = np.array(vectors)
    moved = np.linalg.norm(stack[:, 1:] - stack[:, :1], axis=2).max(axis=1)
    other = np.linalg.norm(stack[:, 0] - stack[_other_person([each.person for each in known]), 0], axis=1)
    share = wilson(float((moved < other).sum()), len(stack))
    note = f"mean distance to the original {moved.mean():.2f}, between two people {other.mean():.2f}"
    return _row("identity stays", attribute, share, len(stack), "share of faces nearer to their original than another",
                needs, share.value >= 0.95, note)  # fmt: skip


def _why_no_identity() -> str:
    if can_embed():
        return "needs faces of two people"
    return "needs the packages dlib-bin and face_recognition_models (portrayal parts install)"


def _other_person(people: list[str]) -> list[int]:
    """Return, for each face, the place of the next face of another person."""
    count = len(people)
    places = []
    for at, person in enumerate(people):
        later = [(at + step) % count for step in range(1, count)]
        places.append(next((place for place in later if not person or people[place] != person), later[0]))
    return places


def _race_checks_of_model(model: dict[str, Any]) -> list[dict[str, Any]]:
    """What a reader of two poles saw on held-out faces when the model was made; it is not kept, so nothing reads it anew."""
    rows = model.get("checks", {}).get("rows", [])
    return [row for row in rows if row["check"].startswith("perceived race")]


def _probe(model: dict[str, Any]) -> dict[str, Any]:
    """What a fresh probe read from the latent code on held-out faces when the model was made."""
    probe = model.get("checks", {}).get("probe")
    if not probe:
        none = Estimate()
        return _row("latent code says little of gender", "gender", none, 0, "points above chance", "at most 10", None,
                    f"{NOT_DONE}: the model's page has no probe")  # fmt: skip
    spread = wilson(probe["right"], probe["n"]).map(lambda end: 100 * (end - probe["chance"]))
    return _row("latent code says little of gender", "gender", spread, probe["n"], "points above chance", "at most 10",
                spread.value <= 10, "a fresh probe on held-out faces, when the model was made")  # fmt: skip


def _row(
    check: str,
    attribute: str,
    ends: Estimate,
    n: int,
    unit: str,
    needs: str,
    passed: bool | None,
    note: str = "",
) -> dict[str, Any]:
    value, low, high = map(finite, ends)
    return {
        "check": check, "attribute": attribute, "value": value, "low": low, "high": high, "n": n, "unit": unit,
        "needs": needs, "passed": None if passed is None else bool(passed), "note": note,
    }  # fmt: skip

"""What a technique yields: rows with harm, technique, stage and ground truth, and cases for people to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.stages import Stages, where_it_arises
from portrayal.stats.estimate import Estimate
from portrayal.stats.proportions import mean_share, mean_share_difference

ESTIMATE, UPPER, LOWER = "estimate", "upper bound", "lower bound"

ROWS = {
    "harm": pl.String,
    "technique": pl.String,
    "quantity": pl.String,
    "stage": pl.String,
    "truth": pl.String,
    "axis": pl.String,
    "group": pl.String,
    "contrast": pl.String,
    "bound": pl.String,  # estimate, upper bound or lower bound
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "n": pl.Int64,
    "n_missing": pl.Int64,
    "unit": pl.String,
    "note": pl.String,
}
# A case somebody should read. `sampled` marks a random draw: only judgments of those speak for all cases.
CASES = {
    "technique": pl.String,
    "stage": pl.String,
    "image": pl.String,
    "caption": pl.Int64,
    "tuple": pl.String,
    "reason": pl.String,
    "group": pl.String,
    "score": pl.Float64,
}


@dataclass(frozen=True)
class Outcome:
    """Rows, cases, and further tables by name."""

    rows: Sequence[Mapping[str, Any]] = ()
    cases: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=CASES))
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    missing: str = ""  # why nothing could be measured, where a stage is absent


@dataclass(frozen=True)
class Technique:
    """One technique: what it measures, what it needs, and what a missing stage means."""

    harm: str
    name: str
    needs: str
    missing: str
    measure: Callable[..., Outcome]

    @property
    def key(self) -> str:
        """The name in the Results table."""
        return f"{self.harm}: {self.name}"

    def case(
        self,
        stage: str,
        image: str,
        caption: int,
        reason: str,
        words: str = "",
        group: str | None = None,
        score: float = 1.0,
    ) -> dict[str, Any]:
        """Return a case for somebody to read; `words` is what the caption says, `score` ranks cases."""
        place = {"technique": self.key, "stage": stage, "image": image, "caption": caption}
        return {**place, "tuple": words, "reason": reason, "group": group, "score": score}


def row(
    technique: Technique, quantity: str, stage: str, truth: str | None, found: Estimate, **columns: Any
) -> dict[str, Any]:
    """Return the row of an estimate; `columns` are further columns of ROWS, or stand in for the estimate's own."""
    about = {
        "harm": technique.harm,
        "technique": technique.name,
        "quantity": quantity,
        "stage": stage,
        "truth": truth,
        "bound": ESTIMATE,
    }
    note = "; ".join(filter(None, (columns.pop("note", found.note), where_it_arises(stage, truth))))
    return {**about, **found.columns(), **columns, "note": note}


def by_group(
    technique: Technique,
    quantity: str,
    stages: Stages,
    stage: str,
    truth: str | None,
    values: Mapping[str, float],
    unit: str,
    bound: str = ESTIMATE,
    note: str = "",
    overall: bool = True,
    basis: Set[str] | None = None,
) -> list[dict[str, Any]]:
    """Return rows for all images, for each group of each axis, and for each pair of groups.

    Parameters
    ----------
    technique, quantity, stage, truth, unit, bound, note
        As in the rows.
    stages
        Gives the groups.
    values
        Image -> share of its captions; images not in it do not count.
    overall
        Also give the row over all images.
    basis
        The images the quantity is about, all by default; those of them without a caption at this stage are
        missing.
    """
    silent = (set(stages.images) if basis is None else set(basis)) - stages.covered(stage)
    place = (technique, quantity, stage, truth)
    columns: dict[str, Any] = {"unit": unit, "bound": bound, "note": note}
    rows = []
    if overall:
        everyone = mean_share(_values(stages.images, values))
        rows.append(row(*place, everyone, group="all", n_missing=len(silent), **columns))
    for axis in stages.axes():
        members = stages.once("members", axis, lambda name: _members(stages.groups(name)))
        columns |= {"note": _assigned(note, stages, axis), "axis": axis}
        arrays = {group: _values(images, values) for group, images in members.items()}
        for group, array in arrays.items():
            missing = len(silent.intersection(members[group]))
            rows.append(row(*place, mean_share(array), group=group, n_missing=missing, **columns))
        for first, second in combinations(sorted(arrays), 2):
            gap = mean_share_difference(arrays[first], arrays[second])
            rows.append(row(*place, gap, contrast=f"{first} minus {second}", **columns))
    return rows


def _members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for image, group in groups.items():
        members.setdefault(group, []).append(image)
    return members


def _values(images: Iterable[str], values: Mapping[str, float]) -> np.ndarray:
    return np.array([values[image] for image in images if image in values], dtype=float)


def _assigned(note: str, stages: Stages, axis: str) -> str:
    assigned = f"{axis} assigned by {stages.assigned_by(axis)}"
    return f"{note}; {assigned}" if note else assigned


def cases_table(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Return cases ranked by score, highest first."""
    table = pl.DataFrame([{name: item.get(name) for name in CASES} for item in rows], schema=CASES)
    return table.sort("score", descending=True, nulls_last=True, maintain_order=True)


def word_cases(technique: Technique, said: pl.DataFrame, stage: str, reason: str) -> list[dict[str, Any]]:
    """Return one case for each word of `said` (image, caption, word); `{word}` in the reason stands for it."""
    return [
        technique.case(stage, image, number, reason.replace("{word}", word), word)
        for image, number, word in said.select("image", "caption", "word").iter_rows()
    ]

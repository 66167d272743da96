"""Sums over the people of one system along one axis (Joo, Kaerkkaeinen 2020, Gender slopes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from portrayal.audits.counterfactuals.measures.axis import Axis
from portrayal.audits.counterfactuals.measures.occupations import occupation_group
from portrayal.audits.counterfactuals.measures.presence import Block
from portrayal.audits.counterfactuals.measures.slopes import Slopes, by_person, slope_sums, slopes_of
from portrayal.errors import PortrayalError

Columns = Mapping[str, np.ndarray]  # of each label its sums


@dataclass(frozen=True)
class Sums:
    """Sums over people whose series are whole, and over those asked."""

    axis: Axis
    values: np.ndarray  # steps, rising
    people: int
    pictures: int
    labels: Columns  # of `slope_sums`
    occupations: Columns  # the same of each occupation group: at least one of its labels given
    starts: Mapping[str, tuple[int, Columns]]  # the same, and the number of people, of those who start in each group
    flips: Columns  # people for whom a label comes, goes, or changes anywhere
    changed: float  # people for whom any label changes
    gaps: Mapping[str, Counter[float]]  # of each label the unedited photograph less the centre, by value
    compared: int  # people whose unedited photograph has an answer
    empty: int  # answers without any label
    refused: np.ndarray  # of `slope_sums`, of the share refused
    refused_people: int

    @classmethod
    def of(cls, block: Block) -> Sums:
        """Return the sums of a block."""
        has_label = block.present >= 0.5
        starts = np.array([start or "" for start in block.starts])
        gap = block.unedited - block.present[:, block.centre]
        known = np.isfinite(gap).all(axis=1) & bool(block.labels)
        gaps = by_person(gap[known], _chosen(block.people, known))
        refused = by_person(block.refused[:, :, None], block.refused_people)
        groups: dict[str, list[int]] = {}
        for place, label in enumerate(block.labels):
            if group := occupation_group(label):
                groups.setdefault(group, []).append(place)

        def slopes(present: np.ndarray, people: Sequence[str], names: Iterable[str]) -> dict[str, np.ndarray]:
            return _columns(names, slope_sums(by_person(present, people), block.values))

        some = [block.present[:, :, places].max(axis=2) for places in groups.values()]
        return cls(
            block.axis, block.values, len(set(block.people)), len(block.pictures),
            labels=slopes(block.present, block.people, block.labels),
            occupations=slopes(np.stack(some, axis=2), block.people, groups) if groups else {},
            starts={
                group: (len(set(people)), slopes(block.present[starts == group], people, block.labels))
                for group in sorted({*starts} - {""})
                for people in [_chosen(block.people, starts == group)]
            },
            flips=_columns(block.labels, np.stack(flip_counts(has_label, block.people))),
            changed=float(by_person(_changes(has_label).any(axis=1).astype(float), block.people).sum()),
            gaps={label: Counter(gaps[:, place].tolist()) for place, label in enumerate(block.labels)},
            compared=len(gaps),
            empty=block.empty,
            refused=slope_sums(refused, block.values)[:, 0],
            refused_people=len(refused),
        )  # fmt: skip

    def __add__(self, other: Sums) -> Sums:
        if not np.array_equal(self.values, other.values):
            raise PortrayalError(
                f"the {self.axis.title} series has the values {self.values.tolist()} in one part and {other.values.tolist()} in"
                " another. Expected the same steps in all."
            )
        counted = (field.name for field in fields(self)[2:])
        return Sums(self.axis, self.values, *(add_up(getattr(self, name), getattr(other, name)) for name in counted))

    def columns(self, columns: Columns) -> np.ndarray:
        """Return the sums of all labels by name, zero where there are none."""
        nothing = np.zeros(len(self.values) + 7)
        return np.array([columns.get(label, nothing) for label in sorted(self.labels)]).reshape(-1, len(nothing)).T

    @cached_property
    def slopes(self) -> Slopes:
        """The normalised slopes of all labels, in order of name."""
        return slopes_of(self.columns(self.labels), self.values, self.people)


def add_up(one: Any, other: Any) -> Any:
    """Return the sum of two numbers, arrays or sums, entry by entry."""
    if isinstance(one, dict):
        added = {key: add_up(one[key], more) if key in one else more for key, more in other.items()}
        return type(one)({**one, **added})
    if isinstance(one, tuple):
        return tuple(map(add_up, one, other))
    return one + other


def flip_counts(present: np.ndarray, people: Sequence[str]) -> list[np.ndarray]:
    """Return for how many people each label comes, goes, or changes."""
    kinds = (~present[:, 0] & present[:, -1], present[:, 0] & ~present[:, -1], _changes(present))
    return [by_person(kind.astype(float), people).sum(axis=0) for kind in kinds]


def _changes(present: np.ndarray) -> np.ndarray:
    return np.asarray(present.any(axis=1) & ~present.all(axis=1))


def _columns(names: Iterable[str], table: np.ndarray) -> dict[str, np.ndarray]:
    return {name: table[:, place] for place, name in enumerate(names)}


def _chosen(people: Sequence[str], chosen: np.ndarray) -> list[str]:
    return [person for person, inside in zip(people, chosen, strict=True) if inside]

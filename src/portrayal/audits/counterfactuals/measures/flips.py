"""Counterfactual fairness as defined: the share of people whose label flips between steps, by direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from portrayal.audits.counterfactuals.measures.slopes import by_person
from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals.intervals import wilson


class Flips(NamedTuple):
    """Shares of people: the label comes, goes, or changes anywhere between the two ends."""

    comes: Estimate
    goes: Estimate
    changes: Estimate


def label_flips(present: np.ndarray, people: list[str] | np.ndarray) -> Iterator[Flips]:
    """Yield the flips of each label between the lowest and the highest value."""
    given = np.asarray(present >= 0.5)
    comes, goes = ~given[:, 0] & given[:, -1], given[:, 0] & ~given[:, -1]
    changes = np.asarray(given.any(axis=1) & ~given.all(axis=1))
    each = [by_person(which.astype(float), people) for which in (comes, goes, changes)]
    for label in range(present.shape[2]):
        yield Flips(*(wilson(float(which[:, label].sum()), len(which)) for which in each))


def any_flip(present: np.ndarray, people: list[str] | np.ndarray) -> Estimate:
    """Return the share of people for whom at least one label changes between any two steps."""
    given = np.asarray(present >= 0.5)
    changes = np.asarray(given.any(axis=1) & ~given.all(axis=1))
    return share(np.asarray(changes.any(axis=1)), people)


def share(which: np.ndarray, people: list[str] | np.ndarray) -> Estimate:
    """Return a share of people with Wilson's interval; of somebody with several pictures their mean counts."""
    each = by_person(which.astype(float), people)
    return wilson(float(each.sum()), len(each))

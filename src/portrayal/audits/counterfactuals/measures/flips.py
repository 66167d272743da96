"""Counterfactual fairness as defined: the share of source images whose label flips between steps, by direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from portrayal.stats.estimate import Estimate
from portrayal.stats.intervals import clustered_mean, wilson


class Flips(NamedTuple):
    """Shares of source images: the label comes, goes, or changes anywhere between the two ends."""

    comes: Estimate
    goes: Estimate
    changes: Estimate


def label_flips(present: np.ndarray, clusters: list[str] | np.ndarray) -> Iterator[Flips]:
    """Yield the flips of each label between the lowest and the highest value.

    Parameters
    ----------
    present
        Source x step x label; with repeats the majority counts.
    clusters
        One name per source image. Where every image is its own cluster the interval is Wilson's, else clustered.
    """
    given = np.asarray(present >= 0.5)
    comes, goes = ~given[:, 0] & given[:, -1], given[:, 0] & ~given[:, -1]
    changes = np.asarray(given.any(axis=1) & ~given.all(axis=1))
    for label in range(present.shape[2]):
        yield Flips(*(share(which[:, label], clusters) for which in (comes, goes, changes)))


def any_flip(present: np.ndarray, clusters: list[str] | np.ndarray) -> Estimate:
    """Return the share of source images for which at least one label changes between any two steps."""
    given = np.asarray(present >= 0.5)
    changes = np.asarray(given.any(axis=1) & ~given.all(axis=1))
    return share(np.asarray(changes.any(axis=1)), clusters)


def share(which: np.ndarray, clusters: list[str] | np.ndarray) -> Estimate:
    """Return a share of source images with its interval, inside 0 and 1."""
    if len(set(clusters)) == len(which):
        return wilson(float(which.sum()), len(which))
    value, low, high = clustered_mean(which.astype(float), np.asarray(clusters))
    if value in (0.0, 1.0):  # no spread between clusters is no certainty: fall back on one answer a cluster
        return wilson(value * len(set(clusters)), len(set(clusters)))
    return Estimate(value, max(0.0, low), min(1.0, high), n=len(which))

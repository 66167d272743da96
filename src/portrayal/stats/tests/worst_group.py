"""Test of the group that does worst against the rest, corrected for having been picked.

Labels of groups are permuted over people, and the largest of all groups' studentised differences is compared with that of each
permutation: Chung, Romano (2013), Exact and asymptotically robust permutation tests, Annals of Statistics 41, 484-507.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portrayal.stats.permuted import AT_ONCE, SAME, choice_floor, drawn_p


class Worst(NamedTuple):
    """Group with the largest difference to the rest; its p and floor."""

    group: int
    gap: float
    p: float
    floor: float


def worst_group(values: np.ndarray, groups: np.ndarray, seed: int = 0) -> Worst | None:
    """Return the group whose mean lies furthest above the others', else None."""
    sizes = np.bincount(groups)
    if np.count_nonzero(sizes) < 2 or np.ptp(values) <= SAME:
        return None
    members = np.stack([groups == group for group in range(len(sizes))]).astype(float)
    apart = _studentised(values[None], members)[0]
    apart[sizes == 0] = -np.inf
    worst, rng = int(np.argmax(apart)), np.random.default_rng(seed)
    order = np.argsort(values, kind="stable")  # so that the people's order does not matter

    def draw(size: int) -> np.ndarray:
        mixed = rng.permuted(np.tile(values[order], (size, 1)), axis=1)
        return np.asarray(_studentised(mixed, members)[:, sizes > 0].max(axis=1))

    p = drawn_p(draw, apart[worst] - SAME * abs(apart[worst]), max(1, AT_ONCE // len(values)))
    own = members[worst] > 0
    gap = float(values[own].mean() - values[~own].mean())
    return Worst(worst, gap, float(p), choice_floor(int(sizes[worst]), int(len(values) - sizes[worst])))


def _studentised(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return each group's difference to the others over its standard error (rows x groups)."""
    sizes, whole = members.sum(axis=1), values.shape[1]
    rest = np.maximum(whole - sizes, 1)
    sums, squares = values @ members.T, values**2 @ members.T
    own, own_squares = sums / np.maximum(sizes, 1), squares / np.maximum(sizes, 1)
    other = (values.sum(axis=1, keepdims=True) - sums) / rest
    other_squares = ((values**2).sum(axis=1, keepdims=True) - squares) / rest
    spread = np.maximum(own_squares - own**2, 0) / np.maximum(sizes, 1) + np.maximum(other_squares - other**2, 0) / rest
    least = np.var(values, axis=1, keepdims=True) / whole  # a group all alike is not known for certain
    return (own - other) / np.sqrt(spread + least)

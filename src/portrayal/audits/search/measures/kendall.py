"""Fagin's Kendall distance K(p) of two top-k lists [1]_ (Figure 10 of the GSR paper).

References
----------
.. [1] Fagin, Kumar, Sivakumar (2003), Comparing top k lists, SIAM Journal on Discrete Mathematics 17,
   134-160.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def kendall_distance(first: Sequence[Hashable], second: Sequence[Hashable], p: float = 0.0) -> float:
    """Return K(p) over its largest value; NaN for an empty list.

    Pairs count 1 when the lists order them differently, an absent member standing below all present ones;
    pairs that one list has and the other lacks altogether count p.

    Examples
    --------
    >>> kendall_distance(["a", "b"], ["b", "a"]), kendall_distance(["a"], ["b"])
    (0.25, 1.0)
    """
    if not len(first) or not len(second):
        return float("nan")
    members = list(dict.fromkeys([*first, *second]))
    here, there = _ranks(members, first), _ranks(members, second)
    against = np.triu(_order(here) * _order(there), 1) < 0
    unseen = [int(np.sum(np.isinf(ranks))) for ranks in (here, there)]
    apart = sum(count * (count - 1) / 2 for count in unseen)
    largest = len(first) * len(second) + p * (_pairs(len(first)) + _pairs(len(second)))
    return float((np.sum(against) + p * apart) / largest)


def _ranks(members: Sequence[Hashable], listed: Sequence[Hashable]) -> np.ndarray:
    """Return each member's rank, infinity when it is absent."""
    place = {member: rank for rank, member in enumerate(listed)}
    return np.array([place.get(member, np.inf) for member in members])


def _order(ranks: np.ndarray) -> np.ndarray:
    """Return -1, 0 or 1 for every pair by its order; 0 for absent ones."""
    return (ranks[:, None] > ranks[None, :]).astype(int) - (ranks[:, None] < ranks[None, :])


def _pairs(count: int) -> float:
    return count * (count - 1) / 2

"""Exposure: the share of a list's attention that goes to documents about each group.

Attention falls with the rank as in Definition 3.7, which is also the position bias of the exposure
literature [1]_.

References
----------
.. [1] Singh, Joachims (2018), Fairness of exposure in rankings, KDD, 2219-2228.
"""

from __future__ import annotations

import numpy as np


def exposure(groups: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Return each group's share of a list's attention; documents about no group take the rest.

    Examples
    --------
    >>> exposure(np.array([0, -1, 1]), np.array([1.0, 0.5, 0.5]), 2).tolist()
    [0.5, 0.25]
    """
    total = weights.sum()
    if not total:
        return np.full(count, np.nan)
    named = groups >= 0
    return np.bincount(groups[named], weights[named], minlength=count) / total

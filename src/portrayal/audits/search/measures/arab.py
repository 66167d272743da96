"""Average rank bias of gendered terms (ARaB): a companion that counts words instead of using vectors.

RaB_t is the mean over the first t documents of (magnitude of the positive pole - that of the negative);
ARaB_t is the mean of RaB_1 to RaB_t. The magnitude of a document is its number of the pole's words, the
logarithm of one plus that, or whether it has any. The sign follows this package: positive leans to the
positive pole (female); the paper's tables print male minus female.

References
----------
.. [1] Rekabsaz, Schedl (2020), Do neural ranking models intensify gender bias?, SIGIR, 2065-2068.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portrayal.errors import check_name

MAGNITUDES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "count": lambda counts: counts,
    "log": np.log1p,
    "any": lambda counts: np.minimum(counts, 1.0),
}


def rank_bias(counts: np.ndarray, magnitude: str = "log", cutoff: int = 10) -> float:
    """Return ARaB of one list.

    Examples
    --------
    >>> rank_bias(np.array([[2, 0], [0, 1]]), "count")  # RaB_1 = 2, RaB_2 = (2 - 1) / 2
    1.25
    """
    check_name(magnitude, MAGNITUDES, "magnitude")
    sizes = MAGNITUDES[magnitude](np.asarray(counts[:cutoff], dtype=np.float64))
    if not len(sizes):
        return float("nan")
    running = np.cumsum(sizes[:, 0] - sizes[:, 1]) / np.arange(1, len(sizes) + 1)
    return float(running.mean())

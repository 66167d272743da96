"""The test as the paper's authors ran it, for tables beside theirs [1]_.

Their code fits a normal distribution to the differences of 1,000 random halves of all targets and takes the share above the
difference observed; people who stand in X and in Y are taken as different people.

References
----------
.. [1] Wolfe, Yang, Howe, Caliskan (2023), FAccT, doi 10.1145/3593013.3594072; github.com/yanyiwei/clip-gender-bias.
"""

from __future__ import annotations

import numpy as np

DRAWS = 1_000
PROCEDURE = (
    f"the authors' procedure: one-sided p of a normal distribution fitted to {DRAWS:,} random halves of all targets; people "
    "who stand in X and in Y are taken as different people, and nothing is corrected"
)


def authors_p(x: np.ndarray, y: np.ndarray, seed: int = 0, draws: int = DRAWS) -> float | None:
    """Return the authors' one-sided p; None where all associations are equal."""
    from scipy import special

    targets = np.sort(np.concatenate([x, y]))  # so that the rows' order does not matter
    half = len(targets) // 2
    shuffled = np.random.default_rng(seed).permuted(np.tile(targets, (draws, 1)), axis=1)
    differences = shuffled[:, :half].sum(axis=1) - shuffled[:, half:].sum(axis=1)
    spread = float(differences.std(ddof=1))
    if spread == 0:
        return None
    return float(special.ndtr(-(x.sum() - y.sum() - differences.mean()) / spread))

"""Which tuples differ most between two groups: shares of images, differences with intervals, corrected p."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from portrayal.audits.captions.measures.tuple_counts import Counts
from portrayal.stats.dealt_groups import column_moments
from portrayal.stats.multiplicity import adjust

if TYPE_CHECKING:
    from scipy import sparse

MOST = 30


def differing_tuples(
    counts: Counts, flags: np.ndarray, pair: tuple[str, str], most: int = MOST
) -> pl.DataFrame:
    """Return the tuples with the largest differences in the share of captions, Holm-corrected over all tuples.

    The interval is Welch's.
    """
    from scipy import stats

    first, second = counts.matrix[flags == 1], counts.matrix[flags == 0]
    mean_a, var_a = _moments(first)
    mean_b, var_b = _moments(second)
    gap, error = mean_a - mean_b, np.sqrt(var_a / first.shape[0] + var_b / second.shape[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, gap / error, 0.0)
    half = stats.norm.ppf(0.975) * error
    table = pl.DataFrame(
        {
            "tuple": counts.tuples,
            pair[0]: mean_a,
            pair[1]: mean_b,
            "difference": gap,
            "low": gap - half,
            "high": gap + half,
            "p_adjusted": adjust(2 * stats.norm.sf(np.abs(z))),
        }
    )
    order = np.argsort(-np.abs(z), kind="stable")[:most]
    return table[order]


def _moments(matrix: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    rows = matrix.shape[0]
    mean, variance = column_moments(matrix)
    return mean, variance * rows / max(rows - 1, 1)

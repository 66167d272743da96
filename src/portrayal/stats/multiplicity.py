"""Corrections for many tests: Holm, Bonferroni, Benjamini-Hochberg.

The family is declared, not guessed: `adjust_results` corrects over the rows of the named measures, all
systems together. A missing p stays missing and is not counted as a test.

References
----------
.. [1] Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
.. [2] Benjamini, Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError

LEVEL = 0.05  # under which a sentence says that something was found


def adjust(p: Sequence[float] | np.ndarray, method: str = "holm") -> np.ndarray:
    """Return adjusted p-values in the order given; NaN stays NaN.

    Parameters
    ----------
    p
        Uncorrected p-values.
    method
        'holm', 'bonferroni', 'benjamini-hochberg' or 'none'.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    if method not in METHODS:
        raise PortrayalError(f"no correction {method!r}. Known: {', '.join(METHODS)}.")
    p = np.asarray(p, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    adjusted[order] = np.minimum(METHODS[method](p[order]), 1.0)
    return adjusted


def adjust_results(results: pl.DataFrame, measures: Sequence[str], method: str = "holm") -> pl.DataFrame:
    """Fill `p_adjusted` for the rows of the declared measures; other rows keep what they have."""
    in_family = results["measure"].is_in(list(measures)).to_numpy() & results["p"].is_not_null().to_numpy()
    p = results["p"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    adjusted = adjust(np.where(in_family, p, np.nan), method)
    filled = pl.Series("p_adjusted", adjusted).fill_nan(None)
    return results.with_columns(
        pl.when(pl.Series(in_family)).then(filled).otherwise(pl.col("p_adjusted")).alias("p_adjusted")
    )


def corrected_p(row: Mapping[str, Any]) -> float | None:
    """Return the corrected p of a Results row, or its plain one where none was corrected."""
    adjusted = row["p_adjusted"]
    return row["p"] if adjusted is None or np.isnan(adjusted) else adjusted


def is_significant(row: Mapping[str, Any]) -> bool:
    """Tell whether a Results row was tested and its p is under the level."""
    p = corrected_p(row)
    return p is not None and p < LEVEL


def _holm(ordered: np.ndarray) -> np.ndarray:
    """Step down: the smallest p times n, the next times n - 1, never falling."""
    return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))


def _bonferroni(ordered: np.ndarray) -> np.ndarray:
    return ordered * len(ordered)


def _benjamini_hochberg(ordered: np.ndarray) -> np.ndarray:
    """Step up: p times n over its rank, never rising from the largest down."""
    raw = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return np.minimum.accumulate(raw[::-1])[::-1]


METHODS = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "benjamini-hochberg": _benjamini_hochberg,
    "none": lambda ordered: ordered,
}

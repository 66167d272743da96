"""Association and effect size of embedding association tests.

References
----------
.. [1] Caliskan, Bryson, Narayanan (2017), Semantics derived automatically from language corpora contain
   human-like biases, Science 356, 183-186.
.. [2] Wolfe, Yang, Howe, Caliskan (2023), Contrastive language-vision AI models pretrained on web-scraped
   multimodal data exhibit sexual objectification bias, FAccT '23 (equations 1 and 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portrayal.errors import PortrayalError

ROUNDING = 1e-12


def association(w: Any, a: Any, b: Any) -> np.ndarray:
    """Return s(w, A, B) for each row of w: mean cosine with A minus mean cosine with B (equation 2).

    Examples
    --------
    >>> association([[3.0, 4.0]], [[1.0, 0.0]], [[0.0, 1.0]]).round(3).tolist()  # 0.6 - 0.8
    [-0.2]
    """
    w, a, b = vectors([("w", w, 1), ("a", a, 1), ("b", b, 1)])
    return _units(w) @ (_units(a).mean(axis=0) - _units(b).mean(axis=0))


def cosines(w: Any, a: Any) -> np.ndarray:
    """Return the cosine of each row of w with each row of a."""
    w, a = vectors([("w", w, 1), ("a", a, 1)])
    return _units(w) @ _units(a).T


def effect_size(x: np.ndarray, y: np.ndarray, ddof: int = 1) -> float:
    """Return d: the difference of the means over the standard deviation of both sides together (equation 1).

    NaN where all values are equal, since d is then 0/0.

    Examples
    --------
    >>> round(effect_size(np.array([1.0, 3.0]), np.array([0.0, 2.0])), 4)  # 1 / 1.291
    0.7746
    """
    if is_constant(x, y):
        return float("nan")
    return float((np.mean(x) - np.mean(y)) / np.std(np.concatenate([x, y]), ddof=ddof))


def is_constant(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether all values are equal but for rounding, whose scale is that of cosines: 1."""
    pooled = np.concatenate([x, y])
    return bool(np.ptp(pooled) <= ROUNDING * max(1.0, float(np.abs(pooled).max())))


def vectors(named: list[tuple[str, Any, int]]) -> list[np.ndarray]:
    """Check sets of embeddings, each given as its name, its rows and the fewest rows it may have."""
    arrays = [_matrix(name, rows, fewest) for name, rows, fewest in named]
    first = arrays[0].shape[1]
    for (name, _, _), array in zip(named, arrays, strict=True):
        if array.shape[1] != first:
            raise PortrayalError(
                f"{name} has vectors of width {array.shape[1]}, {named[0][0]} of width {first}. "
                "All sets must come from the same encoder."
            )
    return arrays


def _matrix(name: str, rows: Any, fewest: int) -> np.ndarray:
    try:
        array = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise PortrayalError(
            f"{name} is not a table of numbers, or its vectors differ in width. Expected one row a stimulus."
        ) from None
    if array.ndim != 2 or array.size == 0:
        raise PortrayalError(f"{name} has shape {array.shape}. Expected two dimensions, one row a stimulus.")
    if len(array) < fewest:
        raise PortrayalError(f"{name} has {len(array)} stimulus. The test needs at least {fewest} on a side.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise PortrayalError(f"{name} has a vector with NaN or infinity (row {row}). Leave it out.")
    if not array.any(axis=1).all():
        row = int(np.flatnonzero(~array.any(axis=1))[0])
        raise PortrayalError(f"{name} has a vector of length zero (row {row}). Leave it out.")
    return array


def _units(array: np.ndarray) -> np.ndarray:
    # Scaled by the largest entry first, so that no square overflows or underflows.
    scaled = array / np.abs(array).max(axis=1, keepdims=True)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

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
    """Return s(w, A, B) of each row of w (equation 2)."""
    w, a, b = vectors([("w", w, 1), ("a", a, 1), ("b", b, 1)])
    return _units(w) @ (_units(a).mean(axis=0) - _units(b).mean(axis=0))


def cosines(w: Any, a: Any) -> np.ndarray:
    """Return the cosine of each row of w with each row of a."""
    w, a = vectors([("w", w, 1), ("a", a, 1)])
    return _units(w) @ _units(a).T


def effect_size(x: np.ndarray, y: np.ndarray, ddof: int = 1) -> float:
    """Return d (equation 1); NaN where all values are equal."""
    if is_constant(x, y):
        return float("nan")
    return float((np.mean(x) - np.mean(y)) / np.std(np.concatenate([x, y]), ddof=ddof))


def is_constant(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether all values are equal but for the rounding of cosines."""
    pooled = np.concatenate([x, y])
    return bool(np.ptp(pooled) <= ROUNDING * max(1.0, float(np.abs(pooled).max())))


def vectors(named: list[tuple[str, Any, int]]) -> list[np.ndarray]:
    """Check sets of embeddings, each a name, rows, and the fewest rows allowed."""
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
    for good, fault in (
        (np.isfinite(array).all(axis=1), "with NaN or infinity"),
        (array.any(axis=1), "of length zero"),
    ):
        if not good.all():
            raise PortrayalError(f"{name} has a vector {fault} (row {int(np.argmin(good))}). Leave it out.")
    return array


def _units(array: np.ndarray) -> np.ndarray:
    # Scaled by the largest entry first, so that no square overflows or underflows.
    scaled = array / np.abs(array).max(axis=1, keepdims=True)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

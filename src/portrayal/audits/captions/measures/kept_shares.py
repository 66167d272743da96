"""What a row's images have each, kept with the row while parts of a larger set are measured and joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

_KEEPING: ContextVar[bool] = ContextVar("keeping", default=False)
ALONE = "alone"
SHARES = "shares"  # of a row, while they are kept: the distinct values of its images, and how many have each


@contextmanager
def keeping() -> Iterator[None]:
    """Let rows keep the values of their images until the end of this block, so that rows of several parts can be joined."""
    token = _KEEPING.set(True)
    try:
        yield
    finally:
        _KEEPING.reset(token)


def is_keeping() -> bool:
    """Say whether only the shares of rows are wanted: cases to read and notes about a part are of no use then."""
    return _KEEPING.get()


def kept(values: np.ndarray, alone: bool = False) -> dict[str, Any]:
    """Return the values for a row that keeps them: each distinct one once, for shares of a few captions are few.

    A row that stands `alone` is not compared with those of other groups.
    """
    if not is_keeping():
        return {}
    each = zip(*(part.tolist() for part in np.unique(values, return_counts=True)), strict=True)
    return {SHARES: Counter(dict(each)), ALONE: alone}

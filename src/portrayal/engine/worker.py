"""What happens inside a worker, whichever engine it belongs to."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from portrayal.engine.outcome import Done, Failed, attempt

Make = Callable[[], Callable[[Any], Any]]
# The workers share the machine; threads of their own would only get in each other's way.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


_inside = False


def is_inside() -> bool:
    """Whether this process is a worker: what it does is not spread again."""
    return _inside


def build(make: bytes) -> Done | Failed:
    """Call the pickled `make()` in a worker."""
    global _inside
    _inside = True
    return attempt(lambda: pickle.loads(make)())

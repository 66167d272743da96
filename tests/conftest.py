"""What all tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A test that waits for a busy processor has not failed.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return a function that gives a path in `../shared`, or skips and says why."""

    def find(path: str) -> Path:
        found = ROOT.parent / "shared" / path
        if not found.exists():
            pytest.skip(
                f"../shared/{path} is not beside this checkout; it holds data that may not be redistributed"
            )
        return found

    return find

"""Fixtures all tests share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data beside the checkout; tests that need it are skipped where it is absent."""
    folder = Path(__file__).parents[1].parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared with papers and public data")
    return folder

"""Fixtures that the tests of recording share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from portrayal.recorder.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """Return a fresh ledger."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    yield ledger
    ledger.close()

"""One measured run of each stem, made once for all tests of what is done with runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import portrayal
from faults.test_moved_run import STUDIES


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the folder of a stem's study; its run lies in `run`. Leave both as they are."""

    @cache
    def make(stem: str) -> Path:
        study = tmp_path_factory.mktemp(stem) / "study"
        study.mkdir()
        STUDIES[stem](study)
        portrayal.audit(study / "study.toml", study / "run", quiet=True)
        return study

    return make

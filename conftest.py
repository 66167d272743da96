"""Fixtures that all tests share."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A test that waits for a busy processor has not failed.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).parent
NIGHT = ROOT / "tests" / "night.txt"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that are left to the night: a line of the list names a file, or a test in it."""
    names = {line.split("#")[0].strip() for line in NIGHT.read_text(encoding="utf-8").splitlines()} - {""}
    for item in items:
        file, _, test = item.nodeid.partition("::")
        if file in names or f"{file}::{test.split('[')[0]}" in names:
            item.add_marker(pytest.mark.night)


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return a function that gives a path in `../shared`, or skips and says why."""

    def find(path: str) -> Path:
        found = ROOT.parent / "shared" / path
        if not found.exists():
            pytest.skip(f"../shared/{path} is not beside this checkout; it holds data that may not be redistributed")
        return found

    return find


# PR_SET_THP_DISABLE and PR_GET_THP_DISABLE of prctl(2); a process hands on what is set to those that it starts.
SET_NO_HUGE_PAGES, GET_NO_HUGE_PAGES = 41, 42


@pytest.fixture
def small_pages() -> Iterator[None]:
    """Give the processes of a test pages of the usual size, so that two peaks of memory can be compared.

    Where the kernel hands out huge pages unasked (`transparent_hugepage/enabled` is "always"), what a process takes up hangs
    on which of them were free and on how long it ran: peaks of one program differ by tens of megabytes from run to run.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    control = ctypes.CDLL(None).prctl
    before = control(GET_NO_HUGE_PAGES, 0, 0, 0, 0)
    control(SET_NO_HUGE_PAGES, 1, 0, 0, 0)
    yield
    control(SET_NO_HUGE_PAGES, before, 0, 0, 0)

"""What is decided over all images at once: which words mean things or people. Of parts it is collected first, then used."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from contextvars import ContextVar

Known = dict[str, set[str]]  # by what was asked
_COLLECTED: ContextVar[Known | None] = ContextVar("collected", default=None)
_USED: ContextVar[Known | None] = ContextVar("used", default=None)


def over_all_parts(asked: str, own: Set[str]) -> Set[str]:
    """Return what holds over all parts of the images, of which these have `own`; without parts it is their own."""
    collected, used = _COLLECTED.get(), _USED.get()
    if collected is not None:
        collected.setdefault(asked, set()).update(own)
    return own if used is None else used.get(asked, set())


@contextmanager
def collecting() -> Iterator[Known]:
    """Collect what holds of each part until the end of this block."""
    known: Known = {}
    token = _COLLECTED.set(known)
    try:
        yield known
    finally:
        _COLLECTED.reset(token)


@contextmanager
def using_all(known: Known) -> Iterator[None]:
    """Use what was collected of all parts until the end of this block."""
    token = _USED.set(known)
    try:
        yield
    finally:
        _USED.reset(token)

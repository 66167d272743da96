"""What several questions ask of the same pictures is worked out once: who is in a place, who was answered, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")
_SHARED: ContextVar[dict[Any, Any] | None] = ContextVar("shared", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Let shared functions remember what they found until the end of this block."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def shared(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Remember what a pure function of tables and names found, while inside `sharing`; a table is known by being the same one."""

    @wraps(function)
    def found(*given: Given.args, **named: Given.kwargs) -> Found:
        known = _SHARED.get()
        if known is None or named:
            return function(*given, **named)
        key = (function, *map(_name, given))
        if key not in known:
            known[key] = (function(*given, **named), given)  # keeps the tables, so that their ids stay theirs
        result: Found = known[key][0]
        return result

    return found


def _name(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return tuple(given)
    return given if isinstance(given, str) else id(given)

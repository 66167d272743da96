"""A function handed over in Python as a system: `portrayal.audit(study, systems={"mine": embed})`.

The study keeps `use = "function:mine"`. The function itself lives as long as the process: a run can be measured and reported
without it, and goes on being recorded once it is handed over again. Its source tells an edited function from the one that answered.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.plugins.python_function import PythonFunction, one_at_a_time

SCHEME = "function"
_GIVEN: dict[str, Callable[..., Any]] = {}


def give(name: str, function: Any) -> str:
    """Register a function for this process and return its `use`."""
    if not callable(function):
        raise PortrayalError(
            f"system {name!r} is a {type(function).__name__}. Expected a function that takes a text or the path of a picture,"
            " or a dict as in a study file."
        )
    _GIVEN[name] = function
    return f"{SCHEME}:{name}"


def open_system(settings: SystemSettings, folder: Path) -> PythonFunction:
    """Open a function that was handed over."""
    name = settings.use.partition(":")[2]
    if name not in _GIVEN:
        raise PortrayalError(
            f"system {settings.name!r} is a function that was handed over in Python, and this process has none of that name."
            f' Call portrayal.audit(study, out, systems={{"{name}": function}}) again.'
        )
    system = PythonFunction(**settings.fields(settings.use), folder=folder)
    system._function = _GIVEN[name]
    return one_at_a_time(system, settings)


def source_hash(use: str) -> str | None:
    """Return a hash over a function's source, or over its compiled code."""
    function: Any = inspect.unwrap(_GIVEN[name]) if (name := use.partition(":")[2]) in _GIVEN else None
    if function is None:
        return None
    for one in (function, type(function)):  # an object that can be called has its class's source
        try:
            return hashlib.sha256(inspect.getsource(one).encode()).hexdigest()
        except (OSError, TypeError):
            continue
    code = getattr(function, "__code__", None)
    return hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest() if code else None

"""Tests, intervals, models and decisions."""

from importlib import import_module
from typing import Any


class _Scipy:
    """Submodules of scipy, imported at their first use: they take longer than most commands run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        setattr(self, name, import_module(f"scipy.{name}"))
        return getattr(self, name)


scipy: Any = _Scipy()

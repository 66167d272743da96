"""Portrayal measures how AI systems portray people."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_STUB = Path(__file__).with_suffix(".pyi")  # says to type checkers and editors where each public name lives
_WORDS = [line.split() for line in _STUB.read_text(encoding="utf-8").splitlines()]
_PUBLIC = {line[3]: line[1] for line in _WORDS if line[:1] == ["from"]}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    try:
        return getattr(import_module(_PUBLIC[name]), name)
    except ModuleNotFoundError as error:
        package = _PUBLIC[name].partition(".")[0]
        if error.name != package or package == __name__:
            raise
        from portrayal.errors import MissingPackage

        raise MissingPackage(f"portrayal.{name}", package.replace("_", "-")) from None

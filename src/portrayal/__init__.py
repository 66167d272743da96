"""Portrayal measures how AI systems portray people.

The public names are looked up when first used, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "audit": "portrayal.flow",
    "measure": "portrayal.flow",
    "read_study": "portrayal.study",
    "make_study": "portrayal.study",
    "get_audit": "portrayal.audits",
    "status_text": "portrayal.status",
    "calibrate": "portrayal.calibration",
    "results": "portrayal.tables",
    "PortrayalError": "portrayal.errors",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)

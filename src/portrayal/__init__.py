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
    "read_study": "portrayal.runs.study_file",
    "make_study": "portrayal.runs.study_file",
    "get_audit": "portrayal.runs.registry",
    "status_text": "portrayal.runs.status",
    "calibrate": "portrayal.runs.calibration",
    "results": "portrayal.tables",
    "PortrayalError": "portrayal.errors",
}

__all__ = ["__version__", *sorted(_PUBLIC)]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)

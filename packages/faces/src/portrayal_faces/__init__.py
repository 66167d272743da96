"""Making, judging and applying counterfactual series of faces.

The public names are looked up when first used, so that importing the package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Each public name, and where it lives.
_PUBLIC = {
    "check_faces": "portrayal_faces.series.judged",
    "compose_scenes": "portrayal_faces.scenes.scenes",
    "generate_faces": "portrayal_faces.generator.generate",
    "list_faces": "portrayal_faces.shipped",
    "make_face_series": "portrayal_faces.photographs.apply",
    "occupation_shares": "portrayal_faces.occupations",
}

__all__ = [*_PUBLIC]


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'portrayal_faces' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)

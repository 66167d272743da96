"""The studies that ship with this audit and its experiments."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "studies"


def shipped_study(name: str) -> Path:
    """Return where a study lies, by its file's name."""
    return FOLDER / name

"""Paths that tables name: they stay within folders somebody chose, links looked through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from portrayal.errors import PortrayalError


def path_inside(folder: Path, name: str, also: Sequence[Path], table: str) -> Path:
    """Return the path a table names, or refuse one that leads out of its folder."""
    path = folder / name
    if not is_inside(path, [folder, *also]):
        raise PortrayalError(
            f"{table} names {name!r}, which lies outside {folder}. Move the file there, or name its folder in the study: folders = [...]."
        )
    return path


def is_inside(path: Path, folders: Sequence[Path]) -> bool:
    """Return True where a path, with its links followed, lies in one of these folders."""
    try:
        real = path.resolve()
        return any(real.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, ValueError, RuntimeError):  # a name too long, a null byte, links in a circle
        return False

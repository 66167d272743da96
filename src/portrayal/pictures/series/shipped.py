"""Series that an installed distribution brings, found by entry points of the group `portrayal.series`."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from portrayal.errors import MissingFaces, PortrayalError
from portrayal.pictures.series.manifest import MANIFEST

GROUP = "portrayal.series"
SHIPPED = "shipped"  # how a study names the set that ships


def load_entry(name: str, what: str) -> Any:
    """Return what is registered under a name, or refuse with what to install."""
    for entry in entry_points(group=GROUP, name=name):
        return entry.load()
    raise MissingFaces(what)


def installed_sets() -> list[Path]:
    """Return the folders of the sets that are installed."""
    return [Path(entry.load()) for entry in entry_points(group=GROUP, name=SHIPPED)]


def shipped_set() -> Path:
    """Return the folder of the set that ships."""
    folder = Path(load_entry(SHIPPED, f'series = "{SHIPPED}"'))
    if not (folder / MANIFEST).is_file():
        raise PortrayalError('no set of faces is installed with this version. Name a folder: series = "FOLDER".')
    return folder

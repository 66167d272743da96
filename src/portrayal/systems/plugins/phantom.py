"""Simulated systems with a planted effect of known size, or with none: `use = "phantom:NAME"`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from portrayal.errors import check_name
from portrayal.systems.core.base import System
from portrayal.systems.core.registry import PHANTOMS
from portrayal.systems.core.settings import SystemSettings


def open_system(settings: SystemSettings, folder: Path) -> System:
    """Open the phantom that `phantom:NAME` names."""
    name = settings.use.partition(":")[2]
    check_name(name, PHANTOMS, "phantom")
    return import_module(PHANTOMS[name]).open_system(settings, folder)

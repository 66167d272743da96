"""Simulated systems with a planted effect of known size, or with none: `use = "phantom:NAME"`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from portrayal.errors import check_name
from portrayal.systems.core.base import System
from portrayal.systems.core.settings import SystemSettings

PHANTOMS: dict[str, str] = {
    "associations": "portrayal.audits.associations.experiments.phantom",
    "clip": "portrayal.audits.associations.experiments.phantom",
    "saliency": "portrayal.audits.associations.experiments.phantom",
    "contexts": "portrayal.audits.contexts.phantom",
    "counterfactuals": "portrayal.audits.counterfactuals.phantom",
    "captions": "portrayal.audits.captions.phantom",
}


def open_system(settings: SystemSettings, folder: Path) -> System:
    """Open the phantom that `phantom:NAME` names."""
    name = settings.use.partition(":")[2]
    check_name(name, PHANTOMS, "phantom")
    return import_module(PHANTOMS[name]).open_system(settings, folder)

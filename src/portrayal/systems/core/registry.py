"""Registry of systems by name; each is imported when first opened."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from portrayal.errors import MissingPackage, PortrayalError, nearest
from portrayal.systems.core.base import one_of

if TYPE_CHECKING:
    from portrayal.systems.core.base import System
    from portrayal.systems.core.settings import SystemSettings


@dataclass(frozen=True)
class Entry:
    """Module, kind and extra of a system."""

    module: str
    kind: str  # a kind of portrayal.systems.core.base.KINDS, or "any"
    about: str
    extra: str = ""  # the extra it needs, or nothing
    package: str = ""  # the distribution that brings it, if not this one


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SYSTEMS = {name: Entry(**entry) for name, entry in _TABLES["systems"].items()}
SCHEMES = {name: Entry(**entry) for name, entry in _TABLES["schemes"].items()}
PHANTOMS: dict[str, str] = _TABLES["phantoms"]


def open_system(settings: SystemSettings, folder: Path, kind: str) -> System:
    """Open the system a study names; `kind` is what the audit needs."""
    entry = _entry(settings.use)
    offered = settings.kind or (kind if entry.kind == "any" else entry.kind)
    if offered != kind:
        raise PortrayalError(f"system {settings.name!r} is {one_of(offered)}. This audit asks {one_of(kind)}.")
    return _module(settings.use, entry).open_system(settings.model_copy(update={"kind": kind}), folder)


def _module(use: str, entry: Entry) -> ModuleType:
    """Import a system's module, or say which package brings it."""
    try:
        return import_module(entry.module)
    except ModuleNotFoundError as error:
        if not entry.package or (error.name or "").partition(".")[0] != entry.module.partition(".")[0]:
            raise
        raise MissingPackage(f"system {use!r}", entry.package) from None


def plugged_in() -> dict[str, Entry]:
    """Return the systems of other packages: entry points of the group `portrayal.systems`, by name."""
    entries = entry_points(group="portrayal.systems")
    packages = {one.name: one.dist.name if one.dist else one.module for one in entries}
    return {one.name: Entry(one.module, "", f"from the package {packages[one.name]}") for one in entries}


def _entry(use: str) -> Entry:
    scheme, colon, _ = use.partition(":")
    if colon and scheme in SCHEMES:
        return SCHEMES[scheme]
    if use in SYSTEMS:
        return SYSTEMS[use]
    others = plugged_in()
    if use in others:
        return replace(others[use], kind=getattr(import_module(others[use].module), "KIND", "any"))
    known = [*SYSTEMS, *others, *(f"{scheme}:" for scheme in SCHEMES)]
    hint = nearest(use, known) or (nearest(f"{scheme}:", [f"{one}:" for one in SCHEMES]) if colon else "")
    raise PortrayalError(f"no system {use!r}.{hint} Known: {', '.join(known)}.")

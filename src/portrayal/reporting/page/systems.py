"""Table of systems: version and parameters, never a credential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from portrayal.systems.core.settings import without_secrets
from portrayal.text.formatting import cell, listed

_TITLES = {"use": "what it is", "identity": "what it is", "version": "version asked", "versions": "versions answered"}
_FIRST = ("name", "use", "identity", "kind", "version", "version_asked", "versions", "versions_answered")


def system_rows(systems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return columns and rows of the systems table; unforeseen keys become columns."""
    filled = {key for system in systems for key, value in system.items() if value not in (None, "", [], (), {})}
    known = [key for key in _FIRST if key in filled]
    if "use" in known and "identity" in known:
        known.remove("identity" if all(one.get("use") for one in systems) else "use")
    further = [key for system in systems for key in system if key in filled and key not in _FIRST]
    columns = list(dict.fromkeys([*known, *further]))
    titles = [_TITLES.get(key, key.replace("_", " ")) for key in columns]
    rows = [[cell(without_secrets(system.get(key), key)) for key in columns] for system in systems]
    return {"columns": titles, "rows": rows}


def simulated(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of simulated systems."""
    return [str(one.get("name")) for one in systems if _plays_a_part(one)]


def _plays_a_part(system: Mapping[str, Any]) -> bool:
    """Tell a simulated system by its kind, its base or its name."""
    built = any(str(system.get(key) or "").startswith("phantom") for key in ("use", "identity"))
    return built or "simulated" in str(system.get("name") or "").lower()


def shown_names(systems: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of simulated systems as sentences write them."""
    return {name: name if "simulated" in name.lower() else f"{name} (simulated)" for name in simulated(systems)}


def said_simulated(systems: Sequence[Mapping[str, Any]]) -> str:
    """Say which systems are simulated; nothing when none is."""
    names = simulated(systems)
    if not names:
        return ""
    if len(names) == len(systems):
        return "All systems here are simulated." if len(names) > 1 else "The system is simulated."
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} simulated."

"""Places of installed parts, found without running their code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from portrayal.errors import MissingPart, PortrayalError
from portrayal.parts.table import OPTIONAL, PARTS


def require_parts(what: str, *packages: str) -> None:
    """Do nothing when these packages are installed."""
    missing = [name for name in packages if PARTS[name].module is None]
    if not missing:
        return
    others = [part for part in PARTS.values() if part.package not in missing and part.file != OPTIONAL]
    raise MissingPart(what, missing, [part.package for part in others if part.module is None])


def part_module(package: str, what: str) -> str:
    """Return the name a part is imported by."""
    require_parts(what, package)
    return str(PARTS[package].module)


def part_folder(package: str, what: str) -> Path:
    """Return the folder of an installed part."""
    found = find_spec(part_module(package, what))
    if found is None or not found.submodule_search_locations:
        raise damaged(package)
    return Path(found.submodule_search_locations[0])


def part_file(package: str, name: str, what: str) -> Path:
    """Return a data file inside an installed part."""
    path = part_folder(package, what) / name
    if not path.is_file():
        raise damaged(package)
    return path


def damaged(package: str) -> PortrayalError:
    """Say how to replace a part whose files are not what they should be."""
    return PortrayalError(
        f"the installed package {package!r} is damaged. Run: pip uninstall -y {package} && portrayal parts install"
    )

"""What else differs between two waves: the study, systems' versions and sources, and the packages that measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from portrayal.waves.waves import Wave

# What of a system is compared, and what it is called.
COMPARED = {"use": "use", "version_asked": "version asked", "versions_answered": "version answered", "source": "source"}


def versions_changed(first: Wave, later: Wave) -> list[str]:
    """Return a line for everything that is not the same, beside the answers."""
    return list(_changed(first.manifest, later.manifest))


def _changed(first: Mapping[str, Any], later: Mapping[str, Any]) -> Iterator[str]:
    if first.get("study_sha256") != later.get("study_sha256"):
        yield "the study file is another"
    before, after = (_systems(manifest) for manifest in (first, later))
    for name in dict.fromkeys([*before, *after]):
        if name not in before or name not in after:
            yield f"{name}: asked in one wave only"
            continue
        for key, what in COMPARED.items():
            if before[name].get(key) != after[name].get(key):
                yield f"{name}: {what} {_shown(before[name].get(key))}, then {_shown(after[name].get(key))}"
    packages = [manifest.get("versions") or {} for manifest in (first, later)]
    for name in dict.fromkeys([*packages[0], *packages[1]]):
        if packages[0].get(name) != packages[1].get(name):
            yield f"{name} {_shown(packages[0].get(name))}, then {_shown(packages[1].get(name))}"


def _systems(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    listed = manifest.get("systems")
    return {str(one.get("name")): one for one in listed or [] if isinstance(one, dict)}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return str(value.get("sha256", ""))[:12]
    return str(value) if value not in (None, "") else "none"

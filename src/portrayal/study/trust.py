"""What of a study could do harm on this machine: code it runs, and secrets it sends. Named, or refused as untrusted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.study.leaves import leaves
from portrayal.study.secrets import NAME_A_KEY
from portrayal.study.study import Study
from portrayal.systems.plugins.sources import is_code

ADDRESSES = ("endpoint", "base_url")  # where a system that has a key of yours sends it
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")


def code_lines(study: Study, systems: Sequence[str]) -> list[str]:
    """Return a line for each of these systems that is code of the study's choice, before it runs."""
    return [
        f"{system.name}: runs {system.use!r} from {study.folder.resolve()} with your rights"
        for system in study.systems
        if is_code(system.use) and system.name in systems
    ]


def refuse_untrusted(study: Study) -> None:
    """Refuse a study that would run code of its choice or send secrets, for whoever did not write it."""
    for what in _dangers(study):
        raise PortrayalError(f"--untrusted: {what}. Read the study, then run it without --untrusted.")


def _dangers(study: Study) -> Iterator[str]:
    if study.secrets_file:
        yield f"the study reads secrets from {study.secrets_file!r}"
    for system in study.systems:
        if is_code(system.use):
            yield f"system {system.name!r} would run code: {system.use!r}"
        for name, value in leaves(system.parameters):
            if isinstance(value, str) and _VARIABLE.search(value):
                yield f"system {system.name!r} would send {_variable(value)} from your environment to {system.use!r}"
            if name == "key" and system.use in NAME_A_KEY:
                yield f"system {system.name!r} would send {value} from your environment"
            if name in ADDRESSES:
                yield f"system {system.name!r} would send your key to the address {value!r}"


def _variable(value: Any) -> str:
    found = _VARIABLE.search(str(value))
    return found[0] if found else ""

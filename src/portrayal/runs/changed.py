"""Functions and programs whose source changed since they answered: said, and never mixed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.record.ledger import Ledger
from portrayal.runs.study import Study
from portrayal.systems.settings import SystemSettings
from portrayal.systems.sources import Source, is_code, source_of

FACT = "sources"
CHANGED = "changed"  # `--again changed`
ANSWERED = ("done", "refused", "unreadable", "failed")


def hold_sources(ledger: Ledger, study: Study, wanted: Sequence[str]) -> list[str]:
    """Compare each source with the one that gave the answers, and note it where there are none yet.

    Parameters
    ----------
    ledger
        With the study's questions.
    study
        Its functions and programs are looked at.
    wanted
        States whose questions are asked again; 'changed' puts back all questions of a system whose source changed.

    Returns
    -------
    list of str
        A line for each system whose answers are all of an earlier source.

    Raises
    ------
    PortrayalError
        When a changed system still has questions to be asked: its answers would be of two sources.
    """
    noted, lines = dict(ledger.fact(FACT) or {}), []
    counts = ledger.counts()
    for system, source in _sources(study):
        name, states = _name(system), counts.get(system.name, {})
        before = noted.get(name)
        if before is None or before["sha256"] == source.sha256 or not _sum(states, ANSWERED):
            noted[name] = asdict(source)
        elif CHANGED in wanted:
            ledger.ask_system_again(system.name, ANSWERED)
            noted[name] = asdict(source)
        elif _sum(states, ["planned", *wanted]):
            raise PortrayalError(_line(system, states))
        else:
            lines.append(_line(system, states))
    ledger.put_fact(FACT, noted)
    return lines


def noted_source(ledger: Ledger, system: SystemSettings) -> dict[str, Any] | None:
    """Return the source that gave a system's answers, for the manifest."""
    return (ledger.fact(FACT) or {}).get(_name(system)) if is_code(system.use) else None


def _sources(study: Study) -> Iterator[tuple[SystemSettings, Source]]:
    for system in study.systems:
        source = source_of(system.use, study.folder) if is_code(system.use) else None
        if source is not None:
            yield system, source


def _name(system: SystemSettings) -> str:
    """Name a system by what its questions' keys are made of."""
    parts = [system.use, system.version, json.dumps(system.parameters, sort_keys=True, default=str)]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def _sum(states: Mapping[str, int], wanted: Sequence[str]) -> int:
    return sum(states.get(state, 0) for state in dict.fromkeys(wanted))


def _line(system: SystemSettings, states: Mapping[str, int]) -> str:
    return (
        f"{system.name}: the source of {system.use!r} changed since its {_sum(states, ANSWERED)} answers were recorded. Ask all of"
        " them again with --again changed, or give the system a new `version` in the study; answers of two sources are never mixed"
    )

"""Sources of functions and programs: answers of two sources are never mixed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run
from portrayal.study.questions import Work
from portrayal.study.study import Study
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.plugins.sources import Source, source_of

FACT = "sources"
CHANGED = "changed"  # `--again changed`
ANSWERED = ("done", "refused", "unreadable")  # a failure is no answer: code that is mended may be asked again


def refuse_mixed(run: Run, study: Study, work: Work, wanted: Sequence[str]) -> None:
    """Refuse to ask a function or program whose source changed since it answered."""
    if not run.ledger.exists() or CHANGED in wanted:
        return
    with Ledger(run.ledger) as ledger:
        for system, states in _changed(ledger, study, work):
            if any(states[state] for state in ["planned", *wanted]):
                raise PortrayalError(_line(system, states))


def hold_sources(ledger: Ledger, study: Study, work: Work, wanted: Sequence[str]) -> list[str]:
    """Note the source of each function and program; return lines about changes.

    With 'changed' among the `wanted` states such a system's questions are put back to planned.
    """
    changed, lines = {_name(system): states for system, states in _changed(ledger, study, work)}, []
    noted = dict(ledger.fact(FACT) or {})
    for system, source in _sources(study):
        name = _name(system)
        if name in changed and CHANGED not in wanted:
            lines.append(_line(system, changed[name]))
            continue
        if name in changed:
            for state in (*ANSWERED, "failed"):
                ledger.ask_again(state, system.name)
        noted[name] = asdict(source)
    ledger.put_fact(FACT, noted)
    return lines


def _changed(ledger: Ledger, study: Study, work: Work) -> Iterator[tuple[SystemSettings, Counter[str]]]:
    """Yield the systems that answered under another source, with the states of their questions."""
    noted, keys = ledger.fact(FACT) or {}, {system.name: table for system, table in work}
    for system, source in _sources(study):
        if noted.get(_name(system), {}).get("sha256", source.sha256) != source.sha256:
            known = ledger.states()
            states = Counter(known.get(key, "planned") for key in keys[system.name])
            if any(states[state] for state in ANSWERED):
                yield system, states


def noted_source(ledger: Ledger, system: SystemSettings) -> dict[str, Any] | None:
    """Return the source that gave a system's answers, for the manifest."""
    return (ledger.fact(FACT) or {}).get(_name(system))


def _sources(study: Study) -> Iterator[tuple[SystemSettings, Source]]:
    for system in study.systems:
        source = source_of(system.use, study.folder)
        if source is not None:
            yield system, source


def _name(system: SystemSettings) -> str:
    """Name a system by what its questions' keys are made of."""
    parts = [system.use, system.version, json.dumps(system.parameters, sort_keys=True, default=str)]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def _line(system: SystemSettings, states: Mapping[str, int]) -> str:
    answers = sum(states[state] for state in ANSWERED)
    return (
        f"{system.name}: the source of {system.use!r} changed since its {answers} answers were recorded. Ask all of"
        " them again with --again changed, or give the system a new `version` in the study; answers of two sources are never mixed"
    )

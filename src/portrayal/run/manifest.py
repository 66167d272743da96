"""The manifest of a run, and the sources of its functions and programs."""

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import polars as pl

import portrayal
from portrayal.edges.writing import forget_part, write_text
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run
from portrayal.study.questions import Work
from portrayal.study.study import Study
from portrayal.systems.core.settings import SystemSettings, without_secrets
from portrayal.systems.plugins.sources import Source, source_of

PACKAGES = ("numpy", "scipy", "polars", "onnxruntime", "torch", "torchvision", "transformers", "spacy", "pillow")


def write_manifest(run: Run, study: Study, stimuli: pl.DataFrame) -> None:
    """Write `manifest.json`, unless it says just that: many stimuli take long to write."""
    digested = json.dumps(stimuli["stimulus"].to_list()) + " ".join(stimuli["hash"])
    with Ledger.reading(run.ledger) as ledger:
        manifest = {
            "study": study.name,
            "audit": study.audit,
            "study_sha256": hashlib.sha256(run.study.read_bytes()).hexdigest(),
            "seed": study.seed,
            "repeats": study.repeats,
            "family": study.family.model_dump(),
            "hypotheses": {**(ledger.fact("hypotheses") or {}), "named": [one.name for one in study.hypotheses]},
            "versions": versions(),
            "systems": _systems(study, ledger),
            "waves": [wave | {name: _time(wave[name]) for name in ("started", "ended")} for wave in ledger.waves()],
            "dollars": ledger.spent(),
            "stimuli_sha256": hashlib.sha256(digested.encode()).hexdigest(),
        }
    # One line a part: indented, a hundred thousand stimuli take as long as all the rest of a resumed run.
    lines = [f" {json.dumps(name)}: {json.dumps(part, default=str)}" for name, part in manifest.items()]
    head = "{\n" + ",\n".join(lines) + ',\n "stimuli": '
    try:
        there = run.manifest.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        there = ""
    if there.startswith(head) and there.endswith("}\n}\n"):
        forget_part(run.manifest)
    else:
        write_text(run.manifest, f"{head}{json.dumps(dict(stimuli.select('stimulus', 'hash').iter_rows()))}\n}}\n")


def versions() -> dict[str, str]:
    """Return the versions of Portrayal, Python and the packages results depend on."""
    numbers = {"portrayal": portrayal.__version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            numbers[package] = version(package)
    return numbers


def _systems(study: Study, ledger: Ledger) -> list[dict[str, Any]]:
    """Describe the systems as the study names them, without credentials."""
    answered, sources, described = ledger.versions_answered(), ledger.fact(FACT) or {}, []
    for system in study.systems:
        about: dict[str, Any] = {"name": system.name, "use": system.use, "version_asked": system.version}
        about |= {"versions_answered": answered.get(system.name, []), "parameters": system.parameters}
        source = sources.get(_name(system))
        described.append(without_secrets(about | ({"source": source} if source else {})))
    return described


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


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
    """Note the source of each function and program; return lines about changes not asked again."""
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

"""The manifest of a run: what was asked, of what, with what, and when."""

from __future__ import annotations

import hashlib
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

import portrayal
from portrayal.edges.writing import forget_part, write_text
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run
from portrayal.run.sources import noted_source
from portrayal.study.study import Study

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
            "waves": [_readable(wave) for wave in ledger.waves()],
            "dollars": ledger.spent(),
            "stimuli_sha256": hashlib.sha256(digested.encode()).hexdigest(),
        }
    # One line a part: indented, a hundred thousand stimuli take as long as all the rest of a resumed run.
    lines = [f" {json.dumps(name)}: {json.dumps(part, default=str)}" for name, part in manifest.items()]
    head = "{\n" + ",\n".join(lines)
    if _begins(run.manifest, head):
        forget_part(run.manifest)
    else:
        hashes = json.dumps(dict(stimuli.select("stimulus", "hash").iter_rows()))
        write_text(run.manifest, f'{head},\n "stimuli": {hashes}\n}}\n')


def _begins(path: Path, head: str) -> bool:
    """Return True where a whole manifest begins so, with its hash of the stimuli."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return text.startswith(f'{head},\n "stimuli": ') and text.endswith("}\n}\n")


def versions() -> dict[str, str]:
    """Return the versions of Portrayal, Python and the packages results depend on."""
    numbers = {"portrayal": portrayal.__version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers


def _systems(study: Study, ledger: Ledger) -> list[dict[str, Any]]:
    """Describe the systems as the study names them, without credentials."""
    from portrayal.systems.core.settings import without_secrets

    answered = ledger.versions_answered()
    described = [
        {
            "name": system.name,
            "use": system.use,
            "version_asked": system.version,
            "versions_answered": answered.get(system.name, []),
            "parameters": system.parameters,
            **({"source": source} if (source := noted_source(ledger, system)) else {}),
        }
        for system in study.systems
    ]
    return [without_secrets(system) for system in described]


def _readable(wave: dict[str, Any]) -> dict[str, Any]:
    return {**wave, "started": _time(wave["started"]), "ended": _time(wave["ended"])}


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

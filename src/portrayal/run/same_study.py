"""Whether a run is this study's: two studies of one name would lie in the same folder, and one would take the other's place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from portrayal.edges.sizes import read_toml
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run
from portrayal.study.study import Study

STUDY_FILE = "study_file"  # the ledger's fact: where the study was read from


def refuse_other_study(run: Run, study: Study, file: str, named: bool) -> None:
    """Refuse to record a study into the run of another."""
    other = other_study(run, study, file, named)
    if other:
        raise PortrayalError(
            f"{run.folder} holds the run of another study: {other}. Nothing there was changed. Give this one another name, or"
            f" a folder of its own: --out DIR{_or_go_on(run, study, file)}."
        )


def other_study(run: Run, study: Study, file: str, named: bool) -> str:
    """Return what other study a run is of, in words; nothing where it is this one's, or nobody's yet.

    The audit must be the same. In a folder the user named, either the name or the file may have changed; in the folder of
    the study's name, the file must be the same where both are known.
    """
    kept = _kept(run)
    if not kept:
        return ""
    if kept["audit"] != study.audit:
        return f"{kept['name']!r}, an audit of {kept['audit']}"
    renamed = kept["name"] != study.name
    known = bool(file and kept["file"])
    moved = known and kept["file"] != file
    if renamed and (moved or not known):
        return f"{kept['name']!r}"
    return f"{kept['name']!r} from {kept['file']}" if moved and not named else ""


def _kept(run: Run) -> dict[str, Any]:
    """Return name, audit and file of the study that a run keeps; nothing where there is none that can be read."""
    if not run.ledger.is_file():
        return {}
    try:
        data = read_toml(run.study)
        with Ledger.reading(run.ledger) as ledger:
            file = ledger.fact(STUDY_FILE)
        return {"name": data["name"], "audit": data["audit"], "file": file or ""}
    except (OSError, ValueError, KeyError, PortrayalError):  # recording will say what is damaged
        return {}


def _or_go_on(run: Run, study: Study, file: str) -> str:
    if other_study(run, study, file, named=True):
        return ""
    return f" (or go on with it, if this file was moved: --out {run.folder})"


def file_of(study: Any) -> str:
    """Return where a study was read from, or nothing for one made in Python."""
    return str(Path(study).resolve()) if isinstance(study, Path | str) else ""

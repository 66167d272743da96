"""Whether a run was redacted, and in what words that is said."""

from __future__ import annotations

from portrayal.errors import PortrayalError
from portrayal.run.files import kept_json
from portrayal.run.folder import Run

FILE = "redacted.json"


def redaction_of(run: Run) -> str:
    """Say what was taken out of a run, in one line; nothing of a run that is whole."""
    path = run.folder / FILE
    if not path.is_file():
        return ""
    return str(
        kept_json(path, dict, "Redact the run again: portrayal redact RUN --out NEW").get("said") or "it was redacted"
    )


def refuse_redacted(run: Run) -> None:
    """Refuse to record or measure a run whose answers were taken out."""
    if said := redaction_of(run):
        raise PortrayalError(f"{run.folder} cannot be recorded or measured again: {said}. Use the run it was made of.")

"""A run: the folder one study records into, known as ours before anything is written there."""

from __future__ import annotations

import re
from pathlib import Path

from portrayal.edges.folders import LISTED_IN, MARK, claim, first_entry, read_mark, refuse_strange_entries, write_mark
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger


class Run:
    """The files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.study = folder / "study.toml"  # as it was asked
        self.ledger = folder / "ledger.sqlite"  # every question and raw answer
        self.stimuli = folder / "stimuli.parquet"  # what was shown, with factors, hashes and sources
        self.inputs = folder / "inputs"  # what the audit read from outside: word lists, references, a collection
        self.shards = folder / "shards"  # finished pieces of a measure that is not; gone once it is
        self.responses = folder / "responses.parquet"  # the answers, read into rows
        self.results = folder / "results.parquet"
        self.warnings = folder / "warnings.json"  # what the reader must know first
        self.tables = folder / "tables"  # further tables and pictures that charts are drawn from
        self.reviews = folder / "reviews.csv"  # cases for people to judge, and their judgments
        self.judgments = folder / "judgments.jsonl"  # what reviewers did in the viewer, act by act
        self.manifest = folder / "manifest.json"  # versions, seeds, hashes, model versions and waves


# Every name we write in a run folder. None of them may be a link.
NAMES = (
    MARK,
    "lock",
    "study.toml",
    "ledger.sqlite",
    *(f"ledger.sqlite-{log}" for log in ("wal", "shm", "journal")),
    "stimuli.parquet",
    "inputs",
    "inputs.part",
    "shards",
    "responses.parquet",
    "results.parquet",
    "results.json",
    "results.csv",
    "warnings.json",
    "tables",
    "charts",
    "reviews.csv",
    "judgments.jsonl",
    "reviewers.json",
    "manifest.json",
    "report.html",
    "redacted.json",
)


def default_folder(name: str) -> Path:
    """Return `runs/NAME` with the study's name made fit for a file system."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", name).strip("-.").lower()[:100] or "study")


def existing_run(folder: Path | str) -> Run:
    """Return the run in `folder`, or say that there is none, or that it holds links where files of its own should be."""
    run = Run(Path(folder))
    if not run.ledger.exists():
        raise PortrayalError(f"no run in {folder} (no ledger.sqlite there). Make one: portrayal audit STUDY.toml")
    refuse_strange_entries(run.folder, NAMES)
    return run


def claim_run(run: Run) -> None:
    """Make the folder this run's: it must be new, empty, or a run already. Nothing of the user's is overwritten."""
    if run.folder.is_dir() and read_mark(run.folder) is None and first_entry(run.folder):
        _mark_earlier(run)
    claim(run.folder, "run")
    refuse_strange_entries(run.folder, NAMES)


def _mark_earlier(run: Run) -> None:
    """Mark the run of an earlier version, which has a ledger of ours; what else lies there is left alone."""
    if not run.ledger.is_file():
        return
    refuse_strange_entries(run.folder, NAMES)
    Ledger(run.ledger).close()  # raises where it is none of ours
    made = [path for part in LISTED_IN for path in (run.folder / part).glob("*") if path.is_file()]
    listed = {"report": (".svg", ".csv"), "measured": (".parquet", ".png")}
    files = {
        group: sorted(str(path.relative_to(run.folder)) for path in made if path.suffix in endings)
        for group, endings in listed.items()
    }
    write_mark(run.folder, {"holds": "run", "files": files})

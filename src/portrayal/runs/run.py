"""A run: the folder one study records into, and the lock that keeps a second process out."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from portrayal.errors import PortrayalError


class Run:
    """The files of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.study = folder / "study.toml"  # as it was asked
        self.ledger = folder / "ledger.sqlite"  # every question and raw answer
        self.stimuli = folder / "stimuli.parquet"  # what was shown, with factors, hashes and sources
        self.inputs = (
            folder / "inputs"
        )  # what the audit read from outside: word lists, references, a collection
        self.responses = folder / "responses.parquet"  # the answers, read into rows
        self.results = folder / "results.parquet"
        self.tables = folder / "tables"  # further tables and pictures that charts are drawn from
        self.reviews = folder / "reviews.csv"  # cases for people to judge, and their judgments
        self.manifest = folder / "manifest.json"  # versions, seeds, hashes, model versions and waves


def default_folder(name: str) -> Path:
    """Return `runs/NAME` with the study's name made fit for a file system."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", name).strip("-.").lower() or "study")


def existing_run(folder: Path | str) -> Run:
    """Return the run in `folder`, or say that there is none."""
    run = Run(Path(folder))
    if not run.ledger.exists():
        raise PortrayalError(
            f"no run in {folder} (no ledger.sqlite there). Make one: portrayal audit STUDY.toml"
        )
    return run


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to that takes the file's place at the end: a kill never leaves half a file."""
    part = path.with_name(path.name + ".part")
    yield part
    part.replace(path)


@contextmanager
def locked(run: Run, patience: float = 1.0) -> Iterator[None]:
    """Hold the run's lock; the kernel lets go of it when the process ends, however it ends.

    Raises
    ------
    PortrayalError
        When another process holds it for longer than `patience` seconds, or nothing can be written there.
    """
    with _open_lock(run) as file:
        _take(file.fileno(), run, patience)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _open_lock(run: Run) -> TextIO:
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
        return (run.folder / "lock").open("a+")
    except (FileExistsError, NotADirectoryError):
        raise PortrayalError(
            f"{run.folder} is a file or lies in one. Expected a folder for the run."
        ) from None
    except OSError as error:
        raise PortrayalError(
            f"cannot write to {run.folder}: {error.strerror}. Name another with --out."
        ) from None


def is_recording(run: Run) -> bool:
    """Tell whether a living process holds the run's lock."""
    lock = run.folder / "lock"
    if not lock.exists():
        return False
    with lock.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _take(descriptor: int, run: Run, patience: float) -> None:
    """Take the lock, waiting a moment because `portrayal status` may be looking at it just now."""
    give_up = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= give_up:
                raise PortrayalError(_busy_message(run)) from None
            time.sleep(0.05)


def _busy_message(run: Run) -> str:
    holder = (run.folder / "lock").read_text().strip()
    who = f"process {holder}" if holder else "another process"
    return f"{who} is working on {run.folder}. Wait for it or stop it; portrayal status {run.folder} shows how far it is."

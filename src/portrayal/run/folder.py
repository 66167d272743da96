"""The folder of a run: its files, its owner and its lock."""

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.folders import LISTED_IN, MARK, claim, read_mark, refuse_strange_entries, write_mark
from portrayal.edges.sizes import LARGEST_PICTURE, LARGEST_TABLE, check_parquet, check_size, parse_json, read_toml
from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger
from portrayal.study.study import Study


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
NAMES = f"""{MARK}
lock study.toml ledger.sqlite ledger.sqlite-wal ledger.sqlite-shm ledger.sqlite-journal stimuli.parquet inputs inputs.part shards
responses.parquet results.parquet results.json results.csv warnings.json tables charts reviews.csv judgments.jsonl reviewers.json
manifest.json report.html redacted.json""".split()


def default_folder(name: str) -> Path:
    """Return `runs/NAME` with the study's name made fit for a file system."""
    return Path("runs") / (re.sub(r"[^\w.-]+", "-", name).strip("-.").lower()[:100] or "study")


def existing_run(folder: Path | str) -> Run:
    """Return the run in `folder`, or refuse one that is none or holds links."""
    run = Run(Path(folder))
    if not run.ledger.exists():
        raise PortrayalError(f"no run in {folder} (no ledger.sqlite there). Make one: portrayal audit STUDY.toml")
    refuse_strange_entries(run.folder, NAMES)
    return run


def claim_run(run: Run) -> None:
    """Make the folder this run's: it must be new, empty, or a run already."""
    if run.ledger.is_file() and read_mark(run.folder) is None:
        _mark_earlier(run)
    claim(run.folder, "run")
    refuse_strange_entries(run.folder, NAMES)


def _mark_earlier(run: Run) -> None:
    """Mark the run of an earlier version."""
    refuse_strange_entries(run.folder, NAMES)
    Ledger(run.ledger).close()  # raises where it is none of ours
    made = [path for part in LISTED_IN for path in (run.folder / part).glob("*") if path.is_file()]
    listed = {"report": (".svg", ".csv"), "measured": (".parquet", ".png")}
    files = {
        group: sorted(str(path.relative_to(run.folder)) for path in made if path.suffix in endings)
        for group, endings in listed.items()
    }
    write_mark(run.folder, {"holds": "run", "files": files})


@contextmanager
def _whole(path: Path, mend: str) -> Iterator[None]:
    """Say of a file that cannot be read what makes it anew."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise PortrayalError(f"{path} is damaged ({reason}). {mend}") from None


def kept_table(path: Path, mend: str) -> pl.DataFrame:
    """Read a Parquet table of a run; `mend` says what makes it anew."""
    with _whole(path, mend):
        check_parquet(path)
        return pl.read_parquet(path, glob=False)


def kept_json(path: Path, kind: type, mend: str) -> Any:
    """Read a JSON file of a run that holds a dict or a list."""
    with _whole(path, mend):
        check_size(path, LARGEST_TABLE)
        value = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(value, kind):
            raise ValueError(f"it holds a {type(value).__name__}")
        return value


def kept_bytes(path: Path, mend: str) -> bytes:
    """Read a picture of a run."""
    with _whole(path, mend):
        check_size(path, LARGEST_PICTURE)
        return path.read_bytes()


FILE = "redacted.json"


def redaction_of(run: Run) -> str:
    """Return in one line what was taken out of a redacted run."""
    path, mend = run.folder / FILE, "Redact the run again: portrayal redact RUN --out NEW"
    return str(kept_json(path, dict, mend).get("said") or "it was redacted") if path.is_file() else ""


def refuse_redacted(run: Run) -> None:
    """Refuse to record or measure a run whose answers were taken out."""
    if redaction := redaction_of(run):
        raise PortrayalError(
            f"{run.folder} cannot be recorded or measured again: {redaction}. Use the run it was made of."
        )


STUDY_FILE = "study_file"  # the ledger's fact: where the study was read from


def refuse_other_study(run: Run, study: Study, file: str, named: bool) -> None:
    """Refuse to record a study into the run of another."""
    other = other_study(run, study, file, named)
    if other:
        moved = not other_study(run, study, file, named=True)
        go_on = f" (or go on with it, if this file was moved: --out {run.folder})" if moved else ""
        raise PortrayalError(
            f"{run.folder} holds the run of another study: {other}. Nothing there was changed. Give this one another name, or"
            f" a folder of its own: --out DIR{go_on}."
        )


def other_study(run: Run, study: Study, file: str, named: bool) -> str:
    """Return in words the other study that a run is of, if it is.

    In a folder that the user named either the name or the file may have changed; in one of the study's name neither.
    """
    if not run.ledger.is_file():
        return ""
    try:
        data = read_toml(run.study)
        with Ledger.reading(run.ledger) as ledger:
            known_file = ledger.fact(STUDY_FILE) or ""
        name, audit = data["name"], data["audit"]
    except (OSError, ValueError, KeyError, PortrayalError):  # recording will say what is damaged
        return ""
    if audit != study.audit:
        return f"{name!r}, an audit of {audit}"
    moved = bool(file and known_file) and known_file != file
    if name != study.name and (moved or not (file and known_file)):
        return f"{name!r}"
    return f"{name!r} from {known_file}" if moved and not named else ""


def file_of(study: Any) -> str:
    """Return where a study was read from, or nothing for one made in Python."""
    return str(Path(study).resolve()) if isinstance(study, Path | str) else ""


RECORDING, MEASURING, REPORTING = "recording", "measuring", "reporting"

_open_locks: set[int] = set()


def _let_go() -> None:
    """Close the locks in a forked child, which may outlive its parent."""
    while _open_locks:
        with contextlib.suppress(OSError):
            os.close(_open_locks.pop())


os.register_at_fork(after_in_child=_let_go)


@contextmanager
def locked(run: Run, patience: float = 1.0, doing: str = RECORDING) -> Iterator[None]:
    """Hold the run's lock alone; the kernel frees it when the process ends."""
    with _holding(_open(run), run, fcntl.LOCK_EX, patience) as descriptor:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {doing}".encode())
        yield


@contextmanager
def reading(run: Run, patience: float = 1.0) -> Iterator[None]:
    """Keep others from writing while a run is read; a read-only folder needs no lock."""
    try:
        descriptor = _open(run)
    except PortrayalError:
        if os.access(run.folder, os.W_OK):
            raise
        yield
        return
    with _holding(descriptor, run, fcntl.LOCK_SH, patience):
        yield


def is_recording(run: Run) -> bool:
    """Return True while a living process records, and does not measure or report."""
    lock = run.folder / "lock"
    if not lock.is_file():
        return False
    with lock.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read(100).partition(" ")[2] not in (MEASURING, REPORTING)
    return False


@contextmanager
def _holding(descriptor: int, run: Run, kind: int, patience: float) -> Iterator[int]:
    """Hold the lock, waiting a moment for it: `portrayal status` may be looking just now."""
    _open_locks.add(descriptor)
    give_up = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    holder = os.pread(descriptor, 100, 0).decode(errors="replace").partition(" ")[0].strip()
                    lives = holder.isdigit() and _lives(holder)
                    raise PortrayalError(
                        f"{f'process {holder}' if lives else 'another process'} is working on {run.folder}. Wait for it or stop it;"
                        f" portrayal status {run.folder} shows how far it is."
                    ) from None
                time.sleep(0.05)
        yield descriptor
    finally:
        if descriptor in _open_locks:  # a forked child has let go already
            _open_locks.discard(descriptor)
            os.close(descriptor)


def _lives(holder: str) -> bool:
    """Return whether a process of this number runs; signal 0 asks on Linux and macOS."""
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _open(run: Run) -> int:
    """Open the lock file, made where it is not there; a link is not followed."""
    path = run.folder / "lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PortrayalError(f"{path} is a link. Expected a plain file: remove the link.") from None
        raise PortrayalError(f"cannot write to {run.folder}: {error.strerror}. Name another with --out.") from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise PortrayalError(f"{path} is shared with another file or no plain file. Remove it.")
    return descriptor

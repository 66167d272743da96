"""The lock of a run, held while it is recorded, measured or reported."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from portrayal.errors import PortrayalError
from portrayal.run.folder import Run

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
    _open_locks.add(descriptor)
    try:
        _take(descriptor, run, kind, patience)
        yield descriptor
    finally:
        if descriptor in _open_locks:  # a forked child has let go already
            _open_locks.discard(descriptor)
            os.close(descriptor)


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


def _take(descriptor: int, run: Run, kind: int, patience: float) -> None:
    """Take the lock, waiting a moment: `portrayal status` may be looking just now."""
    give_up = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= give_up:
                holder = os.pread(descriptor, 100, 0).decode(errors="replace").partition(" ")[0].strip()
                who = f"process {holder}" if holder.isdigit() and _lives(int(holder)) else "another process"
                raise PortrayalError(
                    f"{who} is working on {run.folder}. Wait for it or stop it; portrayal status {run.folder} shows how far it is."
                ) from None
            time.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True

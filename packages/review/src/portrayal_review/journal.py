"""Journal of judgments on disk, synced before it is acknowledged.

While the disk is busy further judgments arrive; all that wait are written and synced together.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import stat
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from portrayal.errors import PortrayalError
from portrayal.run.reviews import Act, read_judgments

_Waiting = tuple[bytes, "Future[None]"]


class Journal:
    """Acts of a run's reviewers, appended by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._descriptor = _open(path)
        self._size = _whole_lines(self._descriptor)
        self.acts: list[Act] = read_judgments(path)
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, daemon=True)
        self._writer.start()

    def add(self, act: Act) -> Future[None]:
        """Write an act; the future is done once it is on disk."""
        done: Future[None] = Future()
        self._queue.put((json.dumps(act, ensure_ascii=True).encode() + b"\n", done))
        return done

    def close(self) -> None:
        """Write what waits and close the file."""
        self._queue.put(None)
        self._writer.join()
        os.close(self._descriptor)

    def _write_all(self) -> None:
        while (first := self._queue.get()) is not None:
            waiting, ended = [first], False
            while not self._queue.empty() and not ended:
                entry = self._queue.get()
                ended = entry is None
                waiting += [] if entry is None else [entry]
            self._write(waiting)
            if ended:
                return

    def _write(self, waiting: Sequence[_Waiting]) -> None:
        data = b"".join(line for line, _ in waiting)
        try:
            _write_whole(self._descriptor, data)
            os.fsync(self._descriptor)
            self._size += len(data)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)  # half a line must not swallow the next one
            for _, done in waiting:
                done.set_exception(error)
            return
        for _, done in waiting:
            done.set_result(None)


def _write_whole(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _open(path: Path) -> int:
    """Open the file, never through a link, locked against a second viewer."""
    try:
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600
        )
    except OSError as error:
        raise PortrayalError(f"cannot keep judgments in {path}: {error.strerror}.") from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise PortrayalError(f"{path} is shared with another file or no plain file. Remove it.")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise PortrayalError(f"another `portrayal view` takes judgments for {path.parent}. Stop it first.") from None
    _sync_folder(path.parent)
    return descriptor


def _sync_folder(folder: Path) -> None:
    """Make the file's name as lasting as its bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _whole_lines(descriptor: int) -> int:
    """Cut off an unfinished last line and return the size that is left."""
    size = os.fstat(descriptor).st_size
    length, step = size, 64 * 1024
    while length:
        start = max(0, length - step)
        end = os.pread(descriptor, length - start, start).rfind(b"\n")
        if end >= 0:
            length = start + end + 1
            break
        length = start
    if length != size:
        os.ftruncate(descriptor, length)
    return length

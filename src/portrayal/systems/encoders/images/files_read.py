"""Files of a batch read by other processes: to open thousands of files a second here would keep Python's lock from the encoder."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeAlias

from portrayal.systems.encoders.images.jpegs import read_plain_jpeg

PROCESSES = 4
FEWEST = 64  # files: fewer are read here, since to hand them over costs as much
IN_MEMORY = Path("/dev/shm")  # a folder of ours with a random name is made in it

ReadFile: TypeAlias = tuple[int, bytearray | memoryview]


class Bundle(NamedTuple):
    """Files written one after the other into one: where it lies, which of those asked for are in it, and their sizes."""

    path: str
    places: list[int]
    sizes: list[int]


class FileReaders:
    """Reads the files that a device may decode."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
        self._processes = processes
        self._folder = tempfile.TemporaryDirectory(
            prefix="portrayal-", dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
        )

    def close(self) -> None:
        """Let the processes go, and what they wrote."""
        self._pool.shutdown()
        self._folder.cleanup()

    def read(self, paths: Sequence[str]) -> list[ReadFile]:
        """Return place and bytes of each file that a device may decode, in order."""
        if len(paths) < FEWEST:
            return read_here(paths)
        size = -(-len(paths) // self._processes)
        starts = range(0, len(paths), size)
        parts = [list(paths[start : start + size]) for start in starts]
        bundles = self._pool.map(bundle, parts, [self._folder.name] * len(parts))
        return [
            (start + place, data)
            for start, made in zip(starts, bundles, strict=True)
            for place, data in unbundled(made)
        ]


def read_here(paths: Sequence[str]) -> list[ReadFile]:
    """Read in this process."""
    read = [(place, read_plain_jpeg(path)) for place, path in enumerate(paths)]
    return [(place, data) for place, data in read if data is not None]


def bundle(paths: Sequence[str], folder: str) -> Bundle:
    """Read files and write them into one, in memory or, where that is full, on disk."""
    read = read_here(paths)
    places, sizes = [place for place, _ in read], [len(data) for _, data in read]
    whole = b"".join(data for _, data in read)
    for place in (folder, tempfile.gettempdir()):
        path = Path(place) / f"portrayal-{uuid.uuid4().hex}"
        try:
            path.write_bytes(whole)
        except OSError:
            path.unlink(missing_ok=True)
            if place != folder:
                raise
            continue
        break
    return Bundle(str(path), places, sizes)


def unbundled(made: Bundle) -> list[ReadFile]:
    """Read a bundle, which is gone then."""
    path = Path(made.path)
    data = bytearray(sum(made.sizes))
    with path.open("rb", buffering=0) as file:
        file.readinto(data)
    path.unlink()
    found: list[ReadFile] = []
    start = 0
    for place, size in zip(made.places, made.sizes, strict=True):
        found.append((place, memoryview(data)[start : start + size]))
        start += size
    return found

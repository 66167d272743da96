"""Shards: pieces of work, their outcomes, and the store of finished ones."""

import hashlib
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.edges.writing import make_inside, refuse_strange_file, write_bytes
from portrayal.errors import PortrayalError


@dataclass(frozen=True, eq=False)
class Shard:
    """A piece of work."""

    name: str
    content: Any
    place: int = 0

    def key(self, job: str) -> str:
        """Return the name of the stored result: a hash of the job and the content."""
        from portrayal.engine.plain import fingerprint  # a worker sets its threads before numpy is loaded

        return fingerprint([job, self.content])


def cut(items: Sequence[Any], size: int, what: str) -> list[Shard]:
    """Cut a sequence into shards of `size` items, named after what the items are."""
    total = len(items)
    return [
        Shard(f"{what} {start + 1:,} to {min(start + size, total):,} of {total:,}", items[start : start + size], place)
        for place, start in enumerate(range(0, total, size))
    ]


MEND, MEMORY, LOST, FAULT = "mend", "memory", "lost", "fault"
LONGEST_TRACE = 20_000  # characters


class ShardFailed(PortrayalError):
    """A shard could not be done, for a reason that its user can mend."""


class ShardFault(Exception):
    """A fault of the code met in a shard, with the worker's traceback."""


class Lost(Exception):
    """A worker ended without an answer."""


@dataclass(frozen=True)
class Done:
    """The result of a shard."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """Why there is none; plain words, so that any process can read them."""

    kind: str
    reason: str
    trace: str = ""


def attempt(work: Callable[..., Any], *content: Any) -> Done | Failed:
    """Call a function and return what came of it; never raises but for Ctrl-C."""
    try:
        return Done(work(*content))
    except Lost as lost:
        return Failed(LOST, str(lost))
    except MemoryError as error:
        return Failed(MEMORY, str(error))
    except PortrayalError as error:
        return Failed(MEND, str(error))
    except Exception as error:
        trace = traceback.format_exc()[-LONGEST_TRACE:]
        return Failed(FAULT, f"{type(error).__name__}: {error}", trace)


def result_of(shard: Shard, outcome: Done | Failed) -> Any:
    """Return the result, or raise an error that names the shard."""
    if isinstance(outcome, Done):
        return outcome.result
    if outcome.kind == FAULT:
        raise ShardFault(f"{shard.name}: {outcome.reason}\n{outcome.trace}")
    if outcome.kind == MEMORY:
        why = f" ({outcome.reason})" if outcome.reason else ""
        raise ShardFailed(
            f"{shard.name}: the worker ran out of memory{why}. Use fewer workers (--workers) or a machine with more; what is"
            " finished is kept, and the same command goes on."
        )
    raise ShardFailed(f"{shard.name}: {outcome.reason}")


LEDGER = "finished.sqlite"
SCHEMA = """CREATE TABLE IF NOT EXISTS finished (
    key TEXT PRIMARY KEY, job TEXT NOT NULL, shard TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL
) WITHOUT ROWID"""
NOT_THERE = object()


class Store:
    """The finished shards of a job in a folder."""

    def __init__(self, folder: Path, job: str, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> None:
        self.folder = make_inside(folder)
        self.job = job
        self._encode, self._decode = encode, decode
        for ending in ("", "-wal", "-shm", "-journal"):
            refuse_strange_file(folder / f"{LEDGER}{ending}")
        self._ledger = sqlite3.connect(folder / LEDGER, check_same_thread=False)
        try:
            self._ledger.execute("PRAGMA journal_mode=WAL")
            self._ledger.execute(SCHEMA)
        except sqlite3.DatabaseError as error:
            self._ledger.close()
            raise PortrayalError(
                f"{folder / LEDGER} cannot be read ({error}). Remove the folder {folder}: its work is then done again."
            ) from None

    def read(self, shard: Shard) -> Any:
        """Return the result of a finished shard, or NOT_THERE."""
        key = shard.key(self.job)
        row = self._ledger.execute("SELECT sha256 FROM finished WHERE key = ?", (key,)).fetchone()
        path = self.folder / key
        if row is None or not path.is_file() or path.is_symlink():
            return NOT_THERE
        data = path.read_bytes()
        return self._decode(data) if hashlib.sha256(data).hexdigest() == row[0] else NOT_THERE

    def write(self, shard: Shard, result: Any) -> None:
        """Keep a result: the file first, then the row."""
        key, data = shard.key(self.job), self._encode(result)
        write_bytes(self.folder / key, data)
        row = (key, self.job, shard.name, len(data), hashlib.sha256(data).hexdigest())
        with self._ledger:
            self._ledger.execute("INSERT OR REPLACE INTO finished VALUES (?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()


def forget(folder: Path) -> None:
    """Remove finished shards once what they were made for is written."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)

"""Stores of finished shards: a file each, and a row in SQLite with its hash."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from portrayal.edges.writing import make_inside, refuse_strange_file, write_bytes
from portrayal.engine.shards import Shard
from portrayal.errors import PortrayalError

LEDGER = "finished.sqlite"
SCHEMA = """CREATE TABLE IF NOT EXISTS finished (
    key TEXT PRIMARY KEY, job TEXT NOT NULL, shard TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL
) WITHOUT ROWID"""
NOT_THERE = object()


class Store:
    """The finished shards of a job in a folder."""

    def __init__(
        self, folder: Path, job: str, to_bytes: Callable[[Any], bytes], from_bytes: Callable[[bytes], Any]
    ) -> None:
        self.folder = make_inside(folder)
        self.job = job
        self._to_bytes, self._from_bytes = to_bytes, from_bytes
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
        return self._from_bytes(data) if hashlib.sha256(data).hexdigest() == row[0] else NOT_THERE

    def write(self, shard: Shard, result: Any) -> None:
        """Keep a result: the file first, then the row."""
        key, data = shard.key(self.job), self._to_bytes(result)
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


def code_of(*folders: Path) -> str:
    """Return a short hash of the code in these folders."""
    digest = hashlib.sha256()
    for path in sorted(file for folder in folders for name in ("*.py", "*.toml") for file in folder.glob(name)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]

"""Cache of embeddings between runs, by hash of content and model.

One SQLite file, written batch by batch: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from portrayal.edges.writing import refuse_strange_file
from portrayal.errors import PortrayalError

SCHEMA = """CREATE TABLE IF NOT EXISTS embeddings (
    model TEXT NOT NULL, content TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, content)
) WITHOUT ROWID"""


class EmbeddingCache:
    """A file of embeddings."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        for ending in ("", "-wal", "-shm", "-journal"):
            refuse_strange_file(path.with_name(path.name + ending))
        self._connection = sqlite3.connect(path, check_same_thread=False)
        _refuse_other_database(self._connection, path)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(SCHEMA)

    def get(self, model: str, contents: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the embeddings that are there, by content hash."""
        found: dict[str, np.ndarray] = {}
        for content in contents:
            query = "SELECT vector FROM embeddings WHERE model = ? AND content = ?"
            row = self._connection.execute(query, (model, content)).fetchone()
            if row is not None:
                found[content] = np.frombuffer(row[0], dtype="<f4")
        return found

    def put(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep embeddings; what is there already stays."""
        rows = [(model, content, np.asarray(vector, "<f4").tobytes()) for content, vector in vectors.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _refuse_other_database(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is somebody's own: no database, or one with other tables."""
    try:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master LIMIT 10")}
    except sqlite3.DatabaseError:
        names = {"no database"}
    if names - {"embeddings"}:
        connection.close()
        raise PortrayalError(f"{path} is not a file of embeddings. Name another with `cache`.")

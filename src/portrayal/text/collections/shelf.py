"""A shelf: a collection's queries and judgments in a temporary file."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from portrayal.text.collections.collection import Collection, Files, Judgment, Qrels
from portrayal.text.collections.readers import asked_twice, read_queries
from portrayal.text.collections.trec import judged_twice, read_judgments

# A query that is judged and never asked has no words; its number comes after those of all others.
TABLES = """
CREATE TABLE query (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, words TEXT, cluster TEXT);
CREATE TABLE judgment (query INTEGER, doc TEXT, level INTEGER, place INTEGER, PRIMARY KEY (query, doc)) WITHOUT ROWID;
CREATE TABLE gain (query INTEGER, doc TEXT, level INTEGER, place INTEGER, PRIMARY KEY (query, doc)) WITHOUT ROWID;
"""
# The file is thrown away with the process, so that nothing need survive a fault.
PLAIN = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000; BEGIN;"
GRADED = """
UPDATE judgment SET level = coalesce(
    (SELECT gain.level FROM gain WHERE gain.query = judgment.query AND gain.doc = judgment.doc), level) WHERE level > 0
"""


class Some(NamedTuple):
    """Some queries, by their number: those that are asked, and those that are judged."""

    numbers: dict[str, int]
    queries: dict[str, list[str]]  # each query's words
    qrels: Qrels


@contextmanager
def shelve(collection: Collection, spell: Callable[[str], list[str]]) -> Iterator[Shelf]:
    """Put a collection's queries (as words) and judgments on a temporary shelf."""
    with TemporaryDirectory(prefix="portrayal-shelf-") as folder:
        file = sqlite3.connect(Path(folder) / "shelf.sqlite", isolation_level=None)
        try:
            file.executescript(TABLES + PLAIN)
            shelf, files = Shelf(file), collection.files or Files(None, None)
            own_queries = ((name, text, collection.clusters.get(name)) for name, text in collection.queries.items())
            queries = read_queries(files.queries) if files.queries else own_queries
            shelf.ask(((name, spell(text), cluster) for name, text, cluster in queries), files.queries)
            levels = collection.levels().items()
            own = ((query, doc, level) for query, judged in levels for doc, level in judged.items())
            shelf.judge(chain(read_judgments(files.judgments) if files.judgments else (), own), source=files.judgments)
            if files.graded:
                shelf.judge(read_judgments(files.graded), "gain", files.graded)
                file.execute(GRADED)
            yield shelf
        finally:
            file.close()


class Shelf:
    """Queries, numbered in their order, and judgments."""

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        self.count = 0  # queries that are asked
        self.words: Counter[str] = Counter()  # how often each is asked

    def ask(self, queries: Iterable[tuple[str, list[str], str | None]], source: Path | None = None) -> None:
        """Add queries as (id, words, cluster); `source` is the file that an error names."""
        for name, words, cluster in queries:
            self.words.update(words)
            try:
                self._file.execute(
                    "INSERT INTO query VALUES (?, ?, ?, ?)", (self.count, name, " ".join(words), cluster)
                )
            except sqlite3.IntegrityError:
                raise asked_twice(source, name) from None
            self.count += 1

    def judge(self, judgments: Iterable[Judgment], table: str = "judgment", source: Path | None = None) -> None:
        """Add judgments, or gains that stand in for the relevance of relevant documents."""
        last, number = None, 0
        for place, (query, doc, level) in enumerate(judgments):
            if query != last:
                row = self._file.execute("SELECT number FROM query WHERE name = ?", (query,)).fetchone()
                if row is None:  # a query that is only judged
                    row = (self._file.execute("INSERT INTO query (name) VALUES (?)", (query,)).lastrowid,)
                last, number = query, row[0]
            try:
                self._file.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (number, doc, level, place))
            except sqlite3.IntegrityError:
                raise judged_twice(source, query, doc) from None

    def __len__(self) -> int:
        """The number of queries that are asked or judged."""
        return int(self._file.execute("SELECT count(*) FROM query").fetchone()[0])

    def some(self, names: Iterable[str]) -> Some:
        """Return those of these queries that are there, in their order."""
        one = "SELECT number, name, words FROM query WHERE name = ?"
        rows = (self._file.execute(one, (name,)).fetchone() for name in names)
        return self._some(sorted(row for row in rows if row is not None))

    def pieces(self, size: int) -> Iterator[Some]:
        """Yield all queries that are asked, in their order, so many at a time."""
        piece = "SELECT number, name, words FROM query WHERE number >= ? AND number < ? ORDER BY number"
        for start in range(0, self.count, size):
            yield self._some(self._file.execute(piece, (start, min(start + size, self.count))).fetchall())

    def wordings(self) -> Iterator[tuple[list[str], str | None]]:
        """Yield the words and the cluster of each query that is asked, in order."""
        rows = self._file.execute("SELECT words, cluster FROM query WHERE words IS NOT NULL ORDER BY number")
        return ((words.split(), cluster) for words, cluster in rows)

    def judged(self) -> np.ndarray:
        """Return the numbers of the judged queries in the order of the judgments."""
        rows = self._file.execute("SELECT query FROM judgment GROUP BY query ORDER BY min(place)")
        return np.fromiter((number for (number,) in rows), np.int64)

    def _some(self, rows: list[tuple[int, str, str | None]]) -> Some:
        """Look up the judgments of these queries."""
        levels = "SELECT doc, level FROM judgment WHERE query = ? ORDER BY place"
        qrels = {name: dict(self._file.execute(levels, (number,))) for number, name, _ in rows}
        return Some(
            {name: number for number, name, _ in rows},
            {name: words.split() for _, name, words in rows if words is not None},
            {name: judged for name, judged in qrels.items() if judged},
        )

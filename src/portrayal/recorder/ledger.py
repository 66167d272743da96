"""The ledger: one SQLite file per run with every question and its answer.

A question is written before it is asked and marked in flight before the call; its raw answer is stored before anything reads it. The
log is a write-ahead log with synchronous=FULL, so an answer that was acknowledged survives a kill or a power cut.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from portrayal.edges.secrets import hidden, hidden_bytes
from portrayal.recorder.ledger_file import STATES, columns_of, open_readonly, open_writable
from portrayal.systems.core.base import BROKEN, KEPT_OF_LARGER, LARGEST_ANSWER, Answer, broken_answer
from portrayal.systems.core.readers import writable

__all__ = ["STATES", "Entry", "Ledger", "Planned", "short_text", "storable"]

_ANSWERED = ("done", "refused", "unreadable")
DAMAGED = "the stored bytes are not those that came: their hash is another"
# A system may hand over anything. Nothing it hands over may stop the recording or cost an answer that came.
LONGEST_VERSION = 200  # characters
LONGEST_REASON = 2000


def storable(answer: Answer, price: float = 0.0) -> Answer:
    """Return an answer that can be stored."""
    cost = money(answer.cost, price)
    if not isinstance(answer.raw, bytes):
        reason = f"the system gave a {type(answer.raw).__name__} where bytes are expected"
        return broken_answer(repr(answer.raw).encode(errors="replace"), reason, cost)
    answer = replace(answer, raw=hidden_bytes(answer.raw))  # secrets that a service echoes, before anything is cut
    if len(answer.raw) > LARGEST_ANSWER:
        return broken_answer(answer.raw, f"it is larger than {LARGEST_ANSWER:,} bytes", cost)
    version = short_text(answer.version, LONGEST_VERSION)
    return Answer(answer.raw, short_text(answer.media, LONGEST_REASON), version, cost, bool(answer.refused))


def money(value: Any, price: float = 0.0) -> float:
    """Return a cost in US dollars, or the price where it is no amount."""
    try:
        amount = float(value)
    except (TypeError, ValueError, OverflowError):
        return price
    return amount if math.isfinite(amount) and amount >= 0 else price


def short_text(value: Any, longest: int = LONGEST_REASON) -> str:
    """Return text that can be written, of a length somebody reads."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:  # whatever an object of a user's function does when it is asked for its text
        text = f"a {type(value).__name__}"
    return writable(hidden(text)[:longest])


def hash_of(raw: bytes | None) -> str:
    """Return the SHA-256 of stored bytes, or nothing where there are none."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()


def is_whole(raw: bytes | None, sha256: str) -> bool:
    """Return True where stored bytes are those that came, or have no hash."""
    return not sha256 or hash_of(raw) == sha256


@dataclass(frozen=True)
class Planned:
    """A question's intent row; `reader` is how its answer will be read (`portrayal.systems.core.readers`)."""

    key: str
    system: str
    identity: str
    version: str
    parameters: Mapping[str, Any]
    hash: str
    repeat: int
    kind: str = ""
    reader: str = "plain"


class Entry(NamedTuple):
    """A question as the ledger knows it, with all it takes to read the answer."""

    key: str
    system: str
    hash: str
    repeat: int
    kind: str
    reader: str
    parameters: Mapping[str, Any]
    state: str
    answer: Answer | None
    error: str | None


_PRESENT = "SELECT key, system, kind, reader, current FROM questions"
_PLANNED = (
    "INSERT INTO questions (key, system, identity, version, parameters, hash, repeat, kind, reader)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (key) DO UPDATE SET current = 1, system = excluded.system, kind = excluded.kind, reader = excluded.reader"
)


def _digest(plan: Sequence[tuple[str, str, str, Set[str]]]) -> str:
    """Return a hash of a plan in its order."""
    lines = (f"{json.dumps(about)} {len(keys)} {' '.join(keys)}" for *about, keys in plan)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@lru_cache(maxsize=64)
def _parameters(text: str) -> Mapping[str, Any]:
    """Return the parameters of a question; those of a system's questions are all the same."""
    return MappingProxyType(json.loads(text))


class Ledger:
    """A ledger open for writing, by one process at a time, or for reading."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self._together = False
        self._connection = open_readonly(path) if readonly else open_writable(path)

    @classmethod
    def reading(cls, path: Path) -> Ledger:
        """Open a ledger that is only looked at."""
        return cls(path, readonly=True)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the write-ahead log is folded in."""
        self._connection.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write what is written inside as one transaction: all of it or nothing."""
        self._together = True
        try:
            with self._connection:
                yield
        finally:
            self._together = False

    def _transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return nullcontext(self._connection) if self._together else self._connection

    def copy(self, path: Path) -> None:
        """Copy the ledger without its log; the same content gives the same bytes."""
        self._connection.execute("VACUUM INTO ?", (str(path),))

    def is_plan(self, plan: Sequence[tuple[str, str, str, Set[str]]]) -> bool:
        """Return True where these are the study's questions: keys of each (system, kind, reader)."""
        ((current,),) = self._connection.execute("SELECT count(*) FROM questions WHERE current").fetchall()
        if current != sum(len(keys) for *_, keys in plan):
            return False
        if self.fact("plan") == _digest(plan):  # to read the keys, SQLite passes over every answer
            return True
        present = "SELECT key FROM questions WHERE current AND system = ? AND kind = ? AND reader = ?"
        return all({key for (key,) in self._connection.execute(present, about)} == keys for *about, keys in plan)

    def plan(self, questions: Iterable[Planned]) -> None:
        """Make these the study's questions; answers already here are kept, other questions set aside."""
        present = {key: tuple(rest) for key, *rest in self._connection.execute(_PRESENT)}
        rows, planned = [], set()
        about: dict[tuple[str, str, str], dict[str, None]] = {}
        for question in questions:
            planned.add(question.key)
            about.setdefault((question.system, question.kind, question.reader), {})[question.key] = None
            if present.get(question.key) != (question.system, question.kind, question.reader, 1):
                rows.append(question)
        gone = [(key,) for key, (*_, current) in present.items() if current and key not in planned]
        if not rows and not gone:  # as the ledger has it: nothing is written
            return
        as_text = partial(json.dumps, sort_keys=True, default=str)
        values = [tuple((vars(one) | {"parameters": as_text(one.parameters)}).values()) for one in rows]
        with self._transaction() as connection:
            connection.executemany("UPDATE questions SET current = 0 WHERE key = ?", gone)
            connection.executemany(_PLANNED, values)
            digest = _digest([(*each, keys.keys()) for each, keys in about.items()])
            connection.execute("INSERT OR REPLACE INTO facts VALUES ('plan', ?)", (json.dumps(digest),))

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]] = ((),)) -> int:
        """Run a statement for each row; return how many rows changed."""
        with self._transaction() as connection:
            return connection.executemany(statement, rows).rowcount

    def recover(self) -> int:
        """Mark calls in flight when the last process died as unknown; return their number."""
        return self._write("UPDATE questions SET state = 'unknown' WHERE state = 'in_flight'")

    def ask_again(self, state: str, system: str | None = None) -> int:
        """Put questions of a state ('unknown' ...) back to planned, of one system or all."""
        again = "UPDATE questions SET state = 'planned' WHERE current AND state = ? AND system = coalesce(?, system)"
        return self._write(again, [(state, system)])

    def find_damaged(self) -> int:
        """Mark answers unreadable whose bytes are not those that came; return how many there are."""
        rows = self._connection.execute(
            "SELECT key, raw, sha256 FROM questions WHERE current AND state IN ('done', 'refused') AND sha256 != ''"
        )
        damaged = [key for key, raw, sha256 in rows if not is_whole(raw, sha256)]
        self.restate((key, "unreadable", DAMAGED) for key in damaged)
        return len(damaged)

    def start(self, keys: Sequence[str], now: float) -> None:
        """Write the intent: these are about to be asked."""
        started = "UPDATE questions SET state = 'in_flight', attempts = attempts + 1, started = ? WHERE key = ?"
        self._write(started, [(now, key) for key in keys])

    def finish(self, answers: Iterable[tuple[str, Answer]], now: float) -> None:
        """Store raw answers."""
        rows = [
            ("refused" if a.refused else "done", a.raw, hash_of(a.raw), a.media, a.version, a.cost, now, key)
            for key, a in answers
        ]
        answered = "state = ?, raw = ?, sha256 = ?, media = ?, version_answered = ?, cost = cost + ?"
        self._write(f"UPDATE questions SET {answered}, ended = ?, error = NULL WHERE key = ?", rows)

    def restate(self, states: Iterable[tuple[str, str, str | None]]) -> None:
        """Put answered questions into the state that reading their answers gave: (key, state, reason)."""
        rows = [(state, reason and short_text(reason), key) for key, state, reason in states]
        self._write("UPDATE questions SET state = ?, error = ? WHERE key = ?", rows)

    def settle(self, keys: Sequence[str], state: str, error: str, now: float, raw: bytes | None = None) -> None:
        """Put questions that got no answer into `state`, with the reason."""
        clean = None if raw is None else hidden_bytes(raw)  # a failure's words; of larger ones the beginning
        if clean is not None and len(clean) > LARGEST_ANSWER:
            clean = clean[:KEPT_OF_LARGER]
        settled = "UPDATE questions SET state = ?, error = ?, ended = ?, raw = ?, sha256 = ? WHERE key = ?"
        self._write(settled, [(state, short_text(error), now, clean, hash_of(clean), key) for key in keys])

    def open_keys(self, system: str) -> set[str]:
        """Return the keys of this system that are still to be asked."""
        planned = "SELECT key FROM questions WHERE current AND system = ? AND state = 'planned'"
        return {key for (key,) in self._connection.execute(planned, (system,))}

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of questions in each of the seven states, by system."""
        table: dict[str, dict[str, int]] = {}
        counted = "SELECT system, state, count(*) FROM questions WHERE current GROUP BY system, state ORDER BY system"
        for system, state, count in self._connection.execute(counted):
            table.setdefault(system, dict.fromkeys(STATES, 0))[state] = count
        return table

    def states(self) -> dict[str, str]:
        """Return the state of every question ever asked of this run, by key."""
        return dict(self._connection.execute("SELECT key, state FROM questions").fetchall())

    def was_asked(self) -> bool:
        """Return True once anything was asked, though it may be planned again."""
        query = "SELECT EXISTS (SELECT 1 FROM questions WHERE attempts > 0 OR state != 'planned')"
        return bool(self._connection.execute(query).fetchone()[0])

    def entries(self) -> Iterator[Entry]:
        """Yield the study's questions with their raw answers, in the order first planned."""
        sha256 = "sha256" if "sha256" in columns_of(self._connection) else "''"
        rows = self._connection.execute(
            "SELECT key, system, hash, repeat, kind, reader, parameters, state, raw, media, version_answered, cost, error,"
            f" {sha256} FROM questions WHERE current ORDER BY rowid"  # as they lie in the file: nothing is sorted
        )
        for *about, parameters, state, raw, media, version, cost, error, sha256 in rows:
            answer = None
            if state in _ANSWERED:
                media = media or "" if is_whole(raw, sha256) else BROKEN + DAMAGED
                answer = Answer(raw or b"", media, version or "", cost, state == "refused")
            yield Entry._make((*about, _parameters(parameters), state, answer, error))

    def raw(self, system: str, digest: str, repeat: int) -> tuple[bytes, str, str]:
        """Return a question's stored bytes, their media type and its state, if any."""
        row = self._connection.execute(
            "SELECT raw, media, state FROM questions WHERE current AND system = ? AND hash = ? AND repeat = ?",
            (system, digest, repeat),
        ).fetchone()
        return (row[0] or b"", row[1] or "", row[2]) if row else (b"", "", "")

    def spent(self) -> float:
        """Return the money spent so far, in US dollars."""
        return self._connection.execute("SELECT coalesce(sum(cost), 0) FROM questions").fetchone()[0]

    def versions_answered(self) -> dict[str, list[str]]:
        """Return the model versions each system named in its answers."""
        table: dict[str, list[str]] = {}
        versions = "SELECT DISTINCT system, version_answered FROM questions WHERE current AND version_answered != ''"
        for system, version in self._connection.execute(f"{versions} ORDER BY system, version_answered"):
            table.setdefault(system, []).append(version)
        return table

    def errors(self, limit: int = 5) -> list[tuple[str, str, int]]:
        """Return the most common reasons why questions have no answer: (system, reason, count)."""
        return self._connection.execute(
            "SELECT system, error, count(*) AS n FROM questions"
            " WHERE current AND error IS NOT NULL AND state != 'done'"
            " GROUP BY system, error ORDER BY n DESC, system LIMIT ?",
            (limit,),
        ).fetchall()

    def commonest_error(self, system: str) -> str | None:
        """Return the reason that most of a system's questions without an answer have."""
        row = self._connection.execute(
            "SELECT error FROM questions WHERE current AND system = ? AND error IS NOT NULL"
            " GROUP BY error ORDER BY count(*) DESC, error LIMIT 1",
            (system,),
        ).fetchone()
        return row[0] if row else None

    def begin_wave(self, now: float, portrayal: str) -> int:
        """Note that a process begins to record."""
        with self._transaction() as connection:
            cursor = connection.execute("INSERT INTO waves (started, portrayal) VALUES (?, ?)", (now, portrayal))
        return int(cursor.lastrowid or 0)

    def end_wave(self, wave: int, now: float) -> None:
        """Note that it ended of its own accord."""
        self._write("UPDATE waves SET ended = ? WHERE rowid = ?", [(now, wave)])

    def waves(self) -> list[dict[str, Any]]:
        """Return start and end of each wave; a wave that was killed has no end."""
        rows = self._connection.execute("SELECT started, ended, portrayal FROM waves ORDER BY started").fetchall()
        return [{"started": started, "ended": ended, "portrayal": version} for started, ended, version in rows]

    def put_fact(self, name: str, value: Any) -> None:
        """Keep a fact about the run, such as the folder its study came from."""
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(name, json.dumps(value))])

    def fact(self, name: str) -> Any:
        """Return a fact, or None."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

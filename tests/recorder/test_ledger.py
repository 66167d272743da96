from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from portrayal.errors import PortrayalError
from portrayal.recorder import responses
from portrayal.recorder.ledger import STATES, Ledger, Planned
from portrayal.systems.core.base import Answer


def planned(*keys: str, system: str = "fake") -> list[Planned]:
    return [Planned(key, system, "python:x:y", "", {"top": 5}, f"hash-{key}", 0) for key in keys]


def test_the_journal_survives_a_power_cut(ledger: Ledger) -> None:
    connection = ledger._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # 2 is FULL


def test_states_always_sum_to_the_questions(ledger: Ledger) -> None:
    ledger.plan(planned("a", "b", "c", "d", "e"))
    ledger.start(["a", "b", "c", "d"], 1.0)
    ledger.finish([("a", Answer(b"1")), ("b", Answer(b"no", refused=True))], 2.0)
    ledger.settle(["c"], "failed", "HTTP 400", 2.0)
    counts = ledger.counts()["fake"]
    found = {"planned": 1, "in_flight": 1, "done": 1, "failed": 1, "refused": 1}
    assert counts == {**found, "unreadable": 0, "unknown": 0}
    assert sum(counts.values()) == 5
    assert tuple(counts) == STATES


def test_planning_again_keeps_answers_and_sets_other_questions_aside(ledger: Ledger) -> None:
    ledger.plan(planned("a", "b"))
    ledger.finish([("a", Answer(b"answer of a"))], 1.0)
    ledger.plan(planned("b", "c"))
    assert ledger.open_keys("fake") == {"b", "c"}
    ledger.plan(planned("a", "b"))
    assert ledger.open_keys("fake") == {"b"}
    assert [entry.answer.raw for entry in ledger.entries() if entry.answer] == [b"answer of a"]


def test_calls_in_flight_at_a_death_become_unknown(tmp_path: Path) -> None:
    first = Ledger(tmp_path / "ledger.sqlite")
    first.plan(planned("a", "b"))
    first.start(["a"], 1.0)
    first.close()
    second = Ledger(tmp_path / "ledger.sqlite")
    assert second.recover() == 1
    assert second.counts()["fake"]["unknown"] == 1
    assert second.ask_again("unknown") == 1
    assert second.open_keys("fake") == {"a", "b"}
    second.close()


def test_the_answered_version_stands_beside_the_version_asked_for(ledger: Ledger) -> None:
    ledger.plan(planned("a"))
    ledger.finish([("a", Answer(b"{}", version="model-2026-01"))], 1.0)
    assert ledger.versions_answered() == {"fake": ["model-2026-01"]}


def test_a_reader_works_beside_a_writer_and_cannot_write(ledger: Ledger) -> None:
    ledger.plan(planned("a"))
    reader = Ledger(ledger.path, readonly=True)
    ledger.start(["a"], 1.0)
    assert reader.counts()["fake"]["in_flight"] == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.put_fact("a", 1)
    reader.close()


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is a text file, not a database, and long enough to be seen as one" * 20)
    with pytest.raises(PortrayalError, match="cannot be read as a ledger"):
        Ledger(path, readonly=True)


def test_a_file_that_is_no_ledger_cannot_be_written_to(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is a text file, not a database, and long enough to be seen as one" * 20)
    with pytest.raises(PortrayalError, match="is not a ledger of Portrayal"):
        Ledger(path)


@pytest.mark.parametrize("readonly", [True, False])
def test_a_ledger_cut_to_nothing_is_an_error(tmp_path: Path, readonly: bool) -> None:
    """To begin anew in its place would pay for every answer again; a new ledger is never empty, not even after a kill."""
    path = tmp_path / "ledger.sqlite"
    path.touch()
    with pytest.raises(PortrayalError, match=r"is empty \(0 bytes\): its answers are gone"):
        Ledger(path, readonly=readonly)
    assert path.stat().st_size == 0


def test_reading_puts_no_file_beside_the_ledger(tmp_path: Path) -> None:
    writer = Ledger(tmp_path / "ledger.sqlite")
    writer.plan(planned("a"))
    writer.close()
    reader = Ledger(writer.path, readonly=True)
    assert reader.counts()["fake"]["planned"] == 1
    reader.close()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]


# The table of ledgers before answers that cannot be read had a state of their own.
EARLIER = """
CREATE TABLE questions (
    key TEXT PRIMARY KEY, system TEXT NOT NULL, identity TEXT NOT NULL, version TEXT NOT NULL, parameters TEXT NOT NULL,
    hash TEXT NOT NULL, repeat INTEGER NOT NULL, kind TEXT NOT NULL DEFAULT '', reader TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'planned'
        CHECK (state IN ('planned', 'in_flight', 'done', 'failed', 'refused', 'unknown')),
    current INTEGER NOT NULL DEFAULT 1, attempts INTEGER NOT NULL DEFAULT 0, started REAL, ended REAL, raw BLOB,
    media TEXT, version_answered TEXT, cost REAL NOT NULL DEFAULT 0, error TEXT
);
CREATE INDEX questions_by_state ON questions (system, state) WHERE current;
CREATE TABLE waves (started REAL NOT NULL, ended REAL, portrayal TEXT NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
SAID = {"read": b'"a woman"', "page": b"<html>", "no": b'"I cannot describe people."', "flagged": b"{}"}


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "earlier.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(EARLIER)
    connection.executemany(
        "INSERT INTO questions (key, system, identity, version, parameters, hash, repeat, kind, reader, state, raw, cost)"
        " VALUES (?, 'fake', 'x', '', '{}', ?, 0, 'captioner', 'plain', ?, ?, 0.5)",
        [(key, key, "refused" if key == "flagged" else "done", raw) for key, raw in SAID.items()],
    )
    connection.commit()
    connection.close()
    return path


def test_the_ledger_of_an_earlier_version_is_counted_as_this_one_reads_it(earlier: Path) -> None:
    with Ledger.reading(earlier) as ledger:
        found = responses.counts(ledger)["fake"]
    assert {state: n for state, n in found.items() if n} == {"done": 1, "refused": 2, "unreadable": 1}


def test_the_ledger_of_an_earlier_version_is_put_right_and_loses_nothing(earlier: Path) -> None:
    with Ledger(earlier) as ledger:
        responses.put_right(ledger)
        assert ledger.states() == {"read": "done", "page": "unreadable", "no": "refused", "flagged": "refused"}
        assert {entry.key: entry.answer.raw for entry in ledger.entries() if entry.answer} == SAID
        assert {entry.key: entry.error for entry in ledger.entries()} == {
            "read": None,
            "page": "the answer is not JSON: b'<html>'",
            "no": "I cannot describe people.",
            "flagged": None,
        }
        assert ledger.spent() == 2.0
        assert ledger.ask_again("unreadable") == 1
        assert ledger.open_keys("fake") == {"page"}
    with Ledger(earlier) as ledger:  # opened again nothing is left to bring up to date
        assert ledger.states()["page"] == "planned"


def test_answers_a_killed_process_left_unread_are_read(ledger: Ledger) -> None:
    ledger.plan(planned("a"))
    responses.put_right(ledger)
    wave = ledger.begin_wave(1.0, "x")
    ledger.finish([("a", Answer(b"<html>"))], 1.0)  # stored, and the process dies before it reads it
    responses.put_right(ledger)
    assert ledger.states() == {"a": "unreadable"}
    ledger.restate([("a", "done", None)])
    ledger.end_wave(wave, 2.0)
    responses.put_right(ledger)  # no kill: the answers of a long run are not all read again
    assert ledger.states() == {"a": "done"}

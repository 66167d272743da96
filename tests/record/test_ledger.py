from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from portrayal.errors import PortrayalError
from portrayal.record.ledger import STATES, Ledger, Planned
from portrayal.systems.base import Answer


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
    assert counts == {"planned": 1, "in_flight": 1, "done": 1, "failed": 1, "refused": 1, "unknown": 0}
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


def test_a_ledger_whose_process_died_before_the_first_question_says_so(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.touch()
    with pytest.raises(PortrayalError, match="holds no questions yet"):
        Ledger(path, readonly=True)


def test_reading_puts_no_file_beside_the_ledger(tmp_path: Path) -> None:
    writer = Ledger(tmp_path / "ledger.sqlite")
    writer.plan(planned("a"))
    writer.close()
    reader = Ledger(writer.path, readonly=True)
    assert reader.counts()["fake"]["planned"] == 1
    reader.close()
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.sqlite"]

"""Group commit: many writes in one transaction, each acknowledged after it is on disk, none failing for another."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Journal, Recorder
from portrayal.systems.core.base import Answer, BaseSystem, Limits, Question


def planned(*keys: str) -> list[Planned]:
    return [Planned(key, "mine", "mine", "", {}, key, 0, "tagger", "plain") for key in keys]


def on_disk(path: Path) -> dict[str, str]:
    """Return the states that another process would see."""
    with sqlite3.connect(path) as other:
        return dict(other.execute("SELECT key, state FROM questions").fetchall())


@pytest.fixture
def ledger(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        opened.plan(planned("a", "b", "c"))
        yield opened


def run(*writes: Callable[[Journal], object], ledger: Ledger) -> list[object]:
    async def running() -> list[object]:
        journal = Journal(ledger)
        return await asyncio.gather(*(write(journal) for write in writes), return_exceptions=True)

    return asyncio.run(running())


def test_what_is_written_at_once_is_one_transaction(ledger: Ledger) -> None:
    commits = []
    ledger._connection.set_trace_callback(lambda line: commits.append(line) if line == "COMMIT" else None)
    run(*(lambda journal, key=key: journal.write(lambda: ledger.start([key], 1.0)) for key in "abc"), ledger=ledger)
    assert len(commits) == 1
    assert on_disk(ledger.path) == dict.fromkeys("abc", "in_flight")


def test_one_that_cannot_be_written_takes_no_other_with_it(ledger: Ledger) -> None:
    def broken() -> None:
        ledger.start(["b"], 1.0)
        raise ValueError("no")

    ends = run(
        lambda journal: journal.write(lambda: ledger.start(["a"], 1.0)),
        lambda journal: journal.write(broken),
        lambda journal: journal.write(lambda: ledger.start(["c"], 1.0)),
        ledger=ledger,
    )
    assert [type(end) for end in ends] == [type(None), ValueError, type(None)]
    assert on_disk(ledger.path) == {"a": "in_flight", "b": "planned", "c": "in_flight"}


def test_a_cancelled_answer_is_written_and_a_cancelled_intent_is_not(ledger: Ledger) -> None:
    async def cancelled() -> None:
        journal = Journal(ledger)
        waiting = [
            asyncio.ensure_future(journal.write(lambda: ledger.finish([("a", Answer(b"[]"))], 1.0))),
            asyncio.ensure_future(journal.write(lambda: ledger.start(["b"], 1.0), needless_when_cancelled=True)),
        ]
        await asyncio.sleep(0)  # both wait now
        for one in waiting:
            one.cancel()
        journal.flush()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(cancelled())
    assert on_disk(ledger.path) == {"a": "done", "b": "planned", "c": "planned"}


class Slow(BaseSystem):
    async def ask(self, questions: list[Question]) -> list[Answer]:
        await asyncio.sleep(0.01)
        return [Answer(b'["tree"]') for _ in questions]


def test_many_workers_share_commits_and_hear_of_an_answer_after_it_is_on_disk(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(200)]
    heard: list[str] = []
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.plan(planned(*keys))
        commits = []
        ledger._connection.set_trace_callback(lambda line: commits.append(line) if line == "COMMIT" else None)

        def listen(system: str, state: str, count: int, dollars: float) -> None:
            heard.append(state)
            done = list(on_disk(ledger.path).values()).count("done")
            assert done >= len(heard)

        system = Slow("mine", "tagger", "mine", limits=Limits(concurrency=50))
        questions = {key: Question(key, "text", key, key) for key in keys}
        asyncio.run(Recorder(ledger, listen).record([(system, questions)]))
    assert heard == ["done"] * 200
    assert len(commits) < 60  # two for each of the 200 without groups

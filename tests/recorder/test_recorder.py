from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Ledger, Planned
from portrayal.recorder.recorder import Recorder
from portrayal.systems.core import readers
from portrayal.systems.core.base import (
    Answer,
    BaseSystem,
    CallFailed,
    Limits,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    Throttled,
)


@dataclass
class Scripted(BaseSystem):
    """Answers as a script says, and keeps its own log of what it was asked."""

    script: Callable[[str, int], Answer | Exception] = lambda content, time: Answer(f'["{content}"]'.encode())
    log: list[str] = field(default_factory=list)
    running: int = 0
    most_at_once: int = 0

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        await asyncio.sleep(0)
        outcomes = []
        for question in questions:
            self.log.append(question.content)
            outcomes.append(self.script(question.content, self.log.count(question.content)))
        self.running -= 1
        if len(outcomes) == 1 and isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes

    def read(self, answer: Answer) -> list[dict[str, Any]]:
        return []


@dataclass
class Clock:
    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def record(ledger: Ledger, system: Scripted, contents: Sequence[str]) -> tuple[Recorder, Clock]:
    clock = Clock()
    questions = {f"key {content}": Question(content, "text", content, content) for content in contents}
    ledger.plan(Planned(key, system.name, "fake", "", {}, q.hash, 0) for key, q in questions.items())
    recorder = Recorder(ledger, clock=clock, sleep=clock.sleep, monotonic=clock)
    asyncio.run(recorder.record([(system, questions)]))
    return recorder, clock


def fake(script: Callable[[str, int], Answer | Exception] | None = None, **limits: Any) -> Scripted:
    system = Scripted(name="fake", kind="tagger", identity="fake", limits=Limits(**limits))
    if script:
        system.script = script
    return system


def test_every_question_is_asked_once_and_its_raw_answer_kept(ledger: Ledger) -> None:
    system = fake()
    record(ledger, system, ["a", "b", "c"])
    assert sorted(system.log) == ["a", "b", "c"]
    assert {entry.answer.raw for entry in ledger.entries()} == {b'["a"]', b'["b"]', b'["c"]'}
    record(ledger, system, ["a", "b", "c"])
    assert len(system.log) == 3


def test_told_to_come_back_it_waits_as_long_as_it_was_told(ledger: Ledger) -> None:
    system = fake(lambda content, time: Throttled("429", retry_after=7) if time == 1 else Answer(b'["ok"]'))
    _, clock = record(ledger, system, ["a"])
    assert ledger.counts()["fake"]["done"] == 1
    assert 7 <= clock.slept[0] <= 8


def test_without_a_retry_after_the_pauses_grow_and_jitter(ledger: Ledger) -> None:
    system = fake(lambda content, time: Throttled("503") if time <= 4 else Answer(b'["ok"]'))
    _, clock = record(ledger, system, ["a"])
    for attempt, pause in enumerate(clock.slept):
        assert 0.5 * 2**attempt <= pause <= 2**attempt
    assert len(clock.slept) == 4


def test_a_timeout_after_sending_is_unknown_and_not_asked_again(ledger: Ledger) -> None:
    system = fake(lambda content, time: OutcomeUnknown("reset"))
    record(ledger, system, ["a"])
    assert ledger.counts()["fake"]["unknown"] == 1
    assert system.log == ["a"]


def test_a_refusal_is_an_outcome_and_a_failure_keeps_its_words(ledger: Ledger) -> None:
    outcomes = {"a": Answer(b"filtered", refused=True), "b": CallFailed("HTTP 400: bad image", b"bad image")}
    record(ledger, fake(lambda content, time: outcomes[content]), ["a", "b"])
    counts = ledger.counts()["fake"]
    assert (counts["refused"], counts["failed"]) == (1, 1)
    assert ledger.errors() == [("fake", "HTTP 400: bad image", 1)]


def test_an_answer_that_cannot_be_read_is_not_done_and_its_words_are_kept(ledger: Ledger) -> None:
    said = {"a": Answer(b"<html>", cost=0.1), "b": Answer(b'["woman"]'), "c": Answer(b"[]")}
    told: list[tuple[str, str]] = []
    clock = Clock()
    system = fake(lambda content, time: said[content])
    questions = {content: Question(content, "text", content, content) for content in said}
    ledger.plan(Planned(key, "fake", "fake", "", {}, key, 0, "tagger") for key in questions)
    recorder = Recorder(ledger, lambda name, state, n, cost: told.append((name, state)), clock, clock.sleep)
    asyncio.run(recorder.record([(system, questions)]))
    assert ledger.states() == {"a": "unreadable", "b": "done", "c": "done"}  # no label is an answer
    assert {entry.key: entry.answer.raw for entry in ledger.entries() if entry.answer}["a"] == b"<html>"
    assert ledger.errors() == [("fake", "the answer is not JSON: b'<html>'", 1)]
    assert sorted(told) == [("fake", "done"), ("fake", "done"), ("fake", "unreadable")]
    asyncio.run(recorder.record([(system, questions)]))
    assert len(system.log) == 3  # it is not asked again by itself


def test_a_refusal_in_words_is_refused_with_its_words_as_reason(ledger: Ledger) -> None:
    words = "I'm sorry, but I can't describe people."
    system = fake(lambda content, time: Answer(json.dumps(words).encode()))
    system.kind = "captioner"
    record(ledger, system, ["a"])
    assert ledger.counts()["fake"]["refused"] == 1
    assert ledger.errors() == [("fake", words, 1)]
    assert [entry.answer.raw for entry in ledger.entries() if entry.answer] == [json.dumps(words).encode()]


def test_a_reader_that_breaks_loses_no_answer(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "reader", lambda name: lambda answer, kind, parameters: {}["tags"])
    record(ledger, fake(), ["a"])
    assert ledger.counts()["fake"]["unreadable"] == 1
    assert ledger.errors() == [("fake", "the reader 'plain' failed: KeyError 'tags'", 1)]


def test_a_spent_quota_stops_the_system_and_leaves_the_rest_planned(ledger: Ledger) -> None:
    def script(content: str, time: int) -> Answer | Exception:
        return QuotaSpent("HTTP 402") if content == "c" else Answer(b'["ok"]')

    recorder, _ = record(ledger, fake(script, concurrency=1), ["a", "b", "c", "d", "e"])
    counts = ledger.counts()["fake"]
    assert (counts["done"], counts["planned"], counts["failed"]) == (2, 3, 0)
    assert "quota is spent" in recorder.messages[0]


def test_a_service_that_is_down_is_not_asked_ten_thousand_times(ledger: Ledger) -> None:
    system = fake(lambda content, time: Throttled("503"), retries=2, concurrency=1)
    recorder, _ = record(ledger, system, [str(number) for number in range(50)])
    counts = ledger.counts()["fake"]
    assert (counts["failed"], counts["planned"]) == (3, 47)
    assert len(system.log) == 9
    assert "keeps throttling" in recorder.messages[0]


def test_concurrency_is_held(ledger: Ledger) -> None:
    system = fake(concurrency=3)
    record(ledger, system, [str(number) for number in range(30)])
    assert system.most_at_once == 3


def test_the_rate_is_held(ledger: Ledger) -> None:
    system = fake(per_second=2.0, concurrency=4)
    _, clock = record(ledger, system, [str(number) for number in range(9)])
    assert clock.now == pytest.approx(4.0)  # nine calls, half a second apart, the first at once


def test_one_bad_question_of_a_batch_does_not_spoil_the_others(ledger: Ledger) -> None:
    system = fake(lambda content, time: CallFailed("bad") if content == "b" else Answer(b'["ok"]'))
    system.batch = 3
    record(ledger, system, ["a", "b", "c"])
    counts = ledger.counts()["fake"]
    assert (counts["done"], counts["failed"]) == (2, 1)


def test_an_error_the_user_must_mend_stops_at_once_and_loses_nothing(ledger: Ledger) -> None:
    system = fake(lambda content, time: PortrayalError("no credential"), concurrency=1)
    with pytest.raises(PortrayalError, match="no credential"):
        record(ledger, system, ["a", "b"])
    assert ledger.counts()["fake"]["planned"] == 2


def test_an_exception_of_a_function_is_a_failure_with_its_name(ledger: Ledger) -> None:
    record(ledger, fake(lambda content, time: ZeroDivisionError("division by zero")), ["a"])
    assert ledger.errors() == [("fake", "ZeroDivisionError: division by zero", 1)]


def test_stopping_drains_what_is_in_flight(ledger: Ledger) -> None:
    stop: list[Recorder] = []

    def script(content: str, time: int) -> Answer:
        stop[0].stopping.set()
        return Answer(b'["ok"]')

    system = fake(script, concurrency=2)
    questions = {str(n): Question(str(n), "text", str(n), str(n)) for n in range(10)}
    ledger.plan(Planned(key, "fake", "fake", "", {}, key, 0) for key in questions)
    stop.append(Recorder(ledger))
    asyncio.run(stop[0].record([(system, questions)]))
    counts = ledger.counts()["fake"]
    assert counts["in_flight"] == 0
    assert 1 <= counts["done"] <= 2
    assert counts["planned"] == 10 - counts["done"]


def test_an_error_the_user_must_mend_lets_the_others_finish_what_is_in_flight(ledger: Ledger) -> None:
    """A paid call in flight must not be lost because another system lacks its credential."""

    @dataclass
    class Slow(Scripted):
        async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
            await asyncio.sleep(0.05)
            return [Answer(b'["paid"]')]

    broken = fake(lambda content, time: PortrayalError("no credential"))
    paid = Slow(name="paid", kind="tagger", identity="paid", limits=Limits(concurrency=1))
    work = [
        (system, {f"{system.name} {n}": Question(str(n), "text", str(n), str(n)) for n in range(3)})
        for system in (broken, paid)
    ]
    ledger.plan(Planned(key, s.name, "x", "", {}, key, 0) for s, questions in work for key in questions)
    with pytest.raises(PortrayalError, match="no credential"):
        asyncio.run(Recorder(ledger).record(work))
    assert ledger.counts()["paid"]["done"] == 1
    assert ledger.counts()["paid"]["planned"] == 2
    assert ledger.counts()["fake"]["planned"] == 3


def test_a_disk_that_is_full_for_one_answer_costs_no_other_in_flight(tmp_path: Path, monkeypatch) -> None:
    """The review lost 3 or 4 answers in flight; the one that could not be written is unknown, and no other."""

    @dataclass
    class Slow(Scripted):
        async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
            await asyncio.sleep(0.05 * int(questions[0].content))
            return [Answer(b'["paid"]')]

    real = Ledger.finish

    def finish_unless_full(self: Ledger, answers: Any, *more: Any) -> None:
        keys = [answers] if isinstance(answers, str) else [key for key, _ in answers]
        if "key 0" in keys:
            raise sqlite3.OperationalError("database or disk is full")
        real(self, answers, *more)

    monkeypatch.setattr(Ledger, "finish", finish_unless_full)
    system = Slow(name="paid", kind="tagger", identity="paid", limits=Limits(concurrency=4))
    questions = {f"key {n}": Question(str(n), "text", str(n), str(n)) for n in range(8)}
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.plan(Planned(key, "paid", "x", "", {}, key, 0) for key in questions)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            asyncio.run(Recorder(ledger).record([(system, questions)]))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.recover()
        states = {entry.key: entry.state for entry in ledger.entries()}
    assert [states[f"key {n}"] for n in range(8)] == ["unknown"] + ["done"] * 3 + ["planned"] * 4


@pytest.mark.parametrize("limits", [{}, {"per_second": 0.001}])
def test_stopping_does_not_sleep_out_a_long_pause(ledger: Ledger, limits: dict[str, Any]) -> None:
    """Told to come back in an hour, or paced to one call in a quarter of an hour, Ctrl-C still ends it now."""
    system = fake(lambda content, time: Throttled("429", retry_after=3600), concurrency=1, **limits)
    questions = {key: Question(key, "text", key, key) for key in "ab"}
    ledger.plan(Planned(key, "fake", "fake", "", {}, key, 0) for key in questions)
    recorder = Recorder(ledger)

    async def stop_soon() -> None:
        asyncio.get_running_loop().call_later(0.05, recorder.stopping.set)
        await asyncio.wait_for(recorder.record([(system, questions)]), 5)

    asyncio.run(stop_soon())
    assert system.log == ["a"]
    assert ledger.counts()["fake"]["planned"] == 2

"""Simulated worlds: nothing billed is lost, asked twice or put on another picture; and a recorder that does so is caught."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from faults.simulator.world import World, credentials, make_pictures
from faults.soak import soak, table
from portrayal.recorder import recorder
from portrayal.recorder.ledger import Ledger
from portrayal.recorder.recorder import Journal, _Entry
from portrayal.systems.core.base import OutcomeUnknown, Throttled
from portrayal.systems.plugins import command

SECONDS = 15.0  # of worlds in `make test`; `make soak` runs as many as one likes


def test_worlds_full_of_faults_lose_nothing_bill_nothing_twice_and_mix_nothing_up() -> None:
    injected, wrong, done = soak(range(400), SECONDS)
    assert wrong == []
    assert done >= 20
    assert len(injected) > 25  # kinds of faults
    assert f"| all | {injected.total():,} | 0 | 0 | 0 | 0 | 0 |" in table(injected, wrong)


def test_a_seed_replays(tmp_path: Path) -> None:
    with credentials():
        pictures = make_pictures(tmp_path)
        worlds = []
        for _ in range(2):
            (tmp_path / "ledger.sqlite").unlink(missing_ok=True)
            worlds.append(World(7, tmp_path, pictures))
            worlds[-1].run()
    assert worlds[0].bills == worlds[1].bills
    assert worlds[0].injected == worlds[1].injected


def first_wrong() -> set[str]:
    _, wrong, _ = soak(range(400), to_the_end=False)
    return {each.what for _, each in wrong}


def test_a_recorder_that_asks_again_what_may_have_been_answered_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = recorder._Asking._outcomes

    async def hasty(self, questions):
        return [Throttled(str(o)) if isinstance(o, OutcomeUnknown) else o for o in await outcomes(self, questions)]

    monkeypatch.setattr(recorder._Asking, "_outcomes", hasty)
    assert "double bill" in first_wrong()


def test_a_recorder_that_forgets_what_was_in_flight_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(ledger) -> int:
        with ledger._transaction() as connection:
            return connection.execute("UPDATE questions SET state = 'planned' WHERE state = 'in_flight'").rowcount

    monkeypatch.setattr(Ledger, "recover", forget)
    assert first_wrong() & {"double bill", "lost"}


def test_a_program_that_is_believed_whatever_it_says_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "reply_to", lambda name, line: command.decoded(line))
    assert "mixed up" in first_wrong()


def test_answers_that_are_told_of_before_they_are_on_disk_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    async def too_late(self, write, needless_when_cancelled=False):
        """Say that it is written; write it with the next group, if there is one."""
        self._waiting.append(_Entry(write, asyncio.get_running_loop().create_future(), False))
        if needless_when_cancelled:
            self.flush()

    monkeypatch.setattr(Journal, "write", too_late)
    assert "lost" in first_wrong()

"""Systems that answered nothing: one line each, with the reason and the command that asks again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from portrayal.record import outcomes
from portrayal.record.ledger import Ledger
from portrayal.runs.run import Run

AGAIN = ("failed", "unknown", "unreadable")  # states that are asked again only when somebody says so
LONGEST_REASON = 300


def unanswered(run: Run) -> dict[str, str]:
    """Return the systems of a run that neither answered nor refused any question, each with its line."""
    with Ledger.reading(run.ledger) as ledger:
        silent = {system: states for system, states in outcomes.counts(ledger).items() if _is_silent(states)}
        return {system: _line(run, ledger, system, states) for system, states in silent.items()}


def with_unanswered(messages: Sequence[str], lines: Mapping[str, str]) -> list[str]:
    """Return what is to be said: of a system that answered nothing its line alone."""
    others = [said for said in messages if not any(said.startswith(f"{system}: ") for system in lines)]
    return [*others, *lines.values()]


def asking_again(run: Run, states: Mapping[str, int]) -> str:
    """Return the command that asks what has no answer; nothing where every question has one."""
    again = [f"--again {state}" for state in AGAIN if states.get(state)]
    if not again and not states.get("planned"):
        return ""
    return " ".join(["portrayal record", shlex.quote(str(run.folder)), *again])


def _is_silent(states: Mapping[str, int]) -> bool:
    return sum(states.values()) > 0 and not states["done"] and not states["refused"]


def _line(run: Run, ledger: Ledger, system: str, states: Mapping[str, int]) -> str:
    counted = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states.items() if count)
    reason = " ".join((ledger.commonest_error(system) or "not asked").split())
    if len(reason) > LONGEST_REASON:
        reason = reason[: LONGEST_REASON - 3] + "..."
    return (
        f"{system}: no answer to any of {sum(states.values())} questions ({counted}): {reason}. "
        f"Mend it, then ask again: {asking_again(run, states)}"
    )

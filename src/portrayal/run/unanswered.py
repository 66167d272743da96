"""Systems that answered nothing: one line each, with the reason and the command that asks again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from portrayal.recorder import outcomes
from portrayal.recorder.ledger import Ledger
from portrayal.run.folder import Run, existing_run

AGAIN = ("failed", "unknown", "unreadable")  # states that are asked again only when somebody says so
LONGEST_REASON = 300


def unanswered(folder: Path | str) -> dict[str, str]:
    """Return the systems of a run that neither answered nor refused a single question.

    Parameters
    ----------
    folder
        The run.

    Returns
    -------
    dict
        For each such system a line: how many questions it left, the commonest reason, and the command that asks again.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, record, unanswered
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = record(example_study(), folder, quiet=True)
    ...     unanswered(folder)
    {}
    """
    run = existing_run(folder)
    with Ledger.reading(run.ledger) as ledger:
        silent = {system: states for system, states in outcomes.counts(ledger).items() if _is_silent(states)}
        return {system: _line(run, ledger, system, states) for system, states in silent.items()}


def left_open(run: Run) -> list[str]:
    """Return a line for each system that answered some questions and left others: how many, why, and how to ask again."""
    with Ledger.reading(run.ledger) as ledger:
        return [
            _open_line(run, ledger, system, states)
            for system, states in outcomes.counts(ledger).items()
            if not _is_silent(states) and asking_again(run, states)
        ]


def with_unanswered(messages: Sequence[str], lines: Mapping[str, str]) -> list[str]:
    """Return what is to be said: of a system that answered nothing its line alone."""
    others = [said for said in messages if not any(said.startswith(f"{system}: ") for system in lines)]
    return [*others, *lines.values()]


def asking_again(run: Run, states: Mapping[str, int]) -> str:
    """Return the command that asks what has no answer; nothing where every question has one."""
    mendable = ["--failed"] if states.get("failed") or states.get("unreadable") else []
    again = [*mendable, *(["--unknown"] if states.get("unknown") else [])]
    if not again and not states.get("planned"):
        return ""
    return " ".join(["portrayal", "retry", shlex.quote(str(run.folder)), *again])


def _is_silent(states: Mapping[str, int]) -> bool:
    return sum(states.values()) > 0 and not states["done"] and not states["refused"]


def _open_line(run: Run, ledger: Ledger, system: str, states: Mapping[str, int]) -> str:
    open_states = {state: count for state, count in states.items() if state not in ("done", "refused")}
    return (
        f"{system}: {sum(open_states.values())} of {sum(states.values())} questions have no answer"
        f" ({_counted(open_states)}): {_reason(ledger, system)}. Ask again: {asking_again(run, states)}"
    )


def _counted(states: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in states.items() if count)


def _reason(ledger: Ledger, system: str) -> str:
    reason = " ".join((ledger.commonest_error(system) or "not asked").split())
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."


def _line(run: Run, ledger: Ledger, system: str, states: Mapping[str, int]) -> str:
    return (
        f"{system}: no answer to any of {sum(states.values())} questions ({_counted(states)}): {_reason(ledger, system)}. "
        f"Mend it, then ask again: {asking_again(run, states)}"
    )

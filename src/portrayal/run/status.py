"""States of a run's questions, read without disturbing whoever records."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from portrayal.recorder import outcomes
from portrayal.recorder.ledger import STATES, Ledger
from portrayal.run.folder import Run, existing_run, redaction_of
from portrayal.run.lock import is_recording

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
        return {system: _silent_line(run, ledger, system, states) for system, states in silent.items()}


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


def _silent_line(run: Run, ledger: Ledger, system: str, states: Mapping[str, int]) -> str:
    return (
        f"{system}: no answer to any of {sum(states.values())} questions ({_counted(states)}): {_reason(ledger, system)}. "
        f"Mend it, then ask again: {asking_again(run, states)}"
    )


def states_table(run: Run) -> pl.DataFrame:
    """Return one row per system: its name and how many questions are in each state.

    A call that was in flight when its process died is unknown, whether or not a process has come since to say so.
    """
    recording = is_recording(run)
    with Ledger.reading(run.ledger) as ledger:
        counts = outcomes.counts(ledger)
    if not recording:
        for states in counts.values():
            states["unknown"] += states["in_flight"]
            states["in_flight"] = 0
    rows = [{"system": system, **states} for system, states in counts.items()]
    return pl.DataFrame(rows, schema={"system": pl.String, **dict.fromkeys(STATES, pl.Int64)})


def status_text(folder: Path | str) -> str:
    """Return how far a run is: how many questions are in each state, and the commonest reasons for missing answers.

    Parameters
    ----------
    folder
        The run; another process may be recording it.

    Returns
    -------
    str
        A table with a line for each system and one for all, and lines below it.

    Examples
    --------
    >>> import tempfile
    >>> from portrayal import example_study, record, status_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = record(example_study(), folder, quiet=True)
    ...     print(status_text(folder))  # doctest: +NORMALIZE_WHITESPACE
    system     planned  in_flight  done  refused  unreadable  failed  unknown  sum
    simulated        0          0    32        0           0       0        0   32
    all              0          0    32        0           0       0        0   32
    not recording
    """
    run = existing_run(folder)
    table = states_table(run)
    width = max([len("system"), *(len(name) for name in table["system"])])
    totals = {state: int(table[state].sum()) for state in STATES}
    lines = [_line("system", [*STATES, "sum"], width)]
    for row in [*table.iter_rows(named=True), {"system": "all", **totals}]:
        numbers = [row[state] for state in STATES]
        lines.append(_line(row["system"], [*map(str, numbers), str(sum(numbers))], width))
    recording = is_recording(run)
    lines.append("recording now" if recording else "not recording")
    said = redaction_of(run)
    lines += [f"redacted: {said}"] if said else []
    command = "" if recording or said else asking_again(run, totals)
    return "\n".join([*lines, *_reasons(run), *([f"ask again: {command}"] if command else [])])


def _line(name: str, cells: list[str], width: int) -> str:
    return name.ljust(width) + "".join(cell.rjust(11) for cell in cells)


def _reasons(run: Run) -> list[str]:
    with Ledger.reading(run.ledger) as ledger:
        return [f"{count} x {system}: {' '.join(reason.split())}" for system, reason, count in ledger.errors()]

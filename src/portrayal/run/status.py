"""States of a run's questions, read without disturbing whoever records."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from portrayal.recorder import responses
from portrayal.recorder.ledger import STATES, Ledger
from portrayal.run.folder import Run, existing_run, is_recording, redaction_of

AGAIN = ("failed", "unknown", "unreadable")  # states that are asked again only when somebody says so
LONGEST_REASON = 300


def unanswered(folder: Path | str) -> dict[str, str]:
    """Return the systems of a run that neither answered nor refused a single question.

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
    return {system: line for system, is_silent, line in _without_answers(existing_run(folder)) if is_silent}


def left_open(run: Run) -> list[str]:
    """Return a line for each system that answered some questions and left others open."""
    return [line for _, is_silent, line in _without_answers(run) if not is_silent]


def _without_answers(run: Run) -> Iterator[tuple[str, bool, str]]:
    """Yield systems that left questions open, whether all of them, and a line."""
    with Ledger.reading(run.ledger) as ledger:
        for system, states in responses.counts(ledger).items():
            left = {state: count for state, count in states.items() if state not in ("done", "refused")}
            some, total, again = sum(left.values()), sum(states.values()), asking_again(run, states)
            reason = " ".join((ledger.commonest_error(system) or "not asked").split())
            excerpt = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 3] + "..."
            counted = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in left.items() if count)
            if total and some == total:
                line = f"no answer to any of {total} questions ({counted}): {excerpt}. Mend it, then ask again: {again}"
            else:
                line = f"{some} of {total} questions have no answer ({counted}): {excerpt}. Ask again: {again}"
            if again or (total and some == total):
                yield system, some == total, f"{system}: {line}"


def asking_again(run: Run, states: Mapping[str, int]) -> str:
    """Return the command that asks what has no answer; nothing where every question has one."""
    mendable = ["--failed"] if states.get("failed") or states.get("unreadable") else []
    again = [*mendable, *(["--unknown"] if states.get("unknown") else [])]
    if not again and not states.get("planned"):
        return ""
    return " ".join(["portrayal", "retry", shlex.quote(str(run.folder)), *again])


def states_table(run: Run) -> pl.DataFrame:
    """Return one row per system: its name and how many questions are in each state."""
    recording = is_recording(run)
    with Ledger.reading(run.ledger) as ledger:
        counts = responses.counts(ledger)
    if not recording:  # what was in flight when its process died is unknown, though no process has come to say so
        for states in counts.values():
            states["unknown"] += states["in_flight"]
            states["in_flight"] = 0
    rows = [{"system": system, **states} for system, states in counts.items()]
    return pl.DataFrame(rows, schema={"system": pl.String, **dict.fromkeys(STATES, pl.Int64)})


def status_text(folder: Path | str) -> str:
    """Return the states of a run's questions and the commonest reasons for missing answers.

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
    counts = [[row["system"], *(row[state] for state in STATES)] for row in table.iter_rows(named=True)]
    rows = [["system", *STATES, "sum"], *([*row, sum(row[1:])] for row in [*counts, ["all", *totals.values()]])]
    lines = [name.ljust(width) + "".join(str(cell).rjust(11) for cell in cells) for name, *cells in rows]
    recording = is_recording(run)
    lines.append("recording now" if recording else "not recording")
    redaction = redaction_of(run)
    lines += [f"redacted: {redaction}"] if redaction else []
    with Ledger.reading(run.ledger) as ledger:
        lines += [f"{count} x {system}: {' '.join(reason.split())}" for system, reason, count in ledger.errors()]
    command = "" if recording or redaction else asking_again(run, totals)
    return "\n".join([*lines, *([f"ask again: {command}"] if command else [])])

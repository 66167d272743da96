"""How far a run is: the seven states of its questions, read without disturbing whoever records."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from portrayal.recorder import outcomes
from portrayal.recorder.ledger import STATES, Ledger
from portrayal.run.folder import Run, existing_run
from portrayal.run.lock import is_recording
from portrayal.run.redacted import redaction_of
from portrayal.run.unanswered import asking_again


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

"""Progress bar of a recording: counts, time left and money, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from portrayal.edges.inert import inert_line
from portrayal.edges.secrets import hidden

STATES_SHOWN = ("done", "refused", "unreadable", "failed", "unknown")


def dollars_text(dollars: float) -> str:
    """Return an amount in cents, with two digits where it is below one.

    Examples
    --------
    >>> dollars_text(12.3), dollars_text(0.0), dollars_text(0.0042)
    ('12.30', '0.00', '0.0042')
    """
    return f"{dollars:.2f}" if dollars == 0 or dollars >= 0.01 else f"{dollars:.2g}"


class RecordingProgress:
    """A bar per system. Its `listen` is handed to the recorder."""

    def __init__(self, open_questions: Mapping[str, int], quiet: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._counts = {system: dict.fromkeys(STATES_SHOWN, 0) for system in open_questions}
        self._dollars = dict.fromkeys(open_questions, 0.0)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),  # names are the user's, not markup
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}", markup=False),
            console=Console(file=sys.stderr),
            disable=quiet,
        )
        self._tasks = {
            system: self._progress.add_task(inert_line(system), total=count, detail="")
            for system, count in open_questions.items()
        }

    def __enter__(self) -> RecordingProgress:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def listen(self, system: str, state: str, count: int, dollars: float) -> None:
        """Take note of questions that came to an end."""
        counts = self._counts[system]
        counts[state] = counts.get(state, 0) + count
        self._dollars[system] += dollars
        parts = [f"{count} {state}" for state, count in counts.items() if count and state != "done"]
        if self._dollars[system]:
            parts.append(f"${dollars_text(self._dollars[system])}")
        self._progress.update(self._tasks[system], advance=count, detail=", ".join(parts))

    def tell(self, line: str) -> None:
        """Print a line above the bars; without bars, a plain line."""
        line = inert_line(hidden(line))
        if self._progress.disable:
            sys.stderr.write(f"{line}\n")
        else:
            self._progress.console.print(line, markup=False, highlight=False)

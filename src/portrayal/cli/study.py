"""Commands that take a study: from the demonstration to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import (
    Again,
    Quiet,
    RunFolder,
    StudyFile,
    Untrusted,
    answer,
    app,
    exit_if_unanswered,
    resumable,
    say,
)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the report and the runs go.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Run every audit on what ships with the package and write one report."""
    with resumable():
        answer(portrayal.run_demo(out, quiet))


@app.command()
def audit(
    study: StudyFile,
    out: Annotated[Path | None, typer.Option(help="The run folder; runs/NAME by default.")] = None,
    again: Again = None,
    untrusted: Untrusted = False,
    quiet: Quiet = False,
) -> None:
    """Record, measure and report a study; goes on where an earlier try stopped."""
    with resumable():
        page = portrayal.audit(study, out, quiet, say, again or (), untrusted)
        answer(page)
        exit_if_unanswered(page.parent)


@app.command()
def plan(study: StudyFile, untrusted: Untrusted = False) -> None:
    """Print the calls, their cost and the effects the study could find; calls nothing."""
    answer(portrayal.plan_text(study, untrusted))


@app.command()
def record(run: RunFolder, again: Again = None, untrusted: Untrusted = False, quiet: Quiet = False) -> None:
    """Ask what a run has not asked yet."""
    with resumable():
        recorded = portrayal.record_again(run, quiet, again or (), say, untrusted)
        say(recorded.messages)
        answer(portrayal.status_text(run))
        if recorded.interrupted:
            raise KeyboardInterrupt(recorded.signal)
        exit_if_unanswered(run)

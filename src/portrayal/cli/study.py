"""Commands that take a study: from the demonstration to the report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import (
    UNANSWERED,
    Again,
    Engine,
    Quiet,
    RunFolder,
    StudyFile,
    Untrusted,
    Workers,
    answer,
    app,
    exit_if_unanswered,
    finish,
    resumable,
    say,
)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the report and the runs go.")] = Path("demo"), quiet: Quiet = False
) -> None:
    """Run every audit on what ships with the package and write one report."""
    with resumable():
        answer(portrayal.run_demo(out, quiet, processes=os.cpu_count() or 1))


@app.command()
def audit(
    study: StudyFile,
    out: Annotated[Path | None, typer.Option(help="The run folder; runs/NAME by default.")] = None,
    again: Again = None,
    untrusted: Untrusted = False,
    quiet: Quiet = False,
    engine: Engine = None,
    workers: Workers = None,
) -> None:
    """Record, measure and report a study; goes on where an earlier try stopped."""
    with resumable():
        finish(portrayal.audit(study, out, quiet, say, again or (), untrusted, None, engine, workers))


@app.command(name="try")
def try_(
    study: StudyFile,
    questions: Annotated[int, typer.Option(min=1, help="How many are asked of each system.")] = 3,
    untrusted: Untrusted = False,
) -> None:
    """Ask three questions of each system and show how the answers are read; keeps nothing."""
    tried = portrayal.try_study(study, questions, untrusted, say=say)
    answer(portrayal.tried_text(tried))
    usable = {one.system for one in tried if one.status in ("answered", "empty", "refused")}
    if {one.system for one in tried} - usable:
        raise typer.Exit(UNANSWERED)


@app.command()
def new(
    stem: Annotated[str, typer.Argument(help="An audit; `portrayal list audits` prints them.", metavar="AUDIT")],
    out: Annotated[Path | None, typer.Option(help="The folder; one of the audit's name by default.")] = None,
) -> None:
    """Write a commented study and a stub of the system it asks."""
    path = portrayal.new_study(stem, out)
    say([f"wrote {path} and {path.with_name('system.py')}; change them, then: portrayal try {path}"])
    answer(path)


@app.command()
def export(
    study: StudyFile, out: Annotated[Path, typer.Option(help="A new or empty folder.")], untrusted: Untrusted = False
) -> None:
    """Write the study's pictures, prompts and queries with ids, for others to record; calls nothing."""
    answer(portrayal.export_stimuli(study, out, untrusted))


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


@app.command()
def retry(
    run: RunFolder,
    failed: Annotated[bool, typer.Option("--failed", help="Ask again what failed or could not be read.")] = False,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Ask again what went out and never came back; it may be billed twice.")
    ] = False,
    untrusted: Untrusted = False,
    quiet: Quiet = False,
) -> None:
    """Ask again what failed, unless told otherwise, then measure and report the run."""
    states = [*(["failed", "unreadable"] if failed or not unknown else []), *(["unknown"] if unknown else [])]
    with resumable():
        finish(portrayal.retry(run, states, quiet, say, untrusted))

"""Commands that take a study or a run, from the demonstration to the handover."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import (
    GATE_BROKEN,
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


DIFFERS = 3  # the exit code where what was handed over is not what it says it is


@app.command()
def measure(run: RunFolder, engine: Engine = None, workers: Workers = None) -> None:
    """Measure the recorded answers again; calls no system."""
    with resumable():
        portrayal.measure(run, engine, workers)
    answer(run / "results.parquet")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="One or several measured runs.", metavar="RUN...")],
    out: Annotated[
        Path | None, typer.Option(help="The report's folder; the run's own by default, needed for several.")
    ] = None,
    title: Annotated[str, typer.Option(help="The report's title.")] = "",
) -> None:
    """Write the report of one or several runs."""
    answer(portrayal.report(list(runs), out, title))


@app.command()
def diff(
    runs: Annotated[
        list[Path], typer.Argument(help="Two or more waves of one study, the earliest first.", metavar="RUN...")
    ],
    out: Annotated[Path, typer.Option(help="Where diff.html and diff.json go.")] = Path("diff"),
) -> None:
    """Compare waves of one study: changed answers, measures moved beyond noise, new words."""
    outcome = portrayal.diff(list(runs), out)
    answer("\n".join([*outcome.lines(), str(outcome.page)]))


@app.command()
def view(
    runs: Annotated[list[Path], typer.Argument(help="One or several measured runs.", metavar="RUN...")],
    reviewer: Annotated[
        list[str] | None,
        typer.Option(help="Somebody who judges, by name; gets a link that works once. May be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; a free one by default.")] = 0,
    known_as: Annotated[str, typer.Option(help="The name browsers reach it by, where that is not the address.")] = "",
) -> None:
    """Show the answers behind the figures in a browser, and let people judge them."""
    portrayal.view(list(runs), reviewer or (), host, port, known_as, say)


@app.command()
def gate(
    run: RunFolder,
    rules: Annotated[Path, typer.Option(help="A TOML file of rules, see docs/gate.md.", metavar="GATE.toml")],
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit's XML too.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="An earlier run, for rules with drift = true.", metavar="RUN")
    ] = None,
) -> None:
    """Hold a run against rules: a line each, exit code 3 where one is broken."""
    verdicts = portrayal.gate(run, rules, junit, against)
    for verdict in verdicts:
        answer(verdict.line())
    if not all(verdict.holds for verdict in verdicts):
        raise typer.Exit(GATE_BROKEN)


@app.command()
def status(run: RunFolder) -> None:
    """Print what is planned, in flight, done, failed, refused and unknown; changes nothing."""
    answer(portrayal.status_text(run))


@app.command()
def pack(run: RunFolder, out: Annotated[Path, typer.Option(help="The file to write.", metavar="FILE.zip")]) -> None:
    """Write a run into one file others can check, without pictures of real people."""
    answer("\n".join(portrayal.pack(run, out)))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A file that `portrayal pack` wrote.", metavar="FILE.zip")],
) -> None:
    """Check a pack: file hashes, results measured again; exit code 3 where something differs."""
    outcome = portrayal.verify(file)
    answer("\n".join(outcome.lines()))
    if not outcome.holds:
        raise typer.Exit(DIFFERS)


@app.command()
def redact(
    run: RunFolder, out: Annotated[Path, typer.Option(help="A new folder for the redacted run.", metavar="NEW")]
) -> None:
    """Write a run without pictures and free text into a new folder."""
    answer(portrayal.redact(run, out))

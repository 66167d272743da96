"""Commands that take a run: measure, report, gate, and hand over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import GATE_BROKEN, Engine, RunFolder, Workers, answer, app, resumable, say

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

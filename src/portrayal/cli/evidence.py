"""Commands for handing a run over: pack, verify, redact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import RunFolder, answer, app

DIFFERS = 3  # the exit code where what was handed over is not what it says it is


@app.command()
def pack(run: RunFolder, out: Annotated[Path, typer.Option(help="The file to write.", metavar="FILE.zip")]) -> None:
    """Write a measured run into one file that others can check; pictures of real people stay out."""
    answer("\n".join(portrayal.pack(run, out)))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A file that `portrayal pack` wrote.", metavar="FILE.zip")],
) -> None:
    """Check a pack: every file against its hash, every result measured again; exit code 3 where something differs."""
    found = portrayal.verify(file)
    answer("\n".join(found.lines()))
    if not found.holds:
        raise typer.Exit(DIFFERS)


@app.command()
def redact(
    run: RunFolder, out: Annotated[Path, typer.Option(help="A new folder for the redacted run.", metavar="NEW")]
) -> None:
    """Write a run without its pictures and free text into a new folder; results and hashes stay."""
    answer(portrayal.redact(run, out))

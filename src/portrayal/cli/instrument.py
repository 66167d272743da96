"""Commands about the instruments themselves: calibration, and what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import Engine, Workers, answer, app
from portrayal.edges.console import keep_json


@app.command()
def calibrate(
    stem: Annotated[str, typer.Argument(help="The audit whose instrument is tried.", metavar="STEM")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Simulated audits per condition.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed; published figures use 0.")] = 0,
    engine: Engine = None,
    workers: Workers = None,
) -> None:
    """Run an instrument against phantoms: false alarms, power, coverage."""
    import json

    figures = portrayal.calibrate(stem, runs, seed, engine, workers).to_dict()
    answer(keep_json(figures, json_file) if json_file else json.dumps(figures, indent=1))


@app.command(name="list")
def list_(
    what: Annotated[str, typer.Argument(help="systems, audits, lexicons or datasets.", metavar="WHAT")],
    about: Annotated[bool, typer.Option("--about", help="Say what each one is.")] = False,
) -> None:
    """Print the names of what there is, one a line."""
    answer("\n".join(portrayal.names(what, about)))

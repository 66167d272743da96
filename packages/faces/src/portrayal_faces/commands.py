"""The commands `portrayal faces ...`, which `portrayal` finds by entry point."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import portrayal
from portrayal.cli.app import Commands, Engine, Quiet, Workers, answer, resumable

faces = typer.Typer(cls=Commands, help="Counterfactual faces.", no_args_is_help=True)


@faces.command()
def apply(
    table: Annotated[
        Path, typer.Argument(help="A CSV with file, source and consent for each picture.", metavar="PICTURES.csv")
    ],
    out: Annotated[Path, typer.Option(help="Where the series go: empty, or of earlier series.")] = Path("local/series"),
    attribute: Annotated[list[str] | None, typer.Option(help="gender or race; both when left out.")] = None,
    poles: Annotated[str, typer.Option(help="The two poles of race.")] = "White,Black",
    model: Annotated[Path | None, typer.Option(help="Another model than the one that ships.")] = None,
    size: Annotated[int, typer.Option(min=128, help="Longer side of the pictures.")] = 512,
) -> None:
    """Make series of counterfactual faces; refuses whoever is no adult or has no recorded consent."""
    varied = attribute or ["gender", "race"]
    between = [pole.strip() for pole in poles.split(",")]
    answer(portrayal.make_face_series(table, out, varied, between, model, size))


@faces.command(name="list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line for every picture.")] = False,
) -> None:
    """List the pictures of the set of generated faces that ships."""
    answer(portrayal.list_faces(as_json))


@faces.command()
def check(
    folder: Annotated[
        str, typer.Argument(help="A folder of series; the set that ships when left out.", metavar="FOLDER")
    ] = "shipped",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line for every check.")] = False,
    people: Annotated[
        int | None, typer.Option(min=2, help="Look at so many people only, the first of each series.")
    ] = None,
    others: Annotated[
        str | None, typer.Option(help="A folder of further people, among whose centres a face must be told too.")
    ] = None,
) -> None:
    """Let independent judges look at series: what is needed, what was found, passed or missed."""
    answer(portrayal.check_faces(folder, as_json, people, others))


@faces.command()
def generate(
    people: Annotated[int, typer.Option(help="How many people.")] = 12,
    attributes: Annotated[str, typer.Option(help="gender, race or both.")] = "gender,race",
    size: Annotated[int, typer.Option(help="Pixels of a side: 256, 512 or 1024.")] = 1024,
    seed: Annotated[int, typer.Option(help="Another seed, other people.")] = 0,
    out: Annotated[Path, typer.Option(help="Where they go: new, empty, or begun before.")] = Path("local/faces"),
    kind: Annotated[str, typer.Option(help="'face only', or 'whole': hair, clothes and place follow.")] = "face only",
    quiet: Quiet = False,
    engine: Engine = None,
    workers: Workers = None,
) -> None:
    """Make series of adults who do not exist; an interrupted run continues."""
    varied = [word.strip() for word in attributes.split(",") if word.strip()]
    with resumable():
        answer(portrayal.generate_faces(people, varied, size, seed, out, quiet, engine, workers, kind))


@faces.command()
def scenes(
    series: Annotated[
        str, typer.Argument(help="A folder of series; the set that ships when left out.", metavar="FOLDER")
    ] = "shipped",
    places: Annotated[
        str, typer.Option(help="Pictures of work places, nobody in them; drawings that ship when left out.")
    ] = "drawn",
    out: Annotated[Path, typer.Option(help="Where the scenes go: a new or empty folder.")] = Path("local/scenes"),
    size: Annotated[int, typer.Option(help="Height in pixels; scenes are half as wide again.")] = 512,
    people: Annotated[int | None, typer.Option(help="At most so many people.")] = None,
    quiet: Quiet = False,
) -> None:
    """Put series into work places as head and shoulders, so that only the face changes."""
    answer(portrayal.compose_scenes(series, places, out, size, people, quiet))


@faces.command()
def shares(
    where: Annotated[
        Path,
        typer.Argument(
            help="A CSV with occupation and group; or a folder of pictures for each occupation, or a CSV with file and occupation.",
            metavar="PICTURES",
        ),
    ],
    labelled: Annotated[
        Path | None, typer.Option(help="A CSV with file and group of labelled pictures: how often the reader errs.")
    ] = None,
) -> None:
    """Count who is shown for each occupation in your own pictures, as CSV."""
    answer(portrayal.occupation_shares(where, labelled).write_csv().rstrip())

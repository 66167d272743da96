"""`portrayal faces`: prepare, train, evaluate and apply the manipulator of faces. No command changes a person's age."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Counterfactual faces: train the manipulator, or apply it.", no_args_is_help=True)

Packed = Annotated[
    Path, typer.Argument(help="Packed faces, as `portrayal faces prepare` makes them.", metavar="FACES.npz")
]


@app.command()
def prepare(
    folder: Annotated[
        Path, typer.Argument(help="A folder in FairFace's or CelebA's layout.", metavar="FOLDER")
    ],
    out: Annotated[Path, typer.Option(help="The packed file; keep it in an ignored folder.")] = Path(
        "local/faces.npz"
    ),
    layout: Annotated[str, typer.Option(help="fairface or celeba.")] = "fairface",
    seed: Annotated[int, typer.Option(help="Of the held-out part.")] = 0,
) -> None:
    """Align the adult, frontal faces of a data set and pack them for training."""
    import json

    from portrayal.stimuli.faces.preparing import prepare_folder

    typer.echo(json.dumps(prepare_folder(folder, out, layout, seed)))


@app.command()
def train(
    packed: Packed,
    out: Annotated[Path, typer.Option(help="Checkpoint, curves, contact sheet and model.")] = Path(
        "local/training"
    ),
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps in all; the plan's own when left out.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1, help="Stop and save after this long; the next run resumes.")
    ] = 480.0,
    batch: Annotated[int | None, typer.Option(min=2, help="Faces a step.")] = None,
    seed: Annotated[int, typer.Option(help="Of the weights and the draws.")] = 0,
    controls: Annotated[bool, typer.Option(help="--no-controls: a plain Fader network, an ablation.")] = True,
) -> None:
    """Train the manipulator; goes on where an earlier run stopped, and writes the model when it ends."""
    from portrayal.stimuli.faces.preparing import train_and_export

    chosen = {"seconds": seconds, "seed": seed, "controls": controls}
    chosen |= {name: value for name, value in (("steps", steps), ("batch", batch)) if value is not None}
    typer.echo(train_and_export(packed, out, chosen))


@app.command()
def evaluate(
    packed: Packed,
    weights: Annotated[Path, typer.Argument(help="weights.pt of a training run.", metavar="WEIGHTS")],
    folder: Annotated[
        Path,
        typer.Argument(help="The data set's folder: held-out pictures are read in place.", metavar="FOLDER"),
    ],
    model: Annotated[Path, typer.Option(help="The exported model; its page gets the figures.")] = Path(
        "local/training/model"
    ),
    layout: Annotated[str, typer.Option(help="fairface or celeba.")] = "fairface",
    faces: Annotated[int, typer.Option(min=2, help="Held-out faces looked at.")] = 300,
    masked: Annotated[bool, typer.Option(help="--no-masked: change the whole oval, an ablation.")] = True,
    sheet: Annotated[
        Path | None, typer.Option(help="A contact sheet; shows the data set's people, so keep it ignored.")
    ] = None,
) -> None:
    """Check the model on held-out faces with readers that had no part in training, and probe its latent code."""
    from portrayal.stimuli.faces.evaluation import evaluate as run

    typer.echo(run(packed, weights, folder, model, layout, faces, masked, sheet))


@app.command()
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
    from portrayal.stimuli.faces.preparing import apply_table

    typer.echo(apply_table(table, out, attribute or ["gender", "race"], poles.split(","), model, size))

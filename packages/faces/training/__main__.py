"""`python -m training`: prepare, train, draw and evaluate the manipulator of faces. No command changes a person's age."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from portrayal.errors import PortrayalError

app = typer.Typer(
    help="Make the model that changes faces.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Packed = Annotated[
    Path, typer.Argument(help="Packed faces, as `python -m training prepare` makes them.", metavar="FACES.npz")
]


@app.command()
def prepare(
    folder: Annotated[Path, typer.Argument(help="A folder in FairFace's or CelebA's layout.", metavar="FOLDER")],
    out: Annotated[Path, typer.Option(help="The packed file; keep it in an ignored folder.")] = Path("local/faces.npz"),
    layout: Annotated[str, typer.Option(help="fairface or celeba.")] = "fairface",
    seed: Annotated[int, typer.Option(help="Of the held-out part.")] = 0,
) -> None:
    """Align the adult, frontal faces of a data set and pack them for training."""
    import json

    from training.jobs import prepare_folder

    typer.echo(json.dumps(prepare_folder(folder, out, layout, seed)))


@app.command()
def train(
    packed: Packed,
    out: Annotated[Path, typer.Option(help="Checkpoint, curves, contact sheet and model.")] = Path("local/training"),
    steps: Annotated[int | None, typer.Option(min=1, help="Steps in all; the plan's own when left out.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Stop and save after this long; the next run resumes.")] = 480.0,
    batch: Annotated[int | None, typer.Option(min=2, help="Faces a step.")] = None,
    seed: Annotated[int, typer.Option(help="Of the weights and the draws.")] = 0,
    controls: Annotated[bool, typer.Option(help="--no-controls: a plain Fader network, an ablation.")] = True,
    choosing: Annotated[
        bool, typer.Option("--choosing", help="Leave out the faces kept for choosing settings.")
    ] = False,
) -> None:
    """Train the manipulator; goes on where an earlier run stopped, and writes the model when it ends."""
    from training.jobs import train_and_export

    chosen: dict[str, Any] = {"seed": seed, "controls": controls, "choosing": choosing}
    chosen |= {name: value for name, value in (("steps", steps), ("batch", batch)) if value is not None}
    typer.echo(train_and_export(packed, out, seconds, chosen))


@app.command()
def draw(
    out: Annotated[Path, typer.Option(help="The packed file.")] = Path("local/drawn.npz"),
    people: Annotated[int, typer.Option(min=12, help="How many people are drawn.")] = 2400,
    seed: Annotated[int, typer.Option(help="Of the people.")] = 0,
) -> None:
    """Draw and pack faces whose true counterfactual is known, for a training on them."""
    from training.render import pack_rendered

    out.parent.mkdir(parents=True, exist_ok=True)
    pack_rendered(out, people, seed=seed)
    typer.echo(f"{people} drawn people in {out}")


@app.command()
def evaluate(
    packed: Packed,
    folder: Annotated[
        Path, typer.Argument(help="The data set's folder: held-out pictures are read in place.", metavar="FOLDER")
    ],
    training: Annotated[Path, typer.Option(help="The training's folder: weights.pt and model/.")] = Path(
        "local/training"
    ),
    layout: Annotated[str, typer.Option(help="fairface or celeba.")] = "fairface",
    faces: Annotated[int, typer.Option(min=2, help="Held-out faces looked at, at most.")] = 1000,
    part: Annotated[str, typer.Option(help="held; or choose, while settings are being chosen.")] = "held",
    masked: Annotated[bool, typer.Option(help="--no-masked: change the whole oval, an ablation.")] = True,
    ablation: Annotated[
        str | None, typer.Option(help="Name this condition and show it in another model's card.")
    ] = None,
    shown_in: Annotated[Path, typer.Option(help="With --ablation: the training whose card shows it.")] = Path(
        "local/training"
    ),
    sheet: Annotated[
        Path | None, typer.Option(help="A contact sheet; shows the data set's people, so keep it ignored.")
    ] = None,
) -> None:
    """Check the model on held-out faces with readers that had no part in training, and write its card."""
    from training.jobs import evaluate_training

    options = {"layout": layout, "faces": faces, "part": part, "masked": masked, "sheet": sheet}
    typer.echo(evaluate_training(packed, folder, training, options, ablation, shown_in))


@app.command()
def psnr(
    training: Annotated[Path, typer.Option(help="The training whose model is held against the truth.")] = Path(
        "local/drawn"
    ),
    name: Annotated[str, typer.Option(help="What the card calls it.")] = "the same network trained on drawn faces",
    shown_in: Annotated[Path, typer.Option(help="The training whose card shows it.")] = Path("local/training"),
) -> None:
    """Hold a model against drawn people, whose true counterfactual is known."""
    from training.jobs import compare_drawn

    typer.echo(compare_drawn(training, name, shown_in))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; what a user can mend is one line on stderr and exit code 2."""
    try:
        app(arguments)
    except PortrayalError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()

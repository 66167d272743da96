"""What the commands of `portrayal faces` do, as functions: prepare a data set, train and export, apply to a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from portrayal.errors import MissingExtra, PortrayalError, nearest
from portrayal.stimuli.faces.attributes import steps


def prepare_folder(folder: Path, out: Path, layout: str = "fairface", seed: int = 0) -> dict[str, int]:
    """Pack a data set's adult, frontal faces; returns how many were kept and dropped, by reason."""
    from portrayal.stimuli.faces.generated import portraits
    from portrayal.stimuli.faces.loaders import LOADERS
    from portrayal.stimuli.faces.prepare import prepare

    if layout not in LOADERS:
        raise PortrayalError(f"no layout {layout!r}.{nearest(layout, LOADERS)} Known: {', '.join(LOADERS)}.")
    out.parent.mkdir(parents=True, exist_ok=True)
    about = {"source": f"{layout} layout, adults only"}
    return prepare(LOADERS[layout](folder), out, list(portraits()), seed=seed, about=about)


def train_and_export(packed: Path, out: Path, chosen: dict[str, Any]) -> str:
    """Train or go on, write the contact sheet and the ONNX model, and say how fast it went."""
    try:
        from portrayal.stimuli.faces.export import export
        from portrayal.stimuli.faces.training import Plan, train
    except ImportError:
        raise MissingExtra("training the manipulator", "torch") from None
    from portrayal.stimuli.faces.sheet import contact_sheet

    figures = train(packed, out, Plan(**chosen))
    sizes = export(out / "weights.pt", out / "model")
    contact_sheet(packed, out / "weights.pt", out / "samples.png")
    (out / "figures.json").write_text(json.dumps({**figures, "model_bytes": sizes}, indent=1) + "\n")
    return (
        f"{figures['steps']} steps; {figures['images_per_second']:.0f} images a second, {figures['tflops']:.0f} TFLOP/s "
        f"({figures['peak_share']:.1%} of {figures['peak_tflops']:.0f} TFLOP/s); model in {out / 'model'}"
    )


def apply_table(
    table: Path,
    out: Path,
    attributes: Sequence[str],
    poles: Sequence[str],
    model: Path | None = None,
    size: int = 512,
) -> str:
    """Make the series of a table of pictures; returns where they are and what was left out."""
    import polars as pl

    from portrayal.stimuli.faces.build import LEFT_OUT, MANIFEST, Recipe, build
    from portrayal.stimuli.faces.model import open_manipulator
    from portrayal.stimuli.faces.sources import read_pictures

    for attribute in attributes:
        steps(attribute)  # refuses what cannot be varied
    recipe = Recipe(tuple(attributes), tuple(poles), placebo=False, size=size)
    folder = build(
        read_pictures(table), open_manipulator(str(model) if model else None), recipe, out.absolute()
    )
    made, left = pl.read_parquet(folder / MANIFEST), pl.read_parquet(folder / LEFT_OUT)
    reasons = left.group_by("reason").len().sort("reason").iter_rows()
    lines = [
        f"{made.height} pictures in {folder}",
        *(f"{number} picture(s): {reason}" for reason, number in reasons),
    ]
    return "\n".join(lines)

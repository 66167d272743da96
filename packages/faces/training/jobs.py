"""What `python -m training prepare`, `train` and `evaluate` do, as functions from paths to what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from portrayal.errors import MissingExtra, PortrayalError, nearest

SOURCES = {
    "fairface": "FairFace (Karkkainen, Joo 2021, CC BY 4.0; labels are annotators' perceptions)",
    "celeba": "a data set in CelebA's layout (labels are annotators' perceptions)",
}


def prepare_folder(folder: Path, out: Path, layout: str = "fairface", seed: int = 0) -> dict[str, int]:
    """Pack a data set's adult, frontal faces; returns how many were kept and dropped, by reason."""
    from training.loaders import LOADERS, portraits
    from training.prepare import prepare

    if layout not in LOADERS:
        raise PortrayalError(f"no layout {layout!r}.{nearest(layout, LOADERS)} Known: {', '.join(LOADERS)}.")
    out.parent.mkdir(parents=True, exist_ok=True)
    about = {"source": SOURCES[layout]}
    return prepare(LOADERS[layout](folder), out, list(portraits()), seed=seed, about=about)


def train_and_export(packed: Path, out: Path, seconds: float, chosen: dict[str, Any]) -> str:
    """Train or go on, write the contact sheet, the ONNX model and its card, and say how fast it went."""
    try:
        import onnx  # noqa: F401 - missing, it should be said before an hour of training, not after

        from training.export import export
        from training.runs import train
        from training.trainer import Plan
    except ImportError:
        raise MissingExtra("training the manipulator", "torch") from None
    from training.card import write_card

    figures = train(packed, out, Plan(**chosen), seconds)
    export(out / "weights.pt", out / "model", figures)
    write_card(out / "model")
    left = figures["of_steps"] - figures["steps"]
    return (
        f"{figures['steps']} of {figures['of_steps']} steps; {figures['images_per_second']:.0f} images a second, "
        f"{figures['tflops']:.0f} TFLOP/s ({figures['peak_share']:.1%} of an H200's {figures['peak_tflops']:.0f}); model in {out / 'model'}"
        + (f"\n{left} steps are left: the same command goes on." if left else "")
    )


def evaluate_training(
    packed: Path, folder: Path, training: Path, options: dict[str, Any], ablation: str | None, shown_in: Path
) -> str:
    """Check a training's model, or an ablation of it; returns the checks as text and says where the card is."""
    if not (training / "weights.pt").exists():
        raise PortrayalError(f"no weights.pt in {training}. Expected the --out of python -m training train.")
    if options["layout"] not in SOURCES or options["part"] not in ("held", "choose"):
        raise PortrayalError(
            f"expected layout fairface or celeba and part held or choose; got {options['layout']} and {options['part']}."
        )
    from training.evaluation import HeldOut, ablate, evaluate

    weights, model = training / "weights.pt", training / "model"
    if ablation:
        held = HeldOut(packed, folder, attributes=("gender",), **options)
        found = ablate(held, weights, model, ablation, shown_in / "model")
    else:
        found = evaluate(HeldOut(packed, folder, **options), weights, model)
    card = (shown_in if ablation else training) / "model" / "CARD.md"
    return f"{json.dumps(found['rows'], indent=1)}\n{found['left_out']}\ncard: {card}"


def compare_drawn(training: Path, name: str, shown_in: Path) -> str:
    """Hold a training's model against drawn people and show it, by name, in a card."""
    from training.drawn import drawn_psnr
    from training.evaluation import keep_page, page
    from training.manipulator import open_manipulator

    found = drawn_psnr(open_manipulator(str(training / "model")))
    about = page(shown_in / "model")
    keep_page(shown_in / "model", {**about, "drawn": {**about.get("drawn", {}), name: found}})
    return f"{json.dumps(found, indent=1)}\ncard: {shown_in / 'model' / 'CARD.md'}"

"""Training the manipulator in runs: each goes on from the last checkpoint, logs its curves and draws early samples.

A run has a fixed seed and stops by the clock; the contact sheets show generated people only.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from portrayal.errors import PortrayalError
from training.batches import Faces, read_packed
from training.sheet import save_sheet
from training.trainer import Plan, Trainer

# TFLOP/s in dense bf16 by the data sheets; on another device the share is of an H200's, and the words say so.
PEAK = 989.0
SAVE = 60.0  # seconds between checkpoints, so that a killed run loses little


def train(
    packed: Path, out: Path, plan: Plan, seconds: float = 480.0, every: int = 400, device: str | None = None
) -> dict[str, Any]:
    """Train, or go on training, until the plan's steps or this run's seconds are used up.

    Returns
    -------
    dict
        Figures of the whole training so far: faces, steps, seconds, images a second, share of the device's peak.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, 3
    parts, about = read_packed(packed)
    faces = parts["train"] if plan.choosing else parts["train"] + parts["choose"]
    if len(faces) < 2:
        raise PortrayalError(f"{packed} has {len(faces)} faces to train on; at least 2 are needed.")
    trainer = Trainer(plan, faces, device)
    out.mkdir(parents=True, exist_ok=True)
    _resume(trainer, out / "checkpoint.pt")
    run = _run(trainer, parts["samples"], out, seconds, every)
    torch.save(trainer.weights(), out / "weights.pt")
    told = {"train": len(faces), "held": len(parts["held"]), "choose": len(parts["choose"]), "seed": plan.seed}
    told |= {
        "source": about.get("source", "unknown"),
        "split_seed": about["seed"],
        "batch": plan.batch,
        "steps": trainer.step,
        "of_steps": plan.steps,
    }
    return _figures(out / "figures.json", told, run)


def _resume(trainer: Trainer, checkpoint: Path) -> None:
    """Go on from a checkpoint, if there is one, made with the same plan."""
    if not checkpoint.exists():
        return
    state = torch.load(checkpoint, map_location=trainer.device, weights_only=True)
    now, then = asdict(trainer.plan), state["plan"]
    differing = [name for name in now if now[name] != then.get(name)]
    if differing:
        name = differing[0]
        raise PortrayalError(
            f"the checkpoint in {checkpoint.parent} was made with {name} = {then.get(name)}, and {name} = {now[name]} "
            f"was asked for. Go on with the same settings, or choose another --out."
        )
    trainer.load(state)


def _run(trainer: Trainer, samples: Faces, out: Path, seconds: float, every: int) -> dict[str, Any]:
    """Take steps until the end or the clock; the first step of a run is counted, not timed."""
    begun, first = time.monotonic(), trainer.step
    work = count_work(trainer) if first < trainer.plan.steps else 0.0
    _wait(trainer.device)
    started, counted = time.monotonic(), trainer.step
    for _ in _clocked(trainer, out, begun, seconds):
        trainer.advance()
        if trainer.step % every == 0:
            _write_row(trainer, out / "curves.csv", time.monotonic() - begun)
            save_sheet(samples, trainer.weights(), out / "samples" / f"step_{trainer.step:05d}.png")
    _wait(trainer.device)
    spent, done = max(time.monotonic() - started, 1e-9), trainer.step - counted
    _save(trainer, out / "checkpoint.pt")
    tflops = done * work / spent / 1e12
    return {
        "from_step": first, "to_step": trainer.step, "seconds": time.monotonic() - begun, "device": device_name(trainer.device),
        "images_per_second": done * trainer.plan.batch / spent, "tflops": tflops, "peak_share": tflops / PEAK,
        "precision": trainer.precision,
    }  # fmt: skip


def _clocked(trainer: Trainer, out: Path, begun: float, seconds: float) -> Iterator[None]:
    """Yield once per step while there are steps and time left, saving now and then."""
    saved = time.monotonic()
    while trainer.step < trainer.plan.steps and time.monotonic() - begun < seconds:
        yield
        if time.monotonic() - saved > SAVE:
            _save(trainer, out / "checkpoint.pt")
            saved = time.monotonic()


def _save(trainer: Trainer, path: Path) -> None:
    """Write beside, then rename: a run killed while saving leaves the checkpoint before."""
    torch.save(trainer.state(), path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _figures(path: Path, told: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Add this run to those before; the rates are of the longest run."""
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    runs += [run] if run["to_step"] > run["from_step"] else []
    longest = max(runs, key=lambda each: each["seconds"]) if runs else run
    rates = {name: longest[name] for name in ("images_per_second", "tflops", "peak_share", "device")}
    figures = {
        **told,
        "seconds": sum(each["seconds"] for each in runs),
        **rates,
        "precision": longest.get("precision", "bf16"),  # runs that do not say it were all in bf16
        "peak_tflops": PEAK,
        "runs": runs,
    }
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return figures


def count_work(trainer: Trainer) -> float:
    """Return the floating-point operations of one step, counted by torch, while taking it."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        trainer.advance()
    return float(counter.get_total_flops())


def device_name(device: str) -> str:
    """Return the accelerator's own name, or 'CPU'."""
    return torch.cuda.get_device_name() if device.startswith("cuda") else "CPU"


def _wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def _write_row(trainer: Trainer, path: Path, seconds: float) -> None:
    row = {"step": trainer.step, "seconds": round(seconds, 1)}
    row |= {name: round(float(value), 4) for name, value in trainer.log.items()}
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(" ".join(f"{name}={value}" for name, value in row.items()), file=sys.stderr, flush=True)

"""Training of the two small networks that ship, taught by `studio.py`.

python -m training.generated.small PARTS STATE OUT

STATE has compass.npz and reader*.pt. They look at styles drawn at random, at the same people with a cue changed, and at the
changed face over the unchanged picture, since all three are read while a series is steered.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from portrayal_faces.generator.directions import Compass, read_compass
from portrayal_faces.generator.readings import READ, places
from portrayal_faces.generator.steering import FARTHEST, PAIR_LEVEL, REACH, lines
from portrayal_faces.generator.studio import PARSED, READER_SIDE
from training.generated.make import TRUNCATION, load_readers
from training.generated.networks.augment import resized
from training.generated.networks.distil import agreement, distil_parser, distil_reader
from training.generated.networks.readers import _forward
from training.generated.networks.small_onnx import parser_onnx, reader_onnx
from training.generated.studio import GLASSES, REGION, GpuStudio

SEED = 11  # neither that of the styles directions were found with nor that of the people
BEYOND = 1.2  # how far past the ends of a series a cue is varied
HELD_OUT = 20  # one pair of so many
TURNED = [READ.index("yaw")]


def main() -> None:
    """Make the pictures, teach, say how well, and write small.pt, reader.onnx, parser.onnx and small.json."""
    parser = argparse.ArgumentParser()
    for name in ("parts", "state", "out"):
        parser.add_argument(name, type=Path)
    for name, number in (("pairs", 8000), ("epochs", 14), ("parser-epochs", 6), ("width", 32)):
        parser.add_argument(f"--{name}", type=int, default=number)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.time()

    def say(line: str) -> None:
        print(f"[{time.time() - start:6.1f}] {line}", flush=True)

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    studio = GpuStudio(args.parts, device)
    load_readers(SimpleNamespace(state=args.state, asked=args, studio=studio, device=device))  # type: ignore[arg-type]
    if not studio.nets:
        parser.error(f"no reader*.pt in {args.state}.")
    pictures, regions, readings = looked_at(studio, read_compass(args.state / "compass.npz"), args.pairs, say)
    teach(pictures, regions, readings, args, say)


def looked_at(studio: GpuStudio, compass: Compass, pairs: int, say: Any) -> tuple[Any, Any, Any]:
    """Return pictures (plain, changed, pasted), regions of the first two, and all readings."""
    mean = torch.tensor(compass.mean, dtype=torch.float32, device=studio.device)
    plain = studio.styles(pairs, SEED, TRUNCATION, mean)[0].double().cpu().numpy()
    random = np.random.default_rng(SEED)
    made: list[list[Any]] = [[], [], [], [], [], []]
    for at in range(0, pairs, 480):
        styles = plain[at : at + 480]
        first = studio.render(styles)
        read = studio.read(first)
        second = studio.render(changed(compass, styles, read, random))
        centre = SimpleNamespace(pictures=first, regions=studio.regions(first))
        over = studio.over(second, centre)
        batch = (first, second, over, parsed(studio, first), parsed(studio, second),
                np.stack([read, studio.read(second), studio.read(over)]))  # fmt: skip
        for place, one in zip(made, batch, strict=True):
            place.append(one)
    pictures = torch.cat([torch.cat(part) for part in made[:3]])
    readings = np.concatenate(made[5], axis=1)[:, :, : len(READ)].reshape(3 * pairs, len(READ))
    say(f"looked at {len(pictures)} pictures of {pairs} people")
    return pictures, torch.cat([torch.cat(part) for part in made[3:5]]), readings


def parsed(studio: GpuStudio, pictures: Any) -> Any:
    """Return each pixel's kind as probabilities; whatever is no background is a person."""
    kinds = [
        torch.stack([classes[:, REGION].sum(1), classes[:, GLASSES].sum(1), 1 - classes[:, 0]], 1).half()
        for classes in studio._parsed(pictures)
    ]
    return torch.cat(kinds)


def changed(compass: Compass, styles: np.ndarray, read: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return styles with one cue changed in turn, to slightly beyond a series' ends."""
    result, axes = styles.copy(), lines()
    for number, line in enumerate(axes):
        mine = np.arange(number, len(styles), len(axes))
        names = [line.varied, *((line.level,) if line.level else ()), *line.held]
        off = np.zeros((len(mine), len(names)))
        wanted = random.uniform(-BEYOND, BEYOND, len(mine)) * REACH[line.varied]
        off[:, 0] = wanted - read[mine, places([line.varied])[0]]
        if line.level:
            off[:, 1] = PAIR_LEVEL - read[mine, places([line.level])[0]]
        result[mine] += compass.shortened(off @ compass.moves(names), FARTHEST)
    return result


def teach(pictures: Any, regions: Any, readings: np.ndarray, args: argparse.Namespace, say: Any) -> None:
    """Teach both networks on all people but the last; report agreement on those."""
    pairs, device = len(pictures) // 3, pictures.device
    last = max(1, pairs // HELD_OUT)
    which = torch.arange(pairs, device=device) < pairs - last
    wanted = torch.tensor(readings, device=device)
    reader, units = distil_reader(pictures[which.repeat(3)], wanted[which.repeat(3)], args.epochs, say, TURNED)
    net = distil_parser(pictures[: 2 * pairs][which.repeat(2)], regions[which.repeat(2)], args.parser_epochs, say)
    holdout = ~which.repeat(3)
    held_regions, seen = regions[holdout[: 2 * pairs]], pictures[: 2 * pairs][holdout[: 2 * pairs]]
    figures = {
        "people": pairs,
        "held out": last,
        **followed(reader, units, pictures[holdout], readings[holdout.cpu().numpy()]),
        "overlap": {name: agreement(net, seen, held_regions[:, [kind]], kind) for kind, name in enumerate(PARSED)},
    }
    say(json.dumps(figures))
    torch.save({"reader": reader.state_dict(), "parser": net.state_dict(), **units}, args.out / "small.pt")
    mean, spread = (units[name].double().cpu().numpy() for name in ("mean", "spread"))
    (args.out / "reader.onnx").write_bytes(reader_onnx(reader, mean, spread))
    (args.out / "parser.onnx").write_bytes(parser_onnx(net))
    (args.out / "small.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")


def followed(reader: Any, units: dict[str, Any], pictures: Any, readings: np.ndarray) -> dict[str, Any]:
    """Return R2 of the small reader's readings and of their changes."""
    with torch.no_grad():
        outputs = torch.cat(
            [_forward(reader, resized(part.float() / 127.5 - 1, READER_SIDE)) for part in pictures.split(256)]
        )
    read = (outputs.double() * units["spread"] + units["mean"]).cpu().numpy().reshape(3, -1, len(READ))
    truth = readings.reshape(read.shape)
    flat = [one.reshape(-1, len(READ)) for one in (truth, read)]
    return {"R2": _explained(*flat), "R2 of changes": _explained(truth[2] - truth[0], read[2] - read[0])}


def _explained(truth: np.ndarray, read: np.ndarray) -> dict[str, float]:
    left = ((truth - read) ** 2).mean(0) / np.maximum(truth.var(0), 1e-12)
    return {name: round(1 - float(one), 3) for name, one in zip(READ, left, strict=True)}


if __name__ == "__main__":
    main()

"""JPEGs to embeddings on a GPU: the exact path, the fast path, and each of its halves alone, in images a second.

    python benchmarks/gpu_images.py [--pictures 2048] [--batch 256] [--seconds 6] [--weights FILE] [--json FILE]

Pictures of nothing (500 x 375, seeded) are written into a temporary folder and asked about as the recorder asks: four batches
at once. CLIP ViT-B/32 in bfloat16. Without `--weights` (a checkpoint of that size) they are random: speed does not depend on
them, the cosine does, so the distance between different pictures is printed beside it. Needs torch, torchvision, numpy and
Pillow alone; where there is no GPU or no torchvision it says so in a line.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks.encoders import jpeg  # noqa: E402
from benchmarks.saved import write_found  # noqa: E402

from portrayal.systems.core.base import Answer, Question  # noqa: E402
from portrayal.systems.encoders.towers import TowerEncoder, Towers  # noqa: E402

AT_ONCE = 4  # batches, as the recorder has them by default
TARGET = 12_000  # images a second, end to end, on one H200
MOST_OFF = 1e-2  # cosine distance between the two paths


@dataclass
class Timed(TowerEncoder):
    """ViT-B/32 whose towers are handed to it."""

    towers: Towers | None = None

    def load(self) -> Towers:
        """Return the towers that were handed over."""
        if self.towers is None:
            raise ValueError("no towers")
        return self.towers


def missing() -> str:
    """Return what this machine lacks, or nothing."""
    try:
        import torch
        import torchvision  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:
        return f"not measured: {str(error).splitlines()[0]}"
    return "" if torch.cuda.is_available() else "not measured: torch sees no GPU here"


def open_towers(device: str, precision: str, weights: str | None, size: str = "ViT-B/32") -> Towers:
    """Return a CLIP with these weights, or with random ones."""
    import torch

    from portrayal.systems.encoders.clip.network import Clip
    from portrayal.systems.encoders.clip.sizes import SIZES
    from portrayal.systems.encoders.clip_towers import ClipTowers
    from portrayal.systems.encoders.images.pictures import Preparation

    if weights:
        return ClipTowers.open(Path(weights), size, device, precision)
    torch.manual_seed(0)
    network = Clip(SIZES[size])
    return ClipTowers(network, None, Preparation(SIZES[size].image_size), device, precision)  # type: ignore[arg-type]


def write_pictures(folder: Path, count: int) -> list[Question]:
    """Write so many different JPEGs, and return a question about each."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(_write, str(folder)), range(count), chunksize=16))
    paths = [str(folder / f"{number}.jpg") for number in range(count)]
    return [Question(str(number), "image", path, str(number)) for number, path in enumerate(paths)]


def _write(folder: str, seed: int) -> None:
    (Path(folder) / f"{seed}.jpg").write_bytes(jpeg(seed))


async def ask_all(system: TowerEncoder, questions: Sequence[Question]) -> list[Answer | Exception]:
    """Ask about all of them as the recorder does, so many batches at once."""
    starts = iter(range(0, len(questions), system.batch))
    answers: dict[int, list[Answer | Exception]] = {}

    async def work() -> None:
        for start in starts:
            answers[start] = await system.ask(questions[start : start + system.batch])

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return [answer for start in sorted(answers) for answer in answers[start]]


def end_to_end(system: TowerEncoder, questions: list[Question], seconds: float, shown: int) -> tuple[float, list[Any]]:
    """Return images a second after a warm-up, and the answers to the pictures, each once."""

    async def run() -> tuple[float, list[Any]]:
        first = await ask_all(system, questions)
        rounds = max(1, round(seconds * shown / len(questions)))
        many = [replace(one, hash=f"{one.hash} {turn}") for turn in range(rounds) for one in questions]
        began = time.perf_counter()
        await ask_all(system, many)
        rate = len(many) / (time.perf_counter() - began)
        await system.close()
        return rate, first

    return asyncio.run(run())


def per_second(call: Callable[[], object], count: int, seconds: float) -> float:
    """Return items a second of a call that takes so many, after a warm-up."""
    import torch

    call()
    torch.cuda.synchronize()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        call()
        calls += 1
    torch.cuda.synchronize()
    return calls * count / (time.perf_counter() - began)


def halves(towers: Any, questions: list[Question], batch: int, seconds: float) -> dict[str, float]:
    """Time decoding alone, resizing alone and encoding alone, each of a batch."""
    import torch

    from portrayal.systems.encoders.images.device_cuts import device_cuts
    from portrayal.systems.encoders.images.jpegs import open_jpegs, read_plain_jpeg

    jpegs = open_jpegs(towers.device)
    if jpegs is None:
        sys.exit("not measured: torchvision here has no nvJPEG")
    some = questions[:batch]
    files = [data for one in some if (data := read_plain_jpeg(one.content)) is not None]
    decoded = jpegs.decoded(files)
    cuts = device_cuts(decoded, towers.preparation)
    return {
        "reading": per_second(lambda: [read_plain_jpeg(one.content) for one in some], len(some), seconds),
        "decoding": per_second(lambda: jpegs.decoded(files), len(files), seconds),
        "resizing": per_second(lambda: device_cuts(decoded, towers.preparation), len(files), seconds),
        "encoding": per_second(lambda: towers.pictures(cuts), len(files), seconds),
        "pixels_off": pixels_off(cuts, questions, towers.preparation),
        "gpu_gb": torch.cuda.max_memory_allocated() / 1e9,
    }


def pixels_off(cuts: Any, questions: Sequence[Question], preparation: Any, count: int = 64) -> float:
    """Return the mean distance of pixels from Pillow's, in levels of 255."""
    from portrayal.systems.encoders.images.pictures import cut_file

    exact = np.stack([cut_file(one.content, preparation) for one in questions[:count]])  # type: ignore[arg-type]
    return float(np.abs(cuts[:count].cpu().numpy().astype(int) - exact.astype(int)).mean())


def cosines(exact: Sequence[Any], fast: Sequence[Any]) -> tuple[float, float]:
    """Return the largest cosine distance of a picture's two embeddings, and the median one of two different pictures."""
    one, other = (np.stack([np.frombuffer(answer.raw, "<f4") for answer in side]) for side in (exact, fast))
    one, other = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
    apart = 1 - np.sum(one * np.roll(one, 1, axis=0), axis=1)
    return float((1 - np.sum(one * other, axis=1)).max()), float(np.median(apart))


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure all of it, and print each figure as it is there."""
    import torch
    import torchvision

    began = time.perf_counter()
    questions = write_pictures(folder, options.pictures)
    size = sum(Path(one.content).stat().st_size for one in questions) / len(questions)
    print(
        f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, torchvision {torchvision.__version__};"
        f" {len(questions):,} JPEGs of 500 x 375, {size / 1024:.0f} KiB each, batch {options.batch}", flush=True,
    )  # fmt: skip
    towers = open_towers("cuda", "bfloat16", options.weights)
    given = {"name": "ViT-B/32", "kind": "encoder", "identity": "benchmark", "batch": options.batch, "towers": towers}
    alone = halves(towers, questions, options.batch, options.seconds / 3)
    for name in ("reading", "decoding", "resizing", "encoding"):
        print(f"{name} alone: {alone[name]:,.0f} images/s", flush=True)
    fast, of_fast = end_to_end(Timed(**given, decode="fast"), questions, options.seconds, TARGET)
    told = sum(answer.version.endswith(":fast") for answer in of_fast)
    print(f"fast path, end to end: {fast:,.0f} images/s ({told:,} of {len(of_fast):,} decoded on the GPU)")
    exact, of_exact = end_to_end(Timed(**given, decoders=os.cpu_count() or 1), questions, options.seconds, 1500)
    print(f"exact path, end to end, {os.cpu_count()} processes decode: {exact:,.0f} images/s", flush=True)
    off, apart = cosines(of_exact, of_fast)
    weights = "given weights" if options.weights else "random weights"
    print(
        f"largest cosine difference between the paths: {off:.2e} ({weights}; two different pictures lie {apart:.2e} apart);"
        f" pixels differ by {alone['pixels_off']:.2f} levels of 255 on average; {alone['gpu_gb']:.1f} GB of GPU memory"
    )
    print(f"needed: {TARGET:,} images/s: {'met' if fast >= TARGET else 'missed'} ({fast / TARGET:.2f} x);"
          f" cosine within {MOST_OFF:g}: {'met' if off <= MOST_OFF else 'missed'}; {time.perf_counter() - began:.0f} s in all")  # fmt: skip
    rates = {"fast": fast, "exact": exact, **{n: alone[n] for n in ("reading", "decoding", "resizing", "encoding")}}
    return {
        "name": "gpu_images", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "torchvision": torchvision.__version__, "batch": options.batch, "pictures": len(questions), "bytes": size,
        "weights": weights, "images_per_second": rates, "cosine_difference": off, "cosine_of_others": apart,
        "pixels_off": alone["pixels_off"],
    }  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement, about")
    parser.add_argument("--weights", help="a checkpoint of ViT-B/32; random without it")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args(given)
    lacks = missing()
    if lacks:
        print(lacks)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write_found(options.json, measure(options, Path(folder)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

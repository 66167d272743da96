"""JPEGs to embeddings on a GPU, in images a second: end to end, and the encoding of cut pictures alone.

    python benchmarks/gpu_images.py [--pictures 2048] [--batch 256] [--seconds 6] [--json FILE]

Pictures of nothing (500 x 375, seeded) are written into a temporary folder and asked about as the recorder asks: four batches
at once, decoded in a process per core. The vision tower is that of CLIP ViT-B/32 in bfloat16 with random weights: speed does
not depend on them. Needs torch, transformers, numpy and Pillow alone; where one of them or a GPU is missing it says so in a line.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks.saved import write_found  # noqa: E402

from portrayal.systems.core.base import Answer, Question  # noqa: E402
from portrayal.systems.encoders.pictures import on_device  # noqa: E402
from portrayal.systems.encoders.towers import TowerEncoder, Towers  # noqa: E402

AT_ONCE = 4  # batches, as the recorder has them by default
EXPECTED = 1500  # images a second, end to end


class VisionTower(Towers):
    """CLIP ViT-B/32's vision tower of transformers, with random weights."""

    def __init__(self, device: str) -> None:
        import torch
        from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

        self.device = device
        self.model = CLIPVisionModelWithProjection(CLIPVisionConfig()).to(device, torch.bfloat16).eval()

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        import torch

        with torch.inference_mode():
            ready = on_device(pixels, self.preparation, self.device).to(torch.bfloat16)
            return self.model(pixel_values=ready).image_embeds.float().cpu().numpy()


def missing() -> str:
    """Return what this machine lacks, or nothing."""
    try:
        import torch
        import transformers  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:
        return f"not measured: {str(error).splitlines()[0]}"
    return "" if torch.cuda.is_available() else "not measured: torch sees no GPU here"


def jpeg(seed: int) -> bytes:
    """Make a picture of nothing, of a usual size, as a JPEG."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((500, 375))
    noisy = np.asarray(coarse, np.int16) + rng.integers(-12, 13, (375, 500, 3))
    buffer = io.BytesIO()
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def write_pictures(folder: Path, count: int) -> list[Question]:
    """Write so many different JPEGs, and return a question about each."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(write_picture, str(folder)), range(count), chunksize=16))
    paths = [str(folder / f"{number}.jpg") for number in range(count)]
    return [Question(str(number), "image", path, str(number)) for number, path in enumerate(paths)]


def write_picture(folder: str, seed: int) -> None:
    """Write the picture of a seed."""
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


def end_to_end(system: TowerEncoder, questions: list[Question], seconds: float) -> tuple[float, list[Any]]:
    """Return images a second after a warm-up, and the answers to the pictures, each once."""

    async def run() -> tuple[float, list[Any]]:
        first = await ask_all(system, questions)
        passes = max(1, round(seconds * EXPECTED / len(questions)))
        many = [replace(one, hash=f"{one.hash} {number}") for number in range(passes) for one in questions]
        began = time.perf_counter()
        await ask_all(system, many)
        rate = len(many) / (time.perf_counter() - began)
        await system.close()
        return rate, first

    return asyncio.run(run())


def per_second(call: Callable[[], object], count: int, seconds: float) -> float:
    """Return items a second of a call that takes so many, after a warm-up."""
    call()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        call()
        calls += 1
    return calls * count / (time.perf_counter() - began)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure both, and print each figure as it is there."""
    import torch
    import transformers

    torch.manual_seed(0)
    questions = write_pictures(folder, options.pictures)
    size = sum(Path(one.content).stat().st_size for one in questions) / len(questions)
    print(
        f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}, transformers"
        f" {transformers.__version__}; {len(questions):,} JPEGs of 500 x 375, {size / 1024:.0f} KiB each, batch {options.batch}",
        flush=True,
    )
    towers = VisionTower("cuda")
    pixels = np.random.default_rng(0).integers(0, 256, (options.batch, 224, 224, 3), dtype=np.uint8)
    encoding = per_second(lambda: towers.pictures(pixels), options.batch, options.seconds / 3)
    print(f"encoding alone, 8-bit pixels to embeddings: {encoding:,.0f} images/s", flush=True)
    decoders = os.cpu_count() or 1
    system = TowerEncoder(
        "ViT-B/32", "encoder", "benchmark", batch=options.batch, load=lambda: towers, decoders=decoders
    )
    rate, answers = end_to_end(system, questions, options.seconds)
    failed = sum(isinstance(answer, Exception) for answer in answers)
    print(f"end to end, {os.cpu_count()} processes decode: {rate:,.0f} images/s ({failed} of {len(answers):,} failed)")
    return {
        "name": "gpu_images", "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "transformers": transformers.__version__, "batch": options.batch, "pictures": len(questions), "bytes": size,
        "weights": "random weights", "images_per_second": {"exact": rate, "encoding": encoding},
    }  # fmt: skip


def main(given: Sequence[str] | None = None) -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement, about")
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

"""How fast CLIP encodes: ViT-B/32 on a GPU in bfloat16 and on two CPU cores in float32, decoding beside it.

    python benchmarks/encoders.py [--seconds 3] [--batch 1024] [--compile]

Weights and pictures are random: speed does not depend on them. Prints images a second for pictures already decoded (as
8-bit pixels in pinned memory, copied and normalised on the device), for decoding alone on all cores, and for both
together, where decoding is what bounds. On a machine without a GPU only the CPU figures are printed.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

TARGET = 25_000  # images a second on one H200, bfloat16, pictures already decoded


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--compile", action="store_true", help="also time the network through torch.compile")
    options = parser.parse_args()
    import torch

    from portrayal.systems.encoders.clip.network import Clip
    from portrayal.systems.encoders.clip.sizes import SIZES

    torch.manual_seed(0)
    network = Clip(SIZES["ViT-B/32"]).eval()
    print(f"torch {torch.__version__}, {os.cpu_count()} CPU cores")
    if torch.cuda.is_available():
        print(f"GPU: {torch.cuda.get_device_name()}")
        on_gpu(network, options.batch, options.seconds, options.compile)
    on_cpu(network, options.seconds)


def on_gpu(network, batch: int, seconds: float, compiled: bool) -> None:
    import torch

    network = network.to("cuda", torch.bfloat16)
    check_precision(network)
    sets = [torch.from_numpy(pixels(batch, seed)).pin_memory() for seed in range(4)]
    best = per_second(encoder(network.encode_image, sets), batch, seconds)
    print(f"GPU, bfloat16, batch {batch}, pictures already decoded: {best:,.0f} images/s")
    if compiled:
        faster = torch.compile(network.visual, mode="max-autotune-no-cudagraphs")
        with_compile = per_second(encoder(faster, sets), batch, seconds)
        print(f"GPU, bfloat16, batch {batch}, through torch.compile: {with_compile:,.0f} images/s")
        best = max(best, with_compile)
    theirs = peer(sets, batch, seconds)
    if theirs:
        print(f"GPU, bfloat16, batch {batch}, transformers' CLIPVisionModelWithProjection: {theirs:,.0f} images/s")
        print(f"ratio to transformers: {best / theirs:.2f}")
    print(
        f"target {TARGET:,} images/s on an H200: {'reached' if best >= TARGET else 'NOT reached'} ({best / TARGET:.2f} x)"
    )
    decoding(lambda cuts: encode_once(network.encode_image, torch.from_numpy(cuts)), seconds)
    network.to("cpu", torch.float32)


def peer(sets: list, batch: int, seconds: float) -> float | None:
    """Time transformers' own vision tower of the same size; None where transformers is not installed."""
    import torch

    try:
        from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection
    except ImportError:
        return None
    model = CLIPVisionModelWithProjection(CLIPVisionConfig()).to("cuda", torch.bfloat16).eval()
    return per_second(encoder(lambda ready: model(pixel_values=ready), sets), batch, seconds)


def on_cpu(network, seconds: float, cores: int = 2, batch: int = 16) -> None:
    import torch

    torch.set_num_threads(cores)
    given = torch.from_numpy(pixels(batch, 0))
    rate = per_second(lambda: encode_once(network.encode_image, given, "cpu", torch.float32), batch, seconds)
    print(f"CPU, float32, {cores} cores, batch {batch}, pictures already decoded: {rate:,.1f} images/s")


def decoding(encode: Callable[[np.ndarray], object], seconds: float) -> None:
    """Time decoding and cutting JPEGs of 500 x 375 in a process per core, alone and with encoding behind it."""
    files = [jpeg(seed) for seed in range(64)]
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:

        def cuts() -> list[np.ndarray]:
            return list(pool.map(cut, files * 8, chunksize=16))

        alone = per_second(cuts, 512, seconds)
        print(f"decoding JPEGs ({len(files[0]) // 1024} KiB, 500 x 375) on {cores} cores: {alone:,.0f} images/s")
        both = per_second(lambda: encode(np.stack(cuts())), 512, seconds)
        print(f"decoding on {cores} cores and encoding on the GPU, decode-bound: {both:,.0f} images/s")


def cut(data: bytes) -> np.ndarray:
    from PIL import Image

    from portrayal.systems.encoders.images.pictures import Preparation

    return Preparation().pixels(Image.open(io.BytesIO(data)))


def encoder(encode: Callable, sets: list) -> Callable[[], object]:
    """Return a call that copies, normalises and encodes the next set; sets rotate, so that none stays in a cache."""
    turn = cycle(sets)
    return lambda: encode_once(encode, next(turn))


def encode_once(encode: Callable, given, device: str = "cuda", dtype=None) -> object:
    import torch

    from portrayal.systems.encoders.clip.network import normalised
    from portrayal.systems.encoders.images.pictures import CLIP_DEVIATION, CLIP_MEAN

    with torch.inference_mode():
        ready = normalised(given.to(device, non_blocking=True), CLIP_MEAN, CLIP_DEVIATION, dtype or torch.bfloat16)
        return encode(ready)


def per_second(call: Callable[[], object], count: int, seconds: float) -> float:
    """Return items a second: the median over five stretches of timed calls, after a warm-up."""
    for _ in range(3):
        call()
    wait()
    rates = []
    for _ in range(5):
        started, calls = time.perf_counter(), 0
        while time.perf_counter() - started < seconds / 5 or not calls:
            call()
            calls += 1
            if calls % 8 == 0:
                wait()
        wait()
        rates.append(calls * count / (time.perf_counter() - started))
    return float(np.median(rates))


def wait() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def check_precision(network) -> None:
    """Hold bfloat16 on the GPU against float32 on the CPU: a fast wrong answer is not worth timing."""
    import torch

    from portrayal.systems.encoders.clip.network import Clip

    exact = Clip(network.size).eval()
    exact.load_state_dict({name: value.float().cpu() for name, value in network.state_dict().items()})
    given = torch.from_numpy(pixels(8, 9))
    fast = encode_once(network.encode_image, given).float().cpu()
    slow = encode_once(exact.encode_image, given, "cpu", torch.float32)
    cosine = torch.nn.functional.cosine_similarity(fast, slow).min().item()
    print(f"smallest cosine between bfloat16 on the GPU and float32 on the CPU: {cosine:.5f}")
    if cosine < 0.99:
        sys.exit("bfloat16 embeddings are too far from float32 ones")


def pixels(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, 224, 224, 3), dtype=np.uint8)


def jpeg(seed: int) -> bytes:
    """Make a picture of nothing, of a usual size, as a JPEG."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((500, 375))
    noisy = np.asarray(coarse, np.int16) + rng.integers(-12, 13, (375, 500, 3))
    buffer = io.BytesIO()
    Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


if __name__ == "__main__":
    main()

"""CLIP ViT-B/32 on the processor, batches of 16, beside transformers with the same weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.shape import Benchmark, Peer

BATCH, SIDE = 16, 224
# Of the vision tower of ViT-B/32: 50 tokens, 11 layers of width 768 and, for the class token, a twelfth, which needs keys and
# values of all tokens and the rest of one.
PRODUCTS = 768**2 * (50 * 11 * 12 + 50 * 2 + 10)
OPERATIONS = 2 * (PRODUCTS + 11 * 2 * 50 * 50 * 768 + 2 * 50 * 768 + 49 * 3072 * 768 + 768 * 512)


@dataclass(frozen=True)
class Pictures:
    """Normalised pictures in batches, our network, and transformers' with the same weights where it is installed."""

    batches: list[Any]
    network: Any
    other: Any


def prepare(size: int) -> Pictures:
    """Draw so many batches of noise; weights are random, speed does not depend on them."""
    import torch

    from portrayal.systems.encoders.clip.checkpoint import as_openai
    from portrayal.systems.encoders.clip.network import Clip
    from portrayal.systems.encoders.clip.sizes import SIZES

    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(0)
    batches, network = list(torch.randn(size, BATCH, 3, SIDE, SIDE)), Clip(SIZES["ViT-B/32"]).eval()
    other = _transformers_model()
    if other is not None:
        network.load_state_dict(as_openai(other.state_dict()), strict=False)
    return Pictures(batches, network, other)


def _transformers_model() -> Any:
    """Return transformers' CLIP of the same size, or nothing where it is not installed."""
    try:
        from transformers import CLIPConfig, CLIPModel
    except ImportError:
        return None
    return CLIPModel(CLIPConfig()).eval()


def _encoded(data: Pictures, encode: Any) -> np.ndarray:
    import torch

    with torch.inference_mode():
        return np.concatenate([encode(batch).numpy() for batch in data.batches])


def ours(data: Pictures) -> np.ndarray:
    return _encoded(data, data.network.encode_image)


def with_transformers(data: Pictures) -> np.ndarray:
    tower, projection = data.other.vision_model, data.other.visual_projection
    return _encoded(data, lambda batch: projection(tower(pixel_values=batch).pooler_output))


def equal(data: Pictures, found: np.ndarray, theirs: np.ndarray) -> str:
    apart = np.abs(found - theirs).max()
    return "" if apart < 1e-3 else f"embeddings differ by {apart:.0e}"


def check(data: Pictures, found: np.ndarray) -> str:
    """Encode the first picture alone, in double precision."""
    import copy

    import torch

    with torch.inference_mode():
        alone = copy.deepcopy(data.network).double().encode_image(data.batches[0][:1].double()).numpy()
    apart = np.abs(found[0] - alone[0]).max()
    return "" if apart < 1e-3 else f"differs from double precision by {apart:.0e}"


def limit(data: Pictures) -> dict[str, float]:
    """The tower's products of matrices."""
    return {"arithmetic": OPERATIONS * BATCH * len(data.batches)}


BENCHMARK = Benchmark(
    name="CLIP",
    work="CLIP ViT-B/32 on the processor, 4 batches of 16 pictures, single precision",
    size=4,
    unit="batches",
    prepare=prepare,
    ours=ours,
    peers=(Peer("transformers", 1.3, "transformers", run=with_transformers, equal=equal),),
    check=check,
    limit=limit,
    growth=(1, 4, 16),
    why="Over four fifths of ours are the products of matrices that both run on the same library, torch. Left out is what the"
    " last layer computes of tokens nobody reads (7%); passes over memory are fewer (GELU, patches).",
)

"""Distillation of the two small networks that ship: reader and parser.

`small.py` makes the pictures they learn from, and keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from portrayal_faces.generator.studio import PARSER_SIDE, READER_SIDE
from training.generated.networks.augment import resized
from training.generated.networks.nets import Parser, ResidualReader
from training.generated.networks.readers import Say, _fit, _forward, layout

READER = {"width": 32, "blocks": 2}


def distil_reader(
    pictures: Any, readings: Any, epochs: int, say: Say, turned: Sequence[int] = ()
) -> tuple[Any, dict[str, Any]]:
    """Teach a small reader the readings (n x READ) of generated pictures (uint8, 256 pixels).

    Every other look is at the mirror image; `turned` are the readings whose sign a mirror turns.

    Returns
    -------
    tuple
        The network, and the mean and spread its outputs are in.
    """
    torch.manual_seed(1)
    mean, spread = readings.mean(0), readings.std(0)
    mirrored = readings.clone()
    mirrored[:, list(turned)] *= -1
    wanted = [((each - mean) / spread).float() for each in (readings, mirrored)]
    net = ResidualReader(readings.shape[1], drop=0.0, **READER).to(
        pictures.device, memory_format=layout(pictures.device)
    )

    def loss(at: Any) -> Any:
        faces = resized(pictures[at].float() / 127.5 - 1, READER_SIDE)
        noise = 0.03 * torch.randn_like(faces)
        half = len(at) // 2
        seen = torch.cat([faces[:half], faces[half:].flip(3)]) + noise
        truth = torch.cat([wanted[0][at[:half]], wanted[1][at[half:]]])
        return functional.mse_loss(_forward(net, seen), truth)

    _fit(net, len(pictures), 256, epochs, 3e-3, loss, lambda line: say(f"small reader {line}"))
    return net.eval(), {"mean": mean, "spread": spread}


def distil_parser(pictures: Any, regions: Any, epochs: int, say: Say) -> Any:
    """Teach a small parser the large one's probabilities of each pixel's kind."""
    torch.manual_seed(2)
    regions = regions if regions.dim() == 4 else regions[:, None]
    net = Parser(outputs=regions.shape[1]).to(pictures.device, memory_format=layout(pictures.device))

    def loss(at: Any) -> Any:
        faces = resized(pictures[at].float() / 127.5 - 1, PARSER_SIDE)
        wanted = resized(regions[at].float(), PARSER_SIDE)
        logits = _forward(net, faces)
        return functional.binary_cross_entropy_with_logits(logits, wanted)

    _fit(net, len(pictures), 96, epochs, 3e-3, loss, lambda line: say(f"small parser {line}"))
    return net.eval()


def agreement(net: Any, pictures: Any, regions: Any, kind: int = 0) -> float:
    """Return the overlap of two parsers' regions (intersection over union)."""
    with torch.no_grad():
        logits = torch.cat(
            [_forward(net, resized(part.float() / 127.5 - 1, PARSER_SIDE)) for part in pictures.split(256)]
        )
    first, second = (
        logits[:, kind] > 0,
        resized((regions if regions.dim() == 4 else regions[:, None]).float(), PARSER_SIDE)[:, 0] > 0.5,
    )
    return float((first & second).sum() / (first | second).sum())

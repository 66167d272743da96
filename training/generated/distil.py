"""Two small networks that ship: one reads what steering needs, one finds the face; taught by those that found the directions."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from training.generated.augment import resized
from training.generated.nets import Parser, ResidualReader
from training.generated.readers import Say, _fit, _forward, layout

READER_SIDE, PARSER_SIDE = 96, 128
READER = {"width": 24, "blocks": 1}


def distil_reader(pictures: Any, readings: Any, epochs: int, say: Say) -> tuple[Any, dict[str, Any]]:
    """Teach a small reader the readings (n x READ) of generated pictures (uint8, 256 pixels).

    Returns
    -------
    tuple
        The network, and the mean and spread its outputs are in.
    """
    torch.manual_seed(1)
    mean, spread = readings.mean(0), readings.std(0)
    wanted = ((readings - mean) / spread).float()
    net = ResidualReader(readings.shape[1], drop=0.0, **READER).to(
        pictures.device, memory_format=layout(pictures.device)
    )

    def loss(at: Any) -> Any:
        faces = resized(pictures[at].float() / 127.5 - 1, READER_SIDE)
        noise = 0.03 * torch.randn_like(faces)
        return functional.mse_loss(_forward(net, faces + noise), wanted[at])

    _fit(net, len(pictures), 256, epochs, 3e-3, loss, lambda line: say(f"small reader {line}"))
    return net.eval(), {"mean": mean, "spread": spread}


def distil_parser(pictures: Any, regions: Any, epochs: int, say: Say) -> Any:
    """Teach a small parser which pixels are face, ears or neck (n x 256 x 256, probabilities)."""
    torch.manual_seed(2)
    net = Parser().to(pictures.device, memory_format=layout(pictures.device))

    def loss(at: Any) -> Any:
        faces = resized(pictures[at].float() / 127.5 - 1, PARSER_SIDE)
        wanted = resized(regions[at].float()[:, None], PARSER_SIDE)
        found = _forward(net, faces)
        return functional.binary_cross_entropy_with_logits(found, wanted)

    _fit(net, len(pictures), 96, epochs, 3e-3, loss, lambda line: say(f"small parser {line}"))
    return net.eval()


def agreement(net: Any, pictures: Any, regions: Any) -> float:
    """Return the overlap of the small parser's face with the large one's (intersection over union)."""
    with torch.no_grad():
        found = torch.cat(
            [_forward(net, resized(part.float() / 127.5 - 1, PARSER_SIDE)) for part in pictures.split(256)]
        )
    first, second = found[:, 0] > 0, resized(regions[:, None].float(), PARSER_SIDE)[:, 0] > 0.5
    return float((first & second).sum() / (first | second).sum())

"""A contact sheet of generated people along the gender axis, from a training run's weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from portrayal.pictures.series.values import steps
from training import objective
from training.batches import Faces
from training.manipulator import dithered
from training.network import Decoder, Encoder
from training.skin import oval


def save_sheet(samples: Faces, kept: dict[str, Any], out: Path, people: int = 6) -> bool:
    """Draw samples (generated people only) over the seven steps; False where there are none."""
    from PIL import Image

    if not len(samples):
        return False
    out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(series_rows(samples, kept, people)).save(out)
    return True


def series_rows(faces: Faces, kept: dict[str, Any], people: int) -> np.ndarray:
    """Return uint8 rows: the face, then its seven steps."""
    encoder, decoder = Encoder().eval(), Decoder().eval()
    encoder.load_state_dict({key: value.float() for key, value in kept["encoder"].items()})
    decoder.load_state_dict({key: value.float() for key, value in kept["decoder"].items()})
    face, values = faces.centred()[:people], steps("gender")
    start = objective.filled(faces.values[:people])
    mask = torch.from_numpy(oval()).float()
    with torch.no_grad():
        code = used_codes(encoder, face)
        own = decoder(code, start)
        columns = [face]
        for value in values:
            go = start.clone()
            go[:, objective.GENDER] = float(value)
            edit = objective.tempered(decoder(code, go) - own, face, mask[None, None])
            columns.append((face + mask * edit).clamp(-1, 1))
    stack = torch.stack(columns, 1).add(1).mul(127.5).round().byte()
    n, steps_shown, _, side, _ = stack.shape
    return stack.permute(0, 3, 1, 4, 2).reshape(n * side, steps_shown * side, 3).numpy()


def used_codes(encoder: Encoder, faces: Tensor) -> Tensor:
    """Return the codes of faces in [-1, 1] as they are in use: erased, dithered and rounded."""
    with torch.no_grad():
        soft = encoder(faces).numpy()
    pixels = faces.add(1).mul(127.5).round().byte().permute(0, 2, 3, 1).numpy()
    pairs = zip(soft, pixels, strict=True)
    return torch.from_numpy(np.stack([dithered(code, face) for code, face in pairs]))

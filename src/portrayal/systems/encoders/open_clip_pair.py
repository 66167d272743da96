"""OpenCLIP folders whose towers are not CLIP's own, through the package open_clip itself; pictures prepared with Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.encoders.devices import choose_device, place
from portrayal.systems.encoders.images.device_cuts import on_device
from portrayal.systems.encoders.images.pictures import Preparation, folder_preparation
from portrayal.systems.encoders.towers import Towers


class OpenClipPair(Towers):
    """A model that open_clip builds from its folder, with its own tokenizer."""

    takes_tensors = True

    def __init__(self, path: Path, device: str = "cpu", precision: str = "float32") -> None:
        package = import_open_clip()
        try:
            model = package.create_model(f"local-dir:{path}", device="cpu", weights_only=True)
            self.tokenizer = package.get_tokenizer(f"local-dir:{path}")
        except Exception as error:  # of its config, its weights, or a package its towers need
            words = (str(error) or type(error).__name__).splitlines()[0][:160]
            raise PortrayalError(f"open_clip cannot load {path}: {words}") from None
        self.device = choose_device(device)
        self.model, self.dtype = place(model, self.device, precision)
        side = self.model.visual.image_size
        self.preparation: Preparation = folder_preparation(path, side if isinstance(side, int) else side[0])

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts."""
        import torch

        with torch.inference_mode():
            return _array(self.model.encode_text(self.tokenizer(list(texts)).to(self.device)))

    def pictures(self, pixels: Any) -> np.ndarray:
        """Encode pictures."""
        import torch

        ready = on_device(pixels, self.preparation, self.device, self.dtype)
        with torch.inference_mode():
            return _array(self.model.encode_image(ready))


def import_open_clip() -> Any:
    """Import open_clip, or say how to get it."""
    try:
        import open_clip
    except ImportError as error:
        raise PortrayalError(
            f"this model's towers are not CLIP's own: they run through open_clip ({error}). "
            "Install it: pip install 'portrayal[open_clip]'."
        ) from None
    return open_clip


def _array(embeddings: Any) -> np.ndarray:
    return embeddings.float().cpu().numpy()

"""Two-tower models other than CLIP through transformers itself, pictures prepared with Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.systems.encoders.devices import choose_device, place
from portrayal.systems.encoders.images.device_cuts import on_device
from portrayal.systems.encoders.images.pictures import Preparation, folder_preparation
from portrayal.systems.encoders.towers import Towers


class TransformersPair(Towers):
    """A model with get_text_features and get_image_features."""

    takes_tensors = True

    def __init__(self, path: Path, device: str = "cpu", precision: str = "float32") -> None:
        transformers = import_transformers()
        model = load_model(transformers, path)
        if not hasattr(model, "get_image_features") or not hasattr(model, "get_text_features"):
            raise PortrayalError(
                f"{type(model).__name__} has no text and image towers. Use image_encoder for pictures."
            )
        self.device = choose_device(device)
        self.model, self.dtype = place(model, self.device, precision)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(str(path), local_files_only=True)
        self.preparation: Preparation = folder_preparation(path, model.config.vision_config.image_size)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts, padded as the tokenizer says."""
        import torch

        most = self.model.config.text_config.max_position_embeddings
        # SigLIP was trained with every text padded to its full length; others pad to the longest.
        padding = "max_length" if "siglip" in self.model.config.model_type else True
        given = self.tokenizer(list(texts), padding=padding, max_length=most, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return as_array(self.model.get_text_features(**given))

    def pictures(self, pixels: Any) -> np.ndarray:
        """Encode pictures."""
        import torch

        ready = on_device(pixels, self.preparation, self.device, self.dtype)
        with torch.inference_mode():
            return as_array(self.model.get_image_features(pixel_values=ready))


def import_transformers() -> Any:
    """Import transformers, and the torch it runs on."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtra("a transformers encoder", "torch") from None
    return transformers


def load_model(transformers: Any, path: Path) -> Any:
    """Load a model from a folder; nothing is fetched and no code of the folder is run."""
    try:
        return transformers.AutoModel.from_pretrained(str(path), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise PortrayalError(f"{path} is no transformers model: {str(error).splitlines()[0][:160]}") from None


def as_array(output: Any) -> np.ndarray:
    """Return the embeddings of a tower; newer versions wrap them in an output with `pooler_output`."""
    tensor = output if hasattr(output, "float") else output.pooler_output
    return tensor.float().cpu().numpy()

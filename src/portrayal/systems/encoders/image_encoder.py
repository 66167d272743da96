"""Encoders of pictures alone, for image-image tests: `use = "image_encoder"`.

`path` is an ONNX file or a transformers folder of a vision model. An ONNX file says nothing of its preparation, so
`side`, `mean` and `deviation` may be given; the embedding is the output named by `output`, else the first with two
axes, else the first token of the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.systems.encoders.onnx_clip import open_session, run_rows
from portrayal.systems.encoders.pictures import CLIP_DEVIATION, CLIP_MEAN, Preparation, folder_preparation, on_device
from portrayal.systems.encoders.towers import TowerEncoder, Towers


class ImageSettings(ModelSettings):
    """Parameters of a vision model."""

    side: int = Field(default=224, ge=8)
    mean: tuple[float, float, float] = CLIP_MEAN
    deviation: tuple[float, float, float] = CLIP_DEVIATION
    output: str | None = None
    batch: int = Field(default=64, ge=1)
    cache: str | None = None


@dataclass
class ImageEncoder(TowerEncoder):
    """A vision model, loaded when first asked."""

    own: ImageSettings = field(default_factory=lambda: ImageSettings(path=""))
    path: Path = field(default_factory=Path)

    def load(self) -> Towers:
        """Load the ONNX file or the folder."""
        return OnnxPictures(self.path, self.own) if self.path.suffix == ".onnx" else FolderPictures(self.path, self.own)


class OnnxPictures(Towers):
    """A vision model on ONNX Runtime."""

    def __init__(self, path: Path, own: ImageSettings) -> None:
        self.session, self.output = open_session(path), own.output
        self.preparation = Preparation(own.side, mean=own.mean, deviation=own.deviation)

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        ready = self.preparation.normal(pixels)
        return run_rows(self.session, {self.session.get_inputs()[0].name: ready}, self.output)


class FolderPictures(Towers):
    """Vision model of transformers: its pooled output, or its first token."""

    def __init__(self, path: Path, own: ImageSettings) -> None:
        from portrayal.systems.encoders.pairs import choose_device, import_transformers, load_model

        self.device = choose_device(own.device)
        self.model: Any = load_model(import_transformers(), path).to(self.device)
        self.preparation = folder_preparation(path, getattr(self.model.config, "image_size", own.side))

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        import torch

        with torch.inference_mode():
            output = self.model(pixel_values=on_device(pixels, self.preparation, self.device))
        pooled = getattr(output, "pooler_output", None)
        pooled = output.last_hidden_state[:, 0] if pooled is None else pooled.flatten(1)
        return pooled.float().cpu().numpy()


def open_system(settings: SystemSettings, folder: Path) -> ImageEncoder:
    """Open a vision model; nothing is loaded before the first question."""
    own = settings.read(ImageSettings)
    path = find_model(own.path, folder, own.download)
    model = fingerprint(path)
    return ImageEncoder(
        **settings.fields(f"image_encoder:{own.path}:{model}"),
        batch=own.batch,
        model_hash=f"{model}:{own.side}:{own.output or ''}",
        cache=folder / own.cache if own.cache else None,
        own=own,
        path=path,
    )

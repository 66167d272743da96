"""Encoders of pictures alone, for image-image tests: `use = "image_encoder"`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.systems.encoders.onnx_clip import OnnxPictures, PictureSettings
from portrayal.systems.encoders.towers import TowerEncoder, Towers


class ImageSettings(ModelSettings, PictureSettings):
    """Parameters of a vision model."""

    output: str | None = None
    batch: int = Field(default=64, ge=1)


def open_system(settings: SystemSettings, folder: Path) -> TowerEncoder:
    """Open an ONNX file or a transformers folder; nothing is loaded before the first question."""
    own = settings.read(ImageSettings)
    path = find_model(own.path, folder, own.download)
    model = fingerprint(path)

    def load() -> Towers:
        if path.suffix == ".onnx":
            return OnnxPictures(path, own, own.output)
        from portrayal.systems.encoders.pairs import open_vision

        return open_vision(path, own.side, own.device)

    return TowerEncoder(
        **settings.fields(f"image_encoder:{own.path}:{model}"),
        batch=own.batch,
        model_hash=f"{model}:{own.side}:{own.output or ''}",
        cache=folder / own.cache if own.cache else None,
        load=load,
    )

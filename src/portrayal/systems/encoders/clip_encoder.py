"""CLIP and models of its form as a system: `use = "clip"`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.systems.encoders.towers import TowerEncoder, Towers


class ClipSettings(ModelSettings):
    """Parameters of an image-text encoder."""

    architecture: str | None = None
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    batch: int = Field(default=64, ge=1)
    cache: str | None = None  # a file; embeddings are then kept between runs
    decoders: int = Field(default=0, ge=0)  # processes that decode pictures; worth it for thousands of JPEGs
    decode: Literal["exact", "fast"] = "exact"  # of earlier studies: every picture is decoded exactly


def open_system(settings: SystemSettings, folder: Path) -> TowerEncoder:
    """Open a CLIP by path or name; nothing is loaded before the first question."""
    own = settings.read(ClipSettings)
    path = find_model(own.path, folder, own.download)
    model = fingerprint(path)

    def load() -> Towers:
        from portrayal.systems.encoders.pairs import open_pair

        return open_pair(path, own.architecture, own.device, own.precision)

    return TowerEncoder(
        **settings.fields(f"clip:{own.path}:{model}"),
        batch=own.batch,
        model_hash=f"{model}:{own.architecture or ''}:{own.precision}",
        cache=folder / own.cache if own.cache else None,
        decoders=own.decoders,
        load=load,
    )

"""CLIP and models of its form as a system: `use = "clip"`.

    [[systems]]
    name = "CLIP ViT-B/32"
    use = "clip"
    parameters = { path = "models/clip-vit-base-patch32" }

`path` is a transformers folder, an OpenCLIP folder (open_clip_config.json), a file of weights (then `architecture` is
needed, such as 'ViT-B/32'), or a name on the Hugging Face hub, which is looked for in the local cache and fetched only with
`download = true`. Networks are those of transformers; CLIP's ResNets and OpenCLIP's other towers (ConvNeXt, CoCa, ...) are those
of the package open_clip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass
class ClipEncoder(TowerEncoder):
    """A CLIP, loaded when first asked."""

    own: ClipSettings = field(default_factory=lambda: ClipSettings(path=""))
    path: Path = field(default_factory=Path)

    def load(self) -> Towers:
        """Load network, tokens and preparation."""
        from portrayal.systems.encoders.pairs import open_pair

        return open_pair(self.path, self.own.architecture, self.own.device, self.own.precision)


def open_system(settings: SystemSettings, folder: Path) -> ClipEncoder:
    """Open a CLIP by path or name; nothing is loaded before the first question."""
    own = settings.read(ClipSettings)
    path = find_model(own.path, folder, own.download)
    model = fingerprint(path)
    return ClipEncoder(
        **settings.fields(f"clip:{own.path}:{model}"),
        batch=own.batch,
        model_hash=f"{model}:{own.architecture or ''}:{own.precision}",
        cache=folder / own.cache if own.cache else None,
        decoders=own.decoders,
        own=own,
        path=path,
    )

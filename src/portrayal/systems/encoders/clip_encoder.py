"""CLIP and models of its form as a system: `use = "clip"`.

    [[systems]]
    name = "CLIP ViT-B/32"
    use = "clip"
    parameters = { path = "models/clip-vit-base-patch32" }

`path` is a transformers folder, an OpenCLIP folder (open_clip_config.json), a file of weights (then `architecture` is
needed, such as 'ViT-B/32'), or a name on the Hugging Face hub, which is looked for in the local cache and fetched only with
`download = true`. A transformers folder of another two-tower model (SigLIP, ALIGN, ...) runs through transformers itself, an
OpenCLIP folder with other towers (ConvNeXt, CoCa, ...) through OpenCLIP itself where that is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from portrayal.errors import MissingExtra
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.clip_towers import ClipTowers
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.systems.encoders.towers import TowerEncoder, Towers
from portrayal.tables import read_json


class ClipSettings(ModelSettings):
    """Parameters of an image-text encoder."""

    architecture: str | None = None
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    batch: int = Field(default=64, ge=1)
    cache: str | None = None  # a file; embeddings are then kept between runs
    decoders: int = Field(default=0, ge=0)  # processes that decode pictures; worth it for thousands of JPEGs
    decode: Literal["exact", "fast"] = "exact"  # fast: JPEGs on the GPU, where torchvision can; see docs/encoders.md


@dataclass
class ClipEncoder(TowerEncoder):
    """A CLIP, loaded when first asked."""

    own: ClipSettings = field(default_factory=lambda: ClipSettings(path=""))
    path: Path = field(default_factory=Path)

    def load(self) -> Towers:
        """Load network, tokens and preparation."""
        try:
            import torch  # noqa: F401
        except ImportError:
            raise MissingExtra("an image-text encoder", "torch") from None
        kind = model_type(self.path)
        if kind not in (None, "clip"):
            from portrayal.systems.encoders.transformers_pair import TransformersPair

            return TransformersPair(self.path, self.own.device, self.own.precision)
        if has_other_towers(self.path):
            from portrayal.systems.encoders.open_clip_pair import OpenClipPair

            return OpenClipPair(self.path, self.own.device, self.own.precision)
        return ClipTowers.open(self.path, self.own.architecture, self.own.device, self.own.precision)


def has_other_towers(path: Path) -> bool:
    """Tell whether an OpenCLIP folder's config asks for towers that are not CLIP's own (ConvNeXt, SigLIP, CoCa ...)."""
    from portrayal.systems.encoders.clip.checkpoint import OPEN_CLIP, foreign_tower

    config = path / OPEN_CLIP
    return config.is_file() and bool(foreign_tower(read_json(config, "a config").get("model_cfg", {})))


def model_type(path: Path) -> str | None:
    """Return the type a transformers folder names; None for other folders and files."""
    config = path / "config.json"
    if not config.is_file() or (path / "open_clip_config.json").is_file():
        return None
    return read_json(config, "a config").get("model_type")


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
        decode=own.decode,
        own=own,
        path=path,
    )

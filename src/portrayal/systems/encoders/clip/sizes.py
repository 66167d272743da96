"""The architectures of CLIP by name, and the shape of any CLIP read off its weights.

References
----------
.. [1] Radford et al. (2021), Learning transferable visual models from natural language supervision, ICML.
.. [2] Ilharco et al. (2021), OpenCLIP, doi 10.5281/zenodo.5143773.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.errors import PortrayalError, check_name


@dataclass(frozen=True)
class Size:
    """The shape of one CLIP. `vision_layers` is one number for a transformer, four for a ResNet."""

    embedding: int
    image_size: int
    vision_layers: int | tuple[int, int, int, int]
    vision_width: int
    patch: int | None
    text_width: int
    text_heads: int
    text_layers: int
    context: int = 77
    vocabulary: int = 49408
    gelu: str = "quick"  # 'quick' (x sigmoid(1.702 x)) or 'exact'
    vision_heads: int | None = None
    vision_hidden: int | None = None  # width between a block's two linear maps; None: four times the tower's
    text_hidden: int | None = None
    vision_scaled: bool = False  # each block's parts are scaled by a learned factor a channel
    text_scaled: bool = False
    norm_first: bool = True  # a layer norm before the vision transformer's first block
    pool: str = "token"  # 'token' (the class token), 'average' (of normed patches), 'average, then norm'

    @property
    def is_resnet(self) -> bool:
        """Whether pictures go through a ResNet."""
        return not isinstance(self.vision_layers, int)

    @property
    def heads(self) -> int:
        """Attention heads of the vision tower: 64 channels each, for a ResNet in its last pooling."""
        if self.vision_heads:
            return self.vision_heads
        return self.vision_width * 32 // 64 if self.is_resnet else self.vision_width // 64


SIZES: dict[str, Size] = {
    "ViT-B/32": Size(512, 224, 12, 768, 32, 512, 8, 12),
    "ViT-B/16": Size(512, 224, 12, 768, 16, 512, 8, 12),
    "ViT-L/14": Size(768, 224, 24, 1024, 14, 768, 12, 12),
    "ViT-L/14@336px": Size(768, 336, 24, 1024, 14, 768, 12, 12),
    "RN50": Size(1024, 224, (3, 4, 6, 3), 64, None, 512, 8, 12),
    "RN101": Size(512, 224, (3, 4, 23, 3), 64, None, 512, 8, 12),
    "RN50x4": Size(640, 288, (4, 6, 10, 6), 80, None, 640, 10, 12),
    "RN50x16": Size(768, 384, (6, 8, 18, 8), 96, None, 768, 12, 12),
    "RN50x64": Size(1024, 448, (3, 15, 36, 10), 128, None, 1024, 16, 12),
    # OpenCLIP's names: without -quickgelu its transformers use the exact GELU.
    "ViT-B-32-quickgelu": Size(512, 224, 12, 768, 32, 512, 8, 12),
    "ViT-B-32": Size(512, 224, 12, 768, 32, 512, 8, 12, gelu="exact"),
    "ViT-B-16": Size(512, 224, 12, 768, 16, 512, 8, 12, gelu="exact"),
    "ViT-L-14": Size(768, 224, 24, 1024, 14, 768, 12, 12, gelu="exact"),
    "ViT-H-14": Size(1024, 224, 32, 1280, 14, 1024, 16, 24, gelu="exact", vision_heads=16),
    "ViT-g-14": Size(1024, 224, 40, 1408, 14, 1024, 16, 24, gelu="exact", vision_heads=16, vision_hidden=6144),
    "ViT-bigG-14": Size(1280, 224, 48, 1664, 14, 1280, 20, 32, gelu="exact", vision_heads=16, vision_hidden=8192),
}


def get_size(name: str) -> Size:
    """Return an architecture by name."""
    check_name(name, SIZES, "CLIP")
    return SIZES[name]


def size_of_weights(
    shapes: Mapping[str, Sequence[int]], gelu: str, heads: int | None = None, pool: str = "token"
) -> Size:
    """Read the shape of a CLIP off its weights, named as OpenAI and OpenCLIP name them."""
    try:
        vision = _vit(shapes) if "visual.proj" in shapes else _resnet(shapes)
        text_width = shapes["ln_final.weight"][0]
        return Size(
            embedding=shapes["text_projection"][1],
            text_width=text_width,
            text_heads=text_width // 64,
            text_layers=_count(shapes, "transformer.resblocks."),
            context=shapes["positional_embedding"][0],
            vocabulary=shapes["token_embedding.weight"][0],
            gelu=gelu,
            vision_heads=heads,
            pool=pool,
            text_hidden=_hidden(shapes, "transformer."),
            text_scaled="transformer.resblocks.0.ls_1.gamma" in shapes,
            **vision,
        )
    except KeyError as error:
        raise PortrayalError(
            f"the weights lack {error.args[0]!r}. Expected those of a CLIP as OpenAI or OpenCLIP name them."
        ) from None


def _vit(shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    width, _, patch, _ = shapes["visual.conv1.weight"]
    side = round((shapes["visual.positional_embedding"][0] - 1) ** 0.5)
    layers = _count(shapes, "visual.transformer.resblocks.")
    return {
        "vision_layers": layers,
        "vision_width": width,
        "patch": patch,
        "image_size": patch * side,
        "vision_hidden": _hidden(shapes, "visual.transformer."),
        "vision_scaled": "visual.transformer.resblocks.0.ls_1.gamma" in shapes,
        "norm_first": "visual.ln_pre.weight" in shapes,
    }


def _hidden(shapes: Mapping[str, Sequence[int]], tower: str) -> int | None:
    """Return the width between the linear maps of a tower's blocks where it is not four times the tower's."""
    hidden, width = shapes[f"{tower}resblocks.0.mlp.c_fc.weight"]
    return None if hidden == 4 * width else hidden


def _resnet(shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    layers = tuple(_count(shapes, f"visual.layer{number}.") for number in (1, 2, 3, 4))
    side = round((shapes["visual.attnpool.positional_embedding"][0] - 1) ** 0.5)
    width = shapes["visual.layer1.0.conv1.weight"][0]
    return {"vision_layers": layers, "vision_width": width, "patch": None, "image_size": side * 32}


def _count(shapes: Mapping[str, Sequence[int]], prefix: str) -> int:
    """Count the numbered blocks under a prefix."""
    return len({name[len(prefix) :].partition(".")[0] for name in shapes if name.startswith(prefix)})

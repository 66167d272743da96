"""Real checkpoints of CLIP into the network: OpenCLIP's and OpenAI's names, or a transformers folder.

Weights do not say which GELU they were trained with, and the wrong one gives plausible, wrong embeddings. So it is never
guessed: a folder's config says it, a bare file needs the architecture's name, and two that contradict are an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from portrayal.errors import PortrayalError
from portrayal.systems.encoders.clip.network import Clip
from portrayal.systems.encoders.clip.sizes import Size, get_size, size_of_weights
from portrayal.systems.encoders.clip.torchscript import is_torchscript, read_torchscript
from portrayal.tables import read_json

WEIGHTS = ("open_clip_model.safetensors", "model.safetensors", "open_clip_pytorch_model.bin", "pytorch_model.bin")
OPEN_CLIP = "open_clip_config.json"
# What a config of OpenCLIP may ask for that CLIP's own towers do not have, and the values that ask for nothing.
FOREIGN: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "vision_cfg": {
        "timm_model_name": (),
        "attentional_pool": (),
        "block_type": ("default",),
        "qk_norm": (),
        "pool_type": ("tok", "avg"),
    },
    "text_cfg": {
        "hf_model_name": (),
        "hf_tokenizer_name": (),
        "embed_cls": (),
        "no_causal_mask": (),
        "proj_bias": (),
        "proj_type": ("linear",),
        "block_type": ("default",),
        "qk_norm": (),
        "pool_type": ("argmax",),
    },
}
RUN_ELSEWHERE = "Saliency runs on CLIP's own towers only."
GELU_NAMES = {"quick_gelu": "quick", "gelu": "exact"}


@dataclass(frozen=True)
class Declared:
    """What a folder's config says of its weights."""

    gelu: str | None = None
    vision_heads: int | None = None
    text_heads: int | None = None
    pool: str = "token"


def load_clip(path: Path, architecture: str | None = None) -> Clip:
    """Load a checkpoint."""
    file = weights_file(path)
    declared = read_declared(path if path.is_dir() else path.parent, file)
    weights = as_openai(read_weights(file))
    size = _size(weights, declared, architecture, file)
    with torch.device("meta"):
        network = Clip(size)
    try:
        network.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        raise PortrayalError(f"{file.name} does not fit: {str(error).splitlines()[1].strip()}") from None
    return network.float().eval()


def weights_file(path: Path) -> Path:
    """Return the file of weights: the path itself, or the one its folder holds."""
    if path.is_file():
        return path
    for name in WEIGHTS:
        if (path / name).is_file():
            return path / name
    raise PortrayalError(f"no weights at {path}. Expected a file, or a folder with one of {', '.join(WEIGHTS)}.")


def read_weights(file: Path) -> dict[str, Tensor]:
    """Read the tensors of a file; pickles and TorchScript are read as weights only, so that they can run nothing."""
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(str(file))
        if is_torchscript(file):
            return read_torchscript(file)
        found = torch.load(file, map_location="cpu", weights_only=True)
    except PortrayalError:
        raise
    except Exception as error:  # each library raises its own kind for a damaged file
        words = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise PortrayalError(f"{file.name} cannot be read as weights: {words}") from None
    inner = found.get("state_dict", found) if isinstance(found, Mapping) else {}
    return {name.removeprefix("module."): value for name, value in inner.items() if isinstance(value, Tensor)}


def read_declared(folder: Path, file: Path) -> Declared:
    """Read what the folder's config says."""
    if (folder / OPEN_CLIP).is_file():
        return _open_clip_config(read_json(folder / OPEN_CLIP, "a config").get("model_cfg", {}))
    if file.parent == folder and (folder / "config.json").is_file():
        return _transformers_config(read_json(folder / "config.json", "a config"))
    return Declared(gelu=_metadata(file).get("gelu"))


def _open_clip_config(given: Mapping[str, Any]) -> Declared:
    other = foreign_tower(given)
    if other:
        raise PortrayalError(f"{OPEN_CLIP} names {other}, which is no tower of CLIP. {RUN_ELSEWHERE}")
    vision, text = given.get("vision_cfg", {}), given.get("text_cfg", {})
    heads = vision.get("width", 0) // vision["head_width"] if vision.get("head_width") else None
    after = vision.get("final_ln_after_pool")
    pool = ("average, then norm" if after else "average") if vision.get("pool_type") == "avg" else "token"
    return Declared("quick" if given.get("quick_gelu") else "exact", heads, text.get("heads"), pool)


def foreign_tower(given: Mapping[str, Any]) -> str:
    """Return what of an OpenCLIP config asks for another kind of tower than CLIP's; nothing where all of it is CLIP's."""
    for part, foreign in FOREIGN.items():
        config = given.get(part) or {}
        for name, ours in foreign.items():
            if config.get(name) and config[name] not in ours:
                return f"{part}.{name} = {config[name]!r}"
    return "multimodal_cfg" if given.get("multimodal_cfg") else ""


def _transformers_config(given: Mapping[str, Any]) -> Declared:
    text, vision = given.get("text_config") or {}, given.get("vision_config") or {}
    acts = {part.get("hidden_act", "quick_gelu") for part in (text, vision)}
    if len(acts) > 1 or not acts <= set(GELU_NAMES):
        raise PortrayalError(f"config.json names hidden_act {sorted(acts)}. Known, and one for both: quick_gelu, gelu.")
    heads = vision.get("num_attention_heads", 12), text.get("num_attention_heads", 8)
    return Declared(GELU_NAMES[acts.pop()], *heads)


def _metadata(file: Path) -> dict[str, str]:
    if file.suffix != ".safetensors":
        return {}
    from safetensors import safe_open

    with safe_open(str(file), framework="pt") as handle:
        return handle.metadata() or {}


def _size(weights: Mapping[str, Tensor], declared: Declared, architecture: str | None, file: Path) -> Size:
    named = get_size(architecture) if architecture else None
    if declared.gelu and named and declared.gelu != named.gelu:
        raise PortrayalError(
            f"{file.name} was trained with the {declared.gelu} GELU, {architecture} uses the {named.gelu} one. Its "
            "embeddings would be wrong. Name the matching architecture (OpenCLIP's end in -quickgelu)."
        )
    gelu = declared.gelu or (named.gelu if named else None)
    if gelu is None:
        raise PortrayalError(
            f"{file.name} does not say which GELU it was trained with. Name its architecture, such as "
            "'ViT-B/32' (OpenAI) or 'ViT-B-32-quickgelu' (OpenCLIP)."
        )
    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    heads = declared.vision_heads or (named.vision_heads if named else None)
    size = size_of_weights(shapes, gelu, heads, declared.pool)
    if declared.text_heads:
        size = replace(size, text_heads=declared.text_heads)
    if named and not _same_shape(size, named):
        raise PortrayalError(f"{file.name} is not a {architecture}: its weights have another shape.")
    return size


def _same_shape(size: Size, named: Size) -> bool:
    fields = ("embedding", "vision_layers", "vision_width", "patch", "text_width", "text_layers")
    return all(getattr(size, name) == getattr(named, name) for name in fields)


def as_openai(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights under OpenAI's names; those that have them stay as they are."""
    if "text_model.final_layer_norm.weight" not in weights:
        # Models whose text tower can be exchanged keep it under `text.`.
        plain = {name.removeprefix("text."): value for name, value in weights.items()}
        return {name: value for name, value in plain.items() if name.rpartition(".")[2] not in EXTRAS}
    found: dict[str, Tensor] = {}
    for name, value in weights.items():
        if name.endswith("position_ids") or re.search(r"\.[kv]_proj\.", name):
            continue
        ours = _rename(name)
        if ".q_proj." in name:
            value = torch.cat([weights[name.replace("q_proj", f"{part}_proj")] for part in "qkv"])
        found[ours] = value.T.contiguous() if ours in ("text_projection", "visual.proj") else value
    return found


EXTRAS = ("input_resolution", "context_length", "vocab_size", "attn_mask", "logit_bias")
RENAMES = [
    (r"^text_model\.embeddings\.token_embedding\.", "token_embedding."),
    (r"^text_model\.embeddings\.position_embedding\.weight$", "positional_embedding"),
    (r"^text_model\.final_layer_norm\.", "ln_final."),
    (r"^text_model\.encoder\.layers\.", "transformer.resblocks."),
    (r"^text_projection\.weight$", "text_projection"),
    (r"^vision_model\.embeddings\.class_embedding$", "visual.class_embedding"),
    (r"^vision_model\.embeddings\.patch_embedding\.", "visual.conv1."),
    (r"^vision_model\.embeddings\.position_embedding\.weight$", "visual.positional_embedding"),
    (r"^vision_model\.pre_layrnorm\.", "visual.ln_pre."),
    (r"^vision_model\.post_layernorm\.", "visual.ln_post."),
    (r"^vision_model\.encoder\.layers\.", "visual.transformer.resblocks."),
    (r"^visual_projection\.weight$", "visual.proj"),
    (r"\.self_attn\.q_proj\.", ".attn.in_proj_"),
    (r"\.self_attn\.out_proj\.", ".attn.out_proj."),
    (r"\.layer_norm([12])\.", r".ln_\1."),
    (r"\.mlp\.fc1\.", ".mlp.c_fc."),
    (r"\.mlp\.fc2\.", ".mlp.c_proj."),
]


def _rename(name: str) -> str:
    for pattern, ours in RENAMES:
        name = re.sub(pattern, ours, name)
    return name

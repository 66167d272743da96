"""Weights under OpenAI's and OpenCLIP's names, for transformers' CLIP.

Radford et al. (2021), Learning transferable visual models from natural language supervision; Ilharco et al. (2021), OpenCLIP.
Weights do not say which GELU they were trained with, and the wrong one gives plausible, wrong embeddings. So it is never
guessed: a folder's config says it, a bare file needs the architecture's name, and two that contradict are an error.
"""

from __future__ import annotations

import re
import tomllib
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from portrayal.errors import PortrayalError, check_name
from portrayal.systems.encoders.pictures import OPEN_CLIP
from portrayal.tables import read_json

Weights: TypeAlias = dict[str, Any]  # tensors by name

FILES = ("open_clip_model.safetensors", "model.safetensors", "open_clip_pytorch_model.bin", "pytorch_model.bin")
GELUS = {"quick_gelu": "quick", "gelu": "exact"}
# What a config of OpenCLIP may say of a model that transformers' CLIP is too; anything else is for OpenCLIP's own classes.
COMMON: Mapping[str, set[str]] = {
    "model_cfg": {"embed_dim", "vision_cfg", "text_cfg", "quick_gelu", "custom_text"},
    "vision_cfg": {"image_size", "layers", "width", "head_width", "patch_size", "mlp_ratio"},
    "text_cfg": {"context_length", "vocab_size", "width", "heads", "layers", "mlp_ratio"},
}


class Shape(NamedTuple):
    """Shape and GELU of a CLIP, of a transformer or a ResNet of four stages."""

    embedding: int
    layers: int | list[int]
    width: int
    patch: int  # 0 of a ResNet
    text_width: int
    text_layers: int
    gelu: str = "quick_gelu"
    heads: int = 0  # of the vision tower; 0: one for 64 channels


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ARCHITECTURES = {name: Shape(*row) for name, row in _TABLES["architectures"].items()}
EXTRAS = ("input_resolution", "context_length", "vocab_size", "attn_mask", "logit_bias")  # no weights of a tower


def build_clip(weights: Weights, shape: Shape, path: Path) -> Any:
    """Return transformers' CLIP with the weights of a file or an OpenCLIP folder."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    try:
        with torch.device("meta"):
            model = CLIPModel(CLIPConfig(**_config(weights, shape, model_config(path))))
        model.load_state_dict(_renamed(weights), assign=True)
    except Exception as error:  # transformers refuses a config, or torch its weights
        words = " ".join(line.strip() for line in str(error).splitlines()[1:2]) or type(error).__name__
        raise PortrayalError(f"{path.name} does not fit: {words}") from None
    for embeddings in (model.text_model.embeddings, model.vision_model.embeddings):
        positions = embeddings.position_embedding.num_embeddings  # no weights, so still without numbers
        embeddings.register_buffer("position_ids", torch.arange(positions)[None], persistent=False)
    return model.float().eval()


def read_clip(path: Path, architecture: str | None = None) -> tuple[Weights, Shape]:
    """Read weights under OpenAI's names, their shape and their GELU."""
    file = weights_file(path)
    weights = {
        name.removeprefix("text."): value  # models whose text tower can be exchanged keep it there
        for name, value in read_weights(file).items()
        if name.rpartition(".")[2] not in EXTRAS
    }
    config = model_config(path)
    gelu = ("quick_gelu" if config.get("quick_gelu") else "gelu") if config else _metadata_gelu(file)
    named = check_gelu(architecture, gelu, file.name)
    shape = _shape(weights)
    if named and shape[:6] != named[:6]:
        raise PortrayalError(f"{file.name} is not a {architecture}: its weights have another shape.")
    if named is None and gelu is None:
        raise PortrayalError(
            f"{file.name} does not say which GELU it was trained with. Name its architecture, such as "
            "'ViT-B/32' (OpenAI) or 'ViT-B-32-quickgelu' (OpenCLIP)."
        )
    return weights, named or shape._replace(gelu=str(gelu))


def check_gelu(architecture: str | None, gelu: str | None, file: str) -> Shape | None:
    """Return the shape of an architecture, refusing one with another GELU than the file's."""
    if architecture is None:
        return None
    check_name(architecture, ARCHITECTURES, "CLIP")
    named = ARCHITECTURES[architecture]
    if gelu and gelu != named.gelu:
        raise PortrayalError(
            f"{file} was trained with the {GELUS.get(gelu, gelu)} GELU, {architecture} uses the {GELUS[named.gelu]} one. Its "
            "embeddings would be wrong. Name the matching architecture (OpenCLIP's end in -quickgelu)."
        )
    return named


def weights_file(path: Path) -> Path:
    """Return the file of weights: the path itself, or the one its folder holds."""
    file = next((file for file in (path, *(path / name for name in FILES)) if file.is_file()), None)
    if file is None:
        raise PortrayalError(f"no weights at {path}. Expected a file, or a folder with one of {', '.join(FILES)}.")
    return file


def read_weights(file: Path) -> Weights:
    """Read the tensors of a file, running nothing that a pickle holds."""
    import torch

    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(str(file))
        if _is_torchscript(file):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's own deprecation
                return dict(torch.jit.load(str(file), map_location="cpu").state_dict())
        content = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # each library raises its own kind for a damaged file
        words = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise PortrayalError(f"{file.name} cannot be read as weights: {words}") from None
    inner = content.get("state_dict", content) if isinstance(content, Mapping) else {}
    return {name.removeprefix("module."): value for name, value in inner.items() if isinstance(value, torch.Tensor)}


def _is_torchscript(file: Path) -> bool:
    """Return True for the form in which OpenAI published its models."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def needs_open_clip(path: Path) -> bool:
    """Return True where an OpenCLIP folder asks for towers that transformers' CLIP does not have."""
    config = model_config(path)
    parts = {"model_cfg": config, **{part: config.get(part) or {} for part in ("vision_cfg", "text_cfg")}}
    unknown = [name for part, known in COMMON.items() for name in parts[part].keys() - known if parts[part][name]]
    return bool(unknown) or not isinstance(parts["vision_cfg"].get("layers", 12), int)


def has_common_text(path: Path) -> bool:
    """Return True where the text tower of an OpenCLIP folder reads CLIP's tokens."""
    text = model_config(path).get("text_cfg") or {}
    return not any(text[name] for name in text.keys() - COMMON["text_cfg"] - {"ls_init_value"})


def model_config(path: Path) -> dict[str, Any]:
    """Return what an OpenCLIP folder, or that of a file, says of its model."""
    file = (path if path.is_dir() else path.parent) / OPEN_CLIP
    return read_json(file, "a config").get("model_cfg", {}) if file.is_file() else {}


def _metadata_gelu(file: Path) -> str | None:
    if file.suffix != ".safetensors":
        return None
    from safetensors import safe_open

    with safe_open(str(file), framework="pt") as handle:
        declared = (handle.metadata() or {}).get("gelu")
    return next((theirs for theirs, ours in GELUS.items() if ours == declared), None)


def _shape(weights: Weights) -> Shape:
    try:
        if "visual.proj" in weights:
            width, _, patch, _ = weights["visual.conv1.weight"].shape
            layers: Any = _blocks(weights, "visual.transformer.resblocks.")
        else:
            width, patch = weights["visual.layer1.0.conv1.weight"].shape[0], 0
            layers = [_blocks(weights, f"visual.layer{stage}.") for stage in (1, 2, 3, 4)]
        text = weights["ln_final.weight"].shape[0], _blocks(weights, "transformer.resblocks.")
        return Shape(weights["text_projection"].shape[1], layers, width, patch, *text)
    except KeyError as error:
        raise PortrayalError(
            f"the weights lack {error.args[0]!r}. Expected those of a CLIP as OpenAI or OpenCLIP name them."
        ) from None


def _blocks(weights: Weights, prefix: str) -> int:
    return len({name[len(prefix) :].partition(".")[0] for name in weights if name.startswith(prefix)})


def _config(weights: Weights, shape: Shape, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of transformers' CLIP for weights of a shape."""
    vision, text = config.get("vision_cfg", {}), config.get("text_cfg", {})
    heads = shape.width // vision["head_width"] if vision.get("head_width") else shape.heads or shape.width // 64
    positions = weights["visual.positional_embedding"].shape[0] - 1
    common = {"hidden_act": shape.gelu, "projection_dim": shape.embedding}
    return {
        "projection_dim": shape.embedding,
        "vision_config": {
            **common,
            "hidden_size": shape.width,
            "intermediate_size": weights["visual.transformer.resblocks.0.mlp.c_fc.weight"].shape[0],
            "num_hidden_layers": shape.layers,
            "num_attention_heads": heads,
            "patch_size": shape.patch,
            "image_size": shape.patch * round(positions**0.5),
        },
        "text_config": {
            **common,
            "hidden_size": shape.text_width,
            "intermediate_size": weights["transformer.resblocks.0.mlp.c_fc.weight"].shape[0],
            "num_hidden_layers": shape.text_layers,
            "num_attention_heads": text.get("heads") or shape.text_width // 64,
            "vocab_size": weights["token_embedding.weight"].shape[0],
            "max_position_embeddings": weights["positional_embedding"].shape[0],
            "eos_token_id": 2,  # transformers' sign that a text ends at its highest id
        },
    }


def _renamed(weights: Weights) -> Weights:
    """Return weights under the names of transformers."""
    renamed: Weights = {}
    for ours, value in weights.items():
        name = ours
        for pattern, theirs in _TABLES["renames"].items():
            name = re.sub(pattern, theirs, name)
        if "{}" in name:
            renamed |= {name.format(part): rows for part, rows in zip("qkv", value.chunk(3), strict=True)}
        else:
            renamed[name] = value.T.contiguous() if ours in ("text_projection", "visual.proj") else value
    return renamed

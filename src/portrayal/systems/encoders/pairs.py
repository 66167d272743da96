"""Models of torch with two towers, through transformers or open_clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.systems.encoders.clip_tokens import Tokens, folder_tokens
from portrayal.systems.encoders.clip_weights import (
    build_clip,
    check_gelu,
    has_common_text,
    model_config,
    needs_open_clip,
    read_clip,
)
from portrayal.systems.encoders.pictures import OPEN_CLIP, Preparation, folder_preparation, on_device
from portrayal.systems.encoders.towers import Towers
from portrayal.tables import read_json


class Pair(Towers):
    """Two towers of torch on a device; `words` turns texts into what the model takes."""

    def __init__(
        self, model: Any, words: Callable[[Sequence[str]], Any], preparation: Preparation, device: str, precision: str
    ) -> None:
        import torch

        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        # A processor computes in single precision with the rounded weights: few have arithmetic for halves, and torch's way
        # around takes hundreds of times as long. So a model gives the same embeddings on every processor, too.
        rounded = getattr(torch, precision)
        self.dtype = torch.float32 if device.startswith("cpu") else rounded
        self.model = model.to(device, rounded).to(device, self.dtype).eval()
        self.device, self.words, self.preparation = device, words, preparation

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """Return the embeddings of texts, a tensor."""
        raise NotImplementedError

    def encode_pictures(self, ready: Any) -> Any:
        """Return the embeddings of prepared pictures, a tensor."""
        raise NotImplementedError

    def last_layer(self) -> Any:
        """Return the last layer of CLIP's vision tower that keeps the places of a picture."""
        raise PortrayalError(f"{type(self.model).__name__} is no CLIP. Saliency runs on CLIP's own towers only.")

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts."""
        import torch

        with torch.inference_mode():
            return self.encode_texts(texts).float().cpu().numpy()

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        import torch

        with torch.inference_mode():
            ready = on_device(pixels, self.preparation, self.device).to(self.dtype)
            return self.encode_pictures(ready).float().cpu().numpy()


class TransformersPair(Pair):
    """A model of transformers with get_text_features and get_image_features."""

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """Encode texts."""
        inputs = {name: ids.to(self.device) for name, ids in self.words(texts).items()}
        return _pooled(self.model.get_text_features(**inputs))

    def encode_pictures(self, ready: Any) -> Any:
        """Encode prepared pictures."""
        return _pooled(self.model.get_image_features(pixel_values=ready))

    def last_layer(self) -> Any:
        """Return the tokens that the last block attends to."""
        if self.model.config.model_type != "clip":
            return super().last_layer()
        return self.model.vision_model.encoder.layers[-1].layer_norm1


class VisionModel(Pair):
    """A model of transformers that reads pictures only: its pooled output, or its first token."""

    texts = Towers.texts

    def encode_pictures(self, ready: Any) -> Any:
        """Encode prepared pictures."""
        output = self.model(pixel_values=ready)
        pooled = getattr(output, "pooler_output", None)
        return output.last_hidden_state[:, 0] if pooled is None else pooled.flatten(1)


class OpenClipPair(Pair):
    """A model of the package open_clip."""

    def encode_texts(self, texts: Sequence[str]) -> Any:
        """Encode texts."""
        return self.model.encode_text(self.words(texts).to(self.device))

    def encode_pictures(self, ready: Any) -> Any:
        """Encode prepared pictures."""
        return self.model.encode_image(ready)

    def last_layer(self) -> Any:
        """Return a ResNet's last convolutions, or the tokens that a transformer's last block attends to."""
        visual = self.model.visual
        if hasattr(visual, "layer4"):
            return visual.layer4
        if hasattr(visual, "transformer"):
            return visual.transformer.resblocks[-1].ln_1
        return super().last_layer()


def open_pair(path: Path, architecture: str | None = None, device: str = "cpu", precision: str = "float32") -> Pair:
    """Open a transformers folder, an OpenCLIP folder, or a file of OpenAI's weights."""
    folder = path if path.is_dir() else path.parent
    kind = _model_type(folder) if path.is_dir() or path.name in ("model.safetensors", "pytorch_model.bin") else None
    if kind is None and needs_open_clip(path):
        return _open_clip_pair(folder, None, None, device, precision)
    transformers = _import_transformers()
    if kind is not None and kind != "clip":
        return _other_pair(transformers, folder, device, precision)
    if kind is None:
        weights, shape = read_clip(path, architecture)
        if not isinstance(shape.layers, int):
            return _open_clip_pair(path, architecture, weights, device, precision)
        model = build_clip(weights, shape, path)
    else:
        model = _load_model(transformers, folder)
        check_gelu(architecture, model.config.vision_config.hidden_act, path.name)
    tokens = folder_tokens(folder, model.config.text_config.max_position_embeddings)
    preparation = folder_preparation(folder, model.config.vision_config.image_size)
    return TransformersPair(model, lambda texts: {"input_ids": _ids(tokens, texts)}, preparation, device, precision)


def _other_pair(transformers: Any, folder: Path, device: str, precision: str) -> Pair:
    """Open another model of two towers, with its own tokenizer."""
    model = _load_model(transformers, folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)

    def words(texts: Sequence[str]) -> Any:
        # SigLIP was trained with every text padded to its full length; others pad to the longest.
        padding = "max_length" if "siglip" in model.config.model_type else True
        most = model.config.text_config.max_position_embeddings
        return tokenizer(list(texts), padding=padding, max_length=most, return_tensors="pt")

    vision = getattr(model.config, "vision_config", model.config)
    preparation = folder_preparation(folder, getattr(vision, "image_size", 224))
    if not hasattr(model, "get_image_features") or not hasattr(model, "get_text_features"):
        raise PortrayalError(f"{type(model).__name__} has no text and image towers. Use image_encoder for pictures.")
    return TransformersPair(model, words, preparation, device, precision)


def _open_clip_pair(
    path: Path, architecture: str | None, weights: dict[str, Any] | None, device: str, precision: str
) -> Pair:
    """Open through open_clip a folder, or the weights of one of OpenAI's ResNets."""
    try:
        import open_clip
    except ImportError as error:
        raise PortrayalError(
            f"this model's towers run through open_clip ({error}). Install it: pip install 'portrayal-audit[open_clip]'."
        ) from None
    folder, name, context = path if path.is_dir() else path.parent, f"local-dir:{path}", None
    try:
        if weights is None:
            model = open_clip.create_model(name, device="cpu", weights_only=True)
            words = open_clip.get_tokenizer(name)
            if has_common_text(folder):
                context = model_config(folder).get("text_cfg", {}).get("context_length", 77)
        else:
            model = open_clip.create_model(architecture, force_quick_gelu=True, device="cpu")
            model.load_state_dict(weights)
            model, context = model.float(), model.positional_embedding.shape[0]
    except Exception as error:  # the package raises many kinds
        raise PortrayalError(f"open_clip cannot load {path}: {_first_line(error)}") from None
    if context is not None:
        words = partial(_ids, folder_tokens(folder, context), full=True)
    side = model.visual.image_size
    preparation = folder_preparation(folder, side if isinstance(side, int) else side[0])
    return OpenClipPair(model, words, preparation, device, precision)


def open_vision(path: Path, side: int, device: str) -> Pair:
    """Open a transformers folder of a vision model."""
    model = _load_model(_import_transformers(), path)
    preparation = folder_preparation(path, getattr(model.config, "image_size", side))
    return VisionModel(model, list, preparation, device, "float32")


def _ids(tokens: Tokens, texts: Sequence[str], full: bool = False) -> Any:
    """Return the ids of texts, padded to the whole context where asked for."""
    import torch

    ids = torch.from_numpy(tokens.encode(texts)[0])
    return torch.nn.functional.pad(ids, (0, tokens.context - ids.shape[1])) if full else ids


def _model_type(folder: Path) -> str | None:
    """Return the type that a transformers folder names, None for other folders."""
    config = folder / "config.json"
    if not config.is_file() or (folder / OPEN_CLIP).is_file():
        return None
    return read_json(config, "a config").get("model_type")


def _import_transformers() -> Any:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtra("an image-text encoder", "torch") from None
    return transformers


def _load_model(transformers: Any, path: Path) -> Any:
    """Load a model from a folder, fetching nothing and running no code of the folder."""
    try:
        return transformers.AutoModel.from_pretrained(str(path), local_files_only=True, trust_remote_code=False).eval()
    except (OSError, ValueError, KeyError) as error:
        raise PortrayalError(f"{path} is no transformers model: {_first_line(error)}") from None


def _pooled(output: Any) -> Any:
    """Return the embeddings of a tower; newer versions wrap them in an output with `pooler_output`."""
    return output if hasattr(output, "float") else output.pooler_output


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:160]

"""Encoders on ONNX Runtime: `use = "onnx_clip"` and `use = "image_encoder"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.clip_tokens import folder_tokens
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.systems.encoders.pictures import CLIP_DEVIATION, CLIP_MEAN, Preparation
from portrayal.systems.encoders.towers import TowerEncoder, Towers

TYPES = {"tensor(int32)": np.int32, "tensor(int64)": np.int64, "tensor(float16)": np.float16}


class PictureSettings(Settings):
    """Preparation of pictures, of which an ONNX file says nothing."""

    side: int = Field(default=224, ge=8)
    mean: tuple[float, float, float] = CLIP_MEAN
    deviation: tuple[float, float, float] = CLIP_DEVIATION
    cache: str | None = None


class OnnxClipSettings(PictureSettings):
    """The two networks and what belongs to them."""

    text: str
    vision: str
    tokenizer: str | None = None  # a folder with tokenizer.json; None: that of the text network
    text_output: str | None = None
    vision_output: str | None = None
    context: int = Field(default=77, ge=3)
    batch: int = Field(default=32, ge=1)


class OnnxPictures(Towers):
    """A vision model on ONNX Runtime."""

    def __init__(self, path: Path, own: PictureSettings, output: str | None) -> None:
        self.vision, self.output = _open_session(path), output
        self.preparation = Preparation(own.side, mean=own.mean, deviation=own.deviation)

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        ready = self.preparation.normal(pixels)
        return _run_rows(self.vision, {self.vision.get_inputs()[0].name: ready}, self.output)


class OnnxTowers(OnnxPictures):
    """Text and vision sessions."""

    def __init__(self, folder: Path, own: OnnxClipSettings) -> None:
        self.own, self.text = own, _open_session(folder / own.text)
        super().__init__(folder / own.vision, own, own.vision_output)
        place = folder / own.tokenizer if own.tokenizer else (folder / own.text).parent
        self.tokens = folder_tokens(place if place.is_dir() else place.parent, own.context)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Encode texts, padded with the end token to the full context."""
        ids, ends = self.tokens.encode(texts)
        full = np.full((len(ids), self.own.context), self.tokens.end, dtype=np.int64)
        full[:, : ids.shape[1]] = ids
        after = np.arange(self.own.context)[None, :] > ends[:, None]
        full[after] = self.tokens.end
        feeds = {"input_ids": full, "attention_mask": (~after).astype(np.int64)}
        names = [entry.name for entry in self.text.get_inputs()]
        if "input_ids" not in names:
            feeds = {names[0]: full}
        return _run_rows(self.text, feeds, self.own.text_output)


def _open_session(path: Path) -> Any:
    import onnxruntime

    if not path.is_file():
        raise PortrayalError(f"no ONNX file at {path}. Check the path.")
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises bare exceptions of its own
        raise PortrayalError(f"{path.name} is no ONNX network: {str(error).splitlines()[0][:160]}") from None


def _run_rows(session: Any, feeds: Mapping[str, np.ndarray], output: str | None) -> np.ndarray:
    """Return one row per item: the named output, or the first of two axes."""
    names = [entry.name for entry in session.get_outputs()]
    if output is not None and output not in names:
        raise PortrayalError(f"the network has no output {output!r}. Known: {', '.join(names)}.")
    kinds = {entry.name: entry.type for entry in session.get_inputs()}
    known = {name: array for name, array in feeds.items() if name in kinds}
    typed = {name: array.astype(TYPES.get(kinds[name], array.dtype), copy=False) for name, array in known.items()}
    outputs = session.run([output] if output else None, typed)
    rows = next((array for array in outputs if array.ndim == 2), outputs[0])
    return np.asarray(rows if rows.ndim == 2 else rows[:, 0], dtype=np.float32)


def open_system(settings: SystemSettings, folder: Path) -> TowerEncoder:
    """Open an encoder; nothing is loaded before the first question."""
    if settings.use == "image_encoder":
        return _open_image_encoder(settings, folder)
    own = settings.read(OnnxClipSettings)
    files = [folder / own.text, folder / own.vision]
    model = "-".join(fingerprint(file) if file.is_file() else "missing" for file in files)
    return TowerEncoder(
        **settings.fields(f"onnx_clip:{model}"),
        batch=own.batch,
        model_hash=model,
        cache=folder / own.cache if own.cache else None,
        load=lambda: OnnxTowers(folder, own),
    )


class ImageSettings(ModelSettings, PictureSettings):
    """Parameters of a vision model."""

    output: str | None = None
    batch: int = Field(default=64, ge=1)


def _open_image_encoder(settings: SystemSettings, folder: Path) -> TowerEncoder:
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

"""A CLIP exported as two ONNX networks, on ONNX Runtime without torch: `use = "onnx_clip"`.

    [systems.parameters]
    text = "text_model.onnx"
    vision = "vision_model.onnx"

The text network takes token ids (and a mask where it has that input); `tokenizer` names a folder with tokenizer.json,
by default that of the text network. `context` is the length ids are padded to, where the network wants one length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.clip_tokens import folder_tokens
from portrayal.systems.encoders.models import fingerprint
from portrayal.systems.encoders.pictures import CLIP_DEVIATION, CLIP_MEAN, Preparation
from portrayal.systems.encoders.towers import TowerEncoder, Towers


class OnnxClipSettings(Settings):
    """The two networks and what belongs to them."""

    text: str
    vision: str
    tokenizer: str | None = None
    text_output: str | None = None
    vision_output: str | None = None
    side: int = Field(default=224, ge=8)
    mean: tuple[float, float, float] = CLIP_MEAN
    deviation: tuple[float, float, float] = CLIP_DEVIATION
    context: int = Field(default=77, ge=3)
    batch: int = Field(default=32, ge=1)
    cache: str | None = None


@dataclass
class OnnxClip(TowerEncoder):
    """A pair of networks, loaded when first asked."""

    own: OnnxClipSettings = field(default_factory=lambda: OnnxClipSettings(text="", vision=""))
    folder: Path = field(default_factory=Path)

    def load(self) -> Towers:
        """Open both networks."""
        return OnnxTowers(self.folder, self.own)


class OnnxTowers(Towers):
    """Text and vision sessions."""

    def __init__(self, folder: Path, own: OnnxClipSettings) -> None:
        self.own = own
        self.text, self.vision = open_session(folder / own.text), open_session(folder / own.vision)
        place = folder / own.tokenizer if own.tokenizer else (folder / own.text).parent
        self.tokens = folder_tokens(place if place.is_dir() else place.parent, own.context)
        self.preparation = Preparation(own.side, mean=own.mean, deviation=own.deviation)

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
        return run_rows(self.text, feeds, self.own.text_output)

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Encode pictures."""
        ready = self.preparation.normal(pixels)
        return run_rows(self.vision, {self.vision.get_inputs()[0].name: ready}, self.own.vision_output)


def open_session(path: Path) -> Any:
    """Open an ONNX file."""
    import onnxruntime

    if not path.is_file():
        raise PortrayalError(f"no ONNX file at {path}. Check the path.")
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises bare exceptions of its own
        raise PortrayalError(f"{path.name} is no ONNX network: {str(error).splitlines()[0][:160]}") from None


def run_rows(session: Any, feeds: Mapping[str, np.ndarray], output: str | None = None) -> np.ndarray:
    """Return one row per item: the named output, or the first of two axes."""
    names = [entry.name for entry in session.get_outputs()]
    if output is not None and output not in names:
        raise PortrayalError(f"the network has no output {output!r}. Known: {', '.join(names)}.")
    kinds = {entry.name: entry.type for entry in session.get_inputs()}
    typed = {name: _typed(array, kinds.get(name, "")) for name, array in feeds.items() if name in kinds}
    found = session.run([output] if output else None, typed)
    rows = next((array for array in found if array.ndim == 2), found[0])
    return np.asarray(rows if rows.ndim == 2 else rows[:, 0], dtype=np.float32)


def _typed(array: np.ndarray, kind: str) -> np.ndarray:
    types = {"tensor(int32)": np.int32, "tensor(int64)": np.int64, "tensor(float16)": np.float16}
    return array.astype(types.get(kind, array.dtype), copy=False)


def open_system(settings: SystemSettings, folder: Path) -> OnnxClip:
    """Open a pair of ONNX networks; nothing is loaded before the first question."""
    own = settings.read(OnnxClipSettings)
    files = [folder / own.text, folder / own.vision]
    model = "-".join(fingerprint(file) if file.is_file() else "missing" for file in files)
    return OnnxClip(
        **settings.fields(f"onnx_clip:{model}"),
        batch=own.batch,
        model_hash=model,
        cache=folder / own.cache if own.cache else None,
        own=own,
        folder=folder,
    )

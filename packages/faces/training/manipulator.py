"""A trained Fader network: two ONNX files and a page about them. It shipped before the editor of photographs, and is an ablation now."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from training.attributes import clamp_age

KEPT = Path(__file__).parent / "ablations" / "fader"
# Standard deviation of the noise on a code whose steps are 1 apart, chosen on adults seen from the side, whom neither
# training nor the checks use.
DITHER = 0.3


@dataclass(frozen=True)
class Manipulator:
    """Encoder and decoder, and what the model says of itself."""

    encoder: Any
    decoder: Any
    about: dict[str, Any]
    identity: str  # tells models apart in file names and manifests

    def encode(self, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the latent code of an aligned uint8 face and the attributes it seems to have."""
        pixels = (face.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)[None]
        soft, attributes = self.encoder.run(None, {"face": pixels})
        return dithered(soft, face), clamp_age(attributes[0])

    def decode(self, codes: np.ndarray, attributes: np.ndarray) -> np.ndarray:
        """Return faces (n x size x size x 3) on the scale of pixels, not rounded."""
        inputs = {"code": codes.astype(np.float32), "attributes": clamp_age(attributes).astype(np.float32)}
        return (self.decoder.run(None, inputs)[0].transpose(0, 2, 3, 1) + 1) * 127.5

    def edits(self, code: np.ndarray, start: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return D(z, a) - D(z, a0) for each target: what is added to the face, exactly 0 where a is a0."""
        attributes = np.concatenate([start[None], targets])
        made = self.decode(np.repeat(code, len(attributes), axis=0), attributes)
        return made[1:] - made[:1]

    def placebo_edits(
        self, code: np.ndarray, start: np.ndarray, values: np.ndarray, size: float, seed: int
    ) -> np.ndarray:
        """Return edits along a random direction of the code, as large (root mean square, per unit) as `size`."""
        direction = np.random.default_rng(seed).standard_normal(code.shape)
        direction /= np.linalg.norm(direction) / np.sqrt(direction.size)
        reach = float(np.abs(values).max())
        unit = self._unit(code, start, direction, size, reach)
        codes = np.concatenate([code, *(code + value * unit * direction for value in values)])
        made = self.decode(codes, np.repeat(start[None], len(codes), axis=0))
        return made[1:] - made[:1]

    def _unit(self, code: np.ndarray, start: np.ndarray, direction: np.ndarray, size: float, reach: float) -> float:
        """Find how far to go in the code so that the far ends change as much as the real axis does."""
        unit = 0.1
        for _ in range(2):
            ends = np.concatenate([code, code + reach * unit * direction, code - reach * unit * direction])
            made = self.decode(ends, np.repeat(start[None], 3, axis=0))
            now = float(np.sqrt(np.mean((made[1:] - made[:1]) ** 2)))
            unit = float(np.clip(unit * size / max(now, 1e-6), 1e-3, 1.5))
        return unit


@cache
def open_manipulator(folder: Path | str | None = None) -> Manipulator:
    """Open the model in a folder, by default the one kept as an ablation."""
    import onnxruntime

    place = Path(folder) if folder else KEPT
    paths = [place / "encoder.onnx", place / "decoder.onnx"]
    if not all(path.exists() for path in paths):
        raise PortrayalError(
            f"no manipulator in {place}. Expected encoder.onnx and decoder.onnx; see python -m training train."
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    sessions = [onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]) for path in paths]
    about_file = place / "model.json"
    about = json.loads(about_file.read_text(encoding="utf-8")) if about_file.exists() else {}
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    return Manipulator(sessions[0], sessions[1], about, digest[:16])


def dithered(soft: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return a code of -1, 0 and 1: noise is added before rounding, so that little of the person's own gender can be read from it.

    512 small values can still carry it. The noise costs an edit little, since detail comes from the photograph and not from
    the code, and it follows from the picture, so that the same picture gives the same series.
    """
    seed = int.from_bytes(hashlib.sha256(np.ascontiguousarray(face).tobytes()).digest()[:8], "big")
    noise = np.random.default_rng(seed).standard_normal(soft.shape)
    return np.clip(np.rint(soft + DITHER * noise), -1, 1).astype(np.float32)

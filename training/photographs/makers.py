"""Whatever changes photographs, asked the same way: a photograph in the generator's alignment, a cue and values in, pictures out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.vision.faces.align import crop, fit_similarity
from portrayal.vision.faces.detect import Face
from portrayal.vision.faces.mask import oval
from portrayal.vision.faces.model import open_manipulator
from portrayal.vision.faces.series import make_series
from portrayal.vision.faces.suitability import Inspection
from portrayal.vision.generator.steering import Line
from training.photographs.adults import SIDE, Adult
from training.photographs.lines import LINES
from training.photographs.mean_faces import read_differences

Maker = Callable[[Adult, Line, Sequence[float]], list[Any]]
# Of half a difference of means, at value 1: the farthest that left 95% themselves, chosen on people who are not held out.
STRENGTH = 1.0


def fader(folder: Path | None = None, masked: bool = True) -> Maker:
    """Return the Fader network of a folder, or the one that ships; without mask it is an ablation of the paper's."""
    manipulator = open_manipulator(str(folder) if folder else None)

    def made(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
        face = Face((0.0, 0.0, float(SIDE), float(SIDE)), 1.0, adult.landmarks)
        seen = Inspection(face, 1, aligned=crop(adult.picture, fit_similarity(adult.landmarks)))
        return make_series(
            adult.picture, seen, manipulator, line.attribute, values, line.poles, masked
        ).pictures

    return made


def mean_faces(path: Path, strength: float = STRENGTH) -> Maker:
    """Return the baseline of warped mean-face differences; value 0 is the photograph itself."""
    from PIL import Image

    found = dict(zip([line.varied for line in LINES], read_differences(path), strict=True))

    def made(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
        own, mask = np.asarray(adult.picture), _oval(adult.landmarks)
        return [
            Image.fromarray(found[line.varied].changed(own, strength * value / 2, mask)) for value in values
        ]

    return made


def editor(path: Path, gain: float = 1.0) -> Maker:
    """Return the network of an ONNX file; values are asked `gain` times over."""
    import onnxruntime
    from PIL import Image

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def made(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
        own = np.asarray(adult.picture).astype(np.float32)
        given = (own / 127.5 - 1).transpose(2, 0, 1)[None]
        place = [one.varied for one in LINES].index(line.varied)
        told = np.zeros((len(values), 2 * len(LINES)), np.float32)
        told[:, place], told[:, len(LINES) + place] = 1, gain * np.asarray(values) / 2
        edits = [session.run(["edit"], {"face": given, "condition": row[None]})[0][0] for row in told]
        return [
            Image.fromarray(np.clip(np.rint(own + 127.5 * one.transpose(1, 2, 0)), 0, 255).astype(np.uint8))
            for one in edits
        ]

    return made


def nothing(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
    """Change nothing: what a table must show as no shift at all."""
    return [adult.picture for _ in values]


def _oval(landmarks: np.ndarray) -> np.ndarray:
    """Return the feathered oval of a face in the generator's alignment."""
    from PIL import Image

    similarity = fit_similarity(landmarks)
    data = (*similarity.matrix[0], similarity.shift[0], *similarity.matrix[1], similarity.shift[1])
    laid = Image.fromarray(oval().astype(np.float32)).transform(
        (SIDE, SIDE), Image.Transform.AFFINE, data, Image.Resampling.BILINEAR
    )
    return np.asarray(laid)

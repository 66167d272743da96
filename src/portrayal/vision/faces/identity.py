"""How far two faces are apart for a face-recognition network, which knows nothing of the manipulator.

dlib's network (`face_recognition_models`, CC0) with its own aligned crop of 150 pixels. Its 68-landmark file is not
used. Both packages are optional; without them the identity check is reported as not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import MissingPart
from portrayal.vision.faces.align import crop
from portrayal.vision.faces.reader import CHIP, fit_similarity

SIDE, PADDING = 150, 0.25


def can_embed() -> bool:
    """Say whether both packages are installed."""
    return find_spec("_dlib_pybind11") is not None and _weights().exists()


def embed(pictures: Sequence[Any], landmarks: np.ndarray) -> np.ndarray:
    """Return one vector of 128 per picture; the faces share the same landmarks."""
    # The reader's crop has padding 0.2 around the same mean face; this network was trained with 0.25.
    template = (CHIP * 1.4 - 0.2 + PADDING) / (1 + 2 * PADDING) * SIDE
    chips = [crop(picture, fit_similarity(landmarks, template), SIDE) for picture in pictures]
    return np.array(
        [np.array(_network().compute_face_descriptor(np.ascontiguousarray(chip))) for chip in chips]
    )


@cache
def _network() -> Any:
    if not can_embed():
        raise MissingPart("the identity check", "dlib-bin and face_recognition_models")
    import dlib

    return dlib.face_recognition_model_v1(str(_weights()))


def _weights() -> Path:
    spec = find_spec("face_recognition_models")
    folder = (
        Path(spec.submodule_search_locations[0])
        if spec and spec.submodule_search_locations
        else Path("/nowhere")
    )
    return folder / "models" / "dlib_face_recognition_resnet_model_v1.dat"

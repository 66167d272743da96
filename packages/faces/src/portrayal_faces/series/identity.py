"""Distance of two faces by a recognition network that had no part in editing.

dlib's network (`face_recognition_models`, CC0) with its own aligned crop of 150 pixels. Its 68-landmark file is not
used. Both packages are optional; without them the identity check is reported as not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from portrayal.edges.parts.table import PARTS, part_file, require_parts
from portrayal.pictures.faces import CHIP, crop, fit_similarity

PACKAGES = ("dlib-bin", "face_recognition_models")
SIDE, PADDING = 150, 0.25


def can_embed() -> bool:
    """Return whether both packages are installed."""
    return all(PARTS[name].module for name in PACKAGES)


def embed(pictures: Sequence[Any], landmarks: np.ndarray) -> np.ndarray:
    """Return one vector of 128 per picture; the faces share the same landmarks."""
    # The reader's crop has padding 0.2 around the same mean face; this network was trained with 0.25.
    template = (CHIP * 1.4 - 0.2 + PADDING) / (1 + 2 * PADDING) * SIDE
    chips = [crop(picture, fit_similarity(landmarks, template), SIDE) for picture in pictures]
    return np.array([np.array(_network().compute_face_descriptor(np.ascontiguousarray(chip))) for chip in chips])


@cache
def _network() -> Any:
    require_parts("the identity check", *PACKAGES)
    weights = part_file(PACKAGES[1], "models/dlib_face_recognition_resnet_model_v1.dat", "the identity check")
    import dlib

    return dlib.face_recognition_model_v1(str(weights))

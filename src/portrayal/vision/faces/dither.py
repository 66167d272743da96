"""The code in use: rounded after noise, so that little of the person's own gender can be read from it.

A code of 512 small values can still whisper. Noise before rounding drowns that, and costs an edit little, since detail
comes from the photograph and not from the code. The noise follows from the picture, so the same picture gives the same
series. Its size was chosen on adults seen from the side, whom neither training nor the checks use.
"""

from __future__ import annotations

import hashlib

import numpy as np

DITHER = 0.3  # standard deviation; the steps of the code are 1 apart


def dithered(soft: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return a code of -1, 0 and 1.

    Parameters
    ----------
    soft
        What the encoder gives for a face, about -1 to 1.
    face
        The aligned face, uint8: the noise is drawn from its bytes.
    """
    seed = int.from_bytes(hashlib.sha256(np.ascontiguousarray(face).tobytes()).digest()[:8], "big")
    noise = np.random.default_rng(seed).standard_normal(soft.shape)
    return np.clip(np.rint(soft + DITHER * noise), -1, 1).astype(np.float32)

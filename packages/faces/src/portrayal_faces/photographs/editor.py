"""Network that changes photographs, as one ONNX file.

It is told which of CUES varies and the value that shall be perceived; it gives what is added, and its own mask of what may change.
Age is none of its cues. No torch is needed to use it. Whoever calls it has checked for consent (`series.require_consent`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError

SIDE = 256
# In the order of the network's condition: a mark in a cue's place, and half its value in the place as far on as there are cues.
CUES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gender", ()),
    ("race", ("White", "Black")),
    ("race", ("White", "East Asian")),
    ("race", ("Black", "East Asian")),
)


@dataclass(frozen=True)
class Editor:
    """The network, and what tells it apart in file names and manifests."""

    session: Any
    identity: str

    def series(
        self,
        face: np.ndarray,
        attribute: str,
        values: Sequence[float],
        poles: Sequence[str] = (),
        landmarks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the face at each value of a cue.

        Returns
        -------
        np.ndarray
            values x SIDE x SIDE x 3, uint8; where the mask is 0 the photograph's own pixels.
        """
        own = checked(face)
        rows = conditions(attribute, values, poles)
        network_input = (own.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)[None]
        return np.stack([self._changed(own, network_input, row) for row in rows])

    def require(self, attribute: str, poles: Sequence[str]) -> None:
        """Refuse a cue that is none of CUES."""
        conditions(attribute, [], poles)

    def _changed(self, own: np.ndarray, network_input: np.ndarray, condition: np.ndarray) -> np.ndarray:
        """Add the network's output one value at a time, which bounds memory."""
        edit, mask = self.session.run(["edit", "mask"], {"face": network_input, "condition": condition[None]})
        mixed = np.clip(np.rint(own + 127.5 * edit[0].transpose(1, 2, 0)), 0, 255).astype(np.uint8)
        return np.where(mask[0].transpose(1, 2, 0) > 0, mixed, own)


def conditions(attribute: str, values: Sequence[float], poles: Sequence[str] = ()) -> np.ndarray:
    """Return the network's conditions, a row a value; reversed poles flip the sign.

    Examples
    --------
    >>> conditions("race", [2.0], ("Black", "White")).tolist()
    [[0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0]]
    """
    cue, turned = (attribute, tuple(poles)), (attribute, tuple(poles)[::-1])
    if cue not in CUES and turned not in CUES:
        known = ", ".join(" ".join((name, *(" to ".join(pair),) * bool(pair))) for name, pair in CUES)
        raise PortrayalError(
            f"photographs are not changed along {' '.join((attribute, ' to '.join(poles))).strip()!r}. Known: {known}."
        )
    place = CUES.index(cue if cue in CUES else turned)
    rows = np.zeros((len(values), 2 * len(CUES)), np.float32)
    rows[:, place] = 1
    rows[:, len(CUES) + place] = np.asarray(values, float) / 2 * (1 if cue in CUES else -1)
    return rows


@cache
def open_editor(path: Path | str) -> Editor:
    """Open the network of an ONNX file."""
    import onnxruntime

    if not Path(path).is_file():
        raise PortrayalError(f"expected the network that changes photographs at {path}, but there is no file.")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # each of its errors is a class of its own
        raise PortrayalError(
            f"{path} is no network that ONNX Runtime can open. Make one with python -m training.photographs.export."
        ) from error
    inputs = sorted(one.name for one in session.get_inputs())
    if inputs != ["condition", "face"]:
        raise PortrayalError(
            f"{path}: expected a network that is given 'face' and 'condition', but this one takes {', '.join(inputs)}."
        )
    return Editor(session, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16])


def checked(face: np.ndarray) -> np.ndarray:
    """Return a face, or refuse one that is not in the generator's alignment."""
    if face.shape != (SIDE, SIDE, 3) or face.dtype != np.uint8:
        raise PortrayalError(
            f"expected a face of {SIDE} x {SIDE} x 3 whole levels, but got {face.dtype} of {' x '.join(map(str, face.shape))}. "
            "Lay it onto the generator's alignment first (align.crop)."
        )
    return face

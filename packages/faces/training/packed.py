"""A packed file of aligned faces: written, opened with care (what is not one is named in one line), and decoded."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from portrayal.errors import PortrayalError

MARGIN = 12  # pixels around an aligned face, for the small moves of training
COLUMNS = ("jpegs", "ends", "values", "parts", "about")


def open_packed(path: Path | str) -> dict[str, np.ndarray]:
    """Return the arrays of a packed file (see `prepare`)."""
    if not Path(path).exists():
        raise PortrayalError(f"no packed faces at {path}. Make them with: python -m training prepare.")
    try:
        with Path(path).open("rb") as file, np.load(file) as packed:
            found = {name: packed[name] for name in packed.files}
    except (ValueError, BadZipFile, EOFError, AttributeError):
        found = {}
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise PortrayalError(f"{path} is no packed file of faces. Make one with: python -m training prepare.")
    return found


def keep_packed(
    out: Path | str, faces: Sequence[tuple[str, bytes, np.ndarray]], parts: np.ndarray, about: Mapping[str, Any]
) -> None:
    """Write names, JPEGs and attribute values of faces, the part each is in, and what the file says of itself."""
    jpegs = [jpeg for _, jpeg, _ in faces]
    np.savez(
        out,
        jpegs=np.frombuffer(b"".join(jpegs), np.uint8),
        ends=np.cumsum([len(jpeg) for jpeg in jpegs]),
        values=np.array([values for _, _, values in faces], dtype=np.float32),
        names=np.array([name for name, _, _ in faces]),
        parts=parts,
        about=json.dumps(dict(about)),
    )


def jpeg_of(pixels: np.ndarray) -> bytes:
    """Return an aligned face with its margin (uint8) as a JPEG that keeps its colours sharp."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=93, subsampling=0)
    return buffer.getvalue()


def pictures_of(packed: Mapping[str, np.ndarray], wanted: Iterable[int] | None = None) -> Iterator[Any]:
    """Yield the pictures at these places of a packed file, or all of them."""
    from PIL import Image

    raw, ends = packed["jpegs"].tobytes(), packed["ends"].tolist()
    for at in range(len(ends)) if wanted is None else wanted:
        yield Image.open(io.BytesIO(raw[ends[at - 1] if at else 0 : ends[at]])).convert("RGB")

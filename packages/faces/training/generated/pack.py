"""FairFace's adults as one small file, for local use only: `python -m training.generated.pack FOLDER OUT.npz`."""

from __future__ import annotations

import csv
import io
import sys
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

SIDE, QUALITY = 160, 78


def pack(folder: Path, out: Path) -> int:
    """Write the faces of `adult_faces.tar` and their labels from `labels.csv`; returns how many there are."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    with tarfile.open(folder / "adult_faces.tar") as tar:
        stored = [_small(tar.extractfile(row["file"]).read()) for row in rows]  # type: ignore[union-attr]
    labels = {name: np.array([row[name] for row in rows]) for name in ("race", "age")}
    np.savez(
        out, allow_pickle=False, data=np.frombuffer(b"".join(stored), np.uint8),
        ends=np.cumsum([len(one) for one in stored]), gender=np.array([row["gender"] == "Male" for row in rows]),
        race=labels["race"], age=labels["age"],
    )  # fmt: skip
    return len(rows)


def _small(stored: bytes) -> bytes:
    buffer = io.BytesIO()
    picture = Image.open(io.BytesIO(stored)).convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    picture.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])))

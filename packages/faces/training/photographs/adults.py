"""FairFace's adults in the generator's alignment: held out in memory, others packed.

python -m training.photographs.adults FOLDER OUT.npz packs those a training may look at: labelled 30 or older and not held out.
"""

from __future__ import annotations

import csv
import io
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from portrayal.pictures.faces import closest_to_centre, crop, find_faces, fit_similarity, head_turn
from portrayal_faces.series.attributes import ADULT_AGES
from portrayal_faces.series.suitability import FRONTAL, is_grey
from training.generated.networks.readers import HELD_OUT
from training.generated.studio import LANDMARKS
from training.photographs.packed import SIDE

PACKED, QUALITY = 208, 82
SMALLEST = 0.2  # of the picture: FairFace's faces fill their crops
# Nobody of them is read, by annotators, as anywhere near a child.
TRAINED_ON = ADULT_AGES[1:]


@dataclass(frozen=True)
class Adult:
    """One photograph in the generator's alignment, its landmarks there, and what annotators said."""

    name: str
    picture: Any  # a PIL image of SIDE pixels
    landmarks: np.ndarray
    gender: str
    race: str
    age: str


def held_out(rows: Sequence[Any]) -> set[int]:
    """Return places in the label table that no reader or network was trained on."""
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    return set(order[:HELD_OUT].tolist())


def label_rows(folder: Path) -> list[dict[str, str]]:
    """Return FairFace's label table."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def adults(folder: Path, places: Sequence[int]) -> Iterator[Adult]:
    """Yield adults who look ahead, in colour, and whose face is found."""
    from PIL import Image

    rows = label_rows(folder)
    with tarfile.open(folder / "adult_faces.tar") as tar:
        for place in places:
            stored = tar.extractfile(rows[place]["file"])
            if rows[place]["age"] not in ADULT_AGES or stored is None:
                continue
            adult = aligned(Image.open(io.BytesIO(stored.read())).convert("RGB"), rows[place])
            if adult is not None:
                yield adult


def aligned(picture: Any, row: dict[str, str]) -> Adult | None:
    """Lay one photograph onto the generator's alignment, or say nothing of who looks away."""
    from PIL import Image

    faces = find_faces(picture, SMALLEST)
    if not faces:
        return None
    landmarks = closest_to_centre(faces, picture.size).landmarks
    similarity = fit_similarity(landmarks, LANDMARKS * SIDE)
    pixels = crop(picture, similarity, SIDE)
    if head_turn(landmarks) > FRONTAL or is_grey(pixels):
        return None
    labels = (row["gender"], row["race"], row["age"])
    return Adult(row["file"], Image.fromarray(pixels), similarity(landmarks), *labels)


def pack(folder: Path, out: Path) -> int:
    """Write the training's aligned faces as small JPEGs without labels; return their number."""
    rows = label_rows(folder)
    holdout = held_out(rows)
    places = [place for place, row in enumerate(rows) if place not in holdout and row["age"] in TRAINED_ON]
    stored = []
    for adult in adults(folder, places):
        buffer = io.BytesIO()
        adult.picture.resize((PACKED, PACKED), 1).save(buffer, "JPEG", quality=QUALITY)
        stored.append(buffer.getvalue())
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(out, data=np.frombuffer(b"".join(stored), np.uint8), ends=np.cumsum([len(one) for one in stored]))
    return len(stored)


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])))

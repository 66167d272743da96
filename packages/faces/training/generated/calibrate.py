"""The ways of race corrected by what is seen to drift along them.

Linear readings are right about the middle of a way, not about its ends, and see whole pictures where a series shows the face only. So
people are taken from end to end, what was to stay and did not is read, and the way is turned against it. None of these people is judged.
The mouth's corners have a reading of their own: the spread of its pixels, which the compass knows, follows the thickness of lips.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.pictures.series.manifest import FACE_ONLY
from portrayal_faces.generator.directions import Compass, regressed
from portrayal_faces.generator.readings import AGES, places
from portrayal_faces.generator.steering import REACH, Centre, Line, between, find_centre, lines, pictures_of, span_of

TURNS = 4
UNREAD = ("mouth width", "background")  # the corners stand for the one; a series of faces leaves the other alone
CORNERS = "corners"
# What is corrected on which pair. Chosen by looking at the judges' figures after a first try that corrected all of it everywhere: White to
# East Asian the judges of age then saw what the readers that steer did not, and Black to East Asian the readers of gender parted company.
CORRECTED = {
    "White to Black": (*AGES, CORNERS),
    "White to East Asian": (CORNERS,),
    "Black to East Asian": (*AGES, CORNERS),
}
SLOPE_STYLES, SLOPE_SEED, AT_ONCE = 8000, 1, 960


def calibrated(studio: Any, compass: Compass, styles: np.ndarray, say: Callable[[str], None]) -> Compass:
    """Return the compass with the corrected ways of race."""
    corners, explained = corner_slopes(studio, compass)
    say(f"R2 of the corners {explained:.3f}; {len(styles)} people to correct by")
    for line in lines():
        if line.attribute == "race":
            compass = _corrected(studio, compass, styles, line, corners, say)
    return compass


def corner_slopes(studio: Any, compass: Compass) -> tuple[np.ndarray, float]:
    """Regress the distance of the mouth's corners on styles; return slopes and R2."""
    drawn, _ = studio.styles(SLOPE_STYLES, SLOPE_SEED, 0.85, _mean(studio, compass))
    parts = drawn.split(AT_ONCE)
    seen = np.concatenate([studio.corners(studio.render(part.cpu().numpy())) for part in parts])
    return regressed(drawn.double().cpu().numpy(), seen[:, None])


def _mean(studio: Any, compass: Compass) -> Any:
    import torch

    return torch.tensor(compass.mean, dtype=torch.float32, device=studio.device)


def _corrected(
    studio: Any, compass: Compass, styles: np.ndarray, line: Line, corners: np.ndarray, say: Callable[[str], None]
) -> Compass:
    """Turn one way against what drifts along it, a few times; return the last."""
    controls = [name for name in line.held if name not in UNREAD]
    slopes = np.column_stack([compass.slopes[:, places([line.varied, *controls])], corners])
    against = compass.moves_of(slopes)[1:]
    counted = np.array([name in CORRECTED[line.varied] for name in (*controls, CORNERS)])
    way = compass.way(line.varied, line.held)
    centre = find_centre(studio, compass, styles, line, span_of(line, FACE_ONLY).neutral)
    for turn in range(TURNS + 1):
        compass = replace(compass, ways={**compass.ways, line.varied: way})
        drift, units = _drift(studio, compass, centre, line, controls)
        named = dict(zip([*controls, CORNERS], drift.round(3).tolist(), strict=True))
        say(f"{line.varied}, turn {turn}: {named}, length {float(compass.lengths(way[None])[0]):.3f}")
        if turn < TURNS:
            way = way - (drift * counted / units) @ against
    return compass


def _drift(studio: Any, compass: Compass, centre: Centre, line: Line, controls: list[str]) -> tuple[np.ndarray, float]:
    """Return the mean change of held readings from end to end, and the way's length."""
    ends = between(studio, compass, centre, line, (-2.0, 2.0), FACE_ONLY)
    pictures = [pictures_of(studio, one, centre, FACE_ONLY) for one in ends]
    low, high = (studio.read(one)[:, places(controls)] for one in pictures)
    wide = [studio.corners(one) for one in pictures]
    way = compass.way(line.varied, line.held)
    units = float(((ends[1] - ends[0]) @ way / (way @ way)).mean())
    return np.append((high - low).mean(axis=0), (wide[1] - wide[0]).mean()), max(units, REACH[line.varied])

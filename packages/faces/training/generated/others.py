"""Further people for the check of identity: `python -m training.generated.others OUT --people 112 --seed 50`.

With `--found` everybody is shown as they were found, in place of their centres: a twentieth of the work, for machines without a GPU.

A face is to be nearer to its own centre than to anybody else's; the more others there are, the harder that is. Only centres are drawn,
of people whom no direction was found by and who are in no set; `portrayal faces check --others OUT` reads the folder.
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
from portrayal.pictures.series.manifest import FACE_ONLY, MANIFEST
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.pool import Seen, look_at, look_at_pool, next_of
from portrayal_faces.generator.series import series_title
from portrayal_faces.generator.steering import Line, find_centre, lines, span_of
from portrayal_faces.generator.stored import webp
from portrayal_faces.generator.studio import SmallStudio, ready_compass
from training.generated.to_folder import COMMON

FOUND = "found"  # the folder of a face that was not steered


def others(out: Path, count: int, seed: int, workers: int, as_found: bool = False) -> int:
    """Write everybody's centre of every axis, and the manifest; returns how many pictures there are."""
    each = -(-count // workers)
    shares = [(seed + at, min(each, count - at * each)) for at in range(workers) if at * each < count]
    who: dict[str, Any] = {}
    pictures: list[dict[str, Any]] = []
    for chosen, made in in_order(partial(finder, out, as_found), shares, "seed", workers):
        who |= chosen
        pictures += made
    (out / MANIFEST).write_text(json.dumps({**COMMON, "people": who, "pictures": pictures}), encoding="utf-8")
    return len(pictures)


def finder(
    out: Path, as_found: bool = False
) -> Callable[[tuple[int, int]], tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return what draws the people of a seed, in a studio of the worker's own."""
    studio, compass = SmallStudio(best_device()[0]), ready_compass()

    def draw(share: tuple[int, int]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        chosen = people(studio, compass, *share)
        pictures = [one for line in lines() for one in _entries(studio, compass, chosen, line, out, as_found)]
        return {one["name"]: {key: one[key] for key in ("age", "gender", "race")} for one in chosen}, pictures

    return draw


def people(studio: SmallStudio, compass: Compass, seed: int, count: int) -> list[dict[str, Any]]:
    """Return so many adults, pool by pool, as even over gender and group as possible."""
    adults: list[dict[str, Any]] = []
    turn = 0
    while len(adults) < count:
        pool = look_at_pool(partial(_looked, studio), compass, seed, turn, count - len(adults))["people"]
        while len(adults) < count and (place := next_of(pool, adults)) is not None:
            adults.append(pool.pop(place))
        turn += 1
    return adults


def _looked(studio: SmallStudio, styles: np.ndarray) -> list[Seen]:
    return [look_at(studio, style) for style in styles]


def _entries(
    studio: SmallStudio, compass: Compass, chosen: list[dict[str, Any]], line: Line, out: Path, as_found: bool
) -> Iterator[dict[str, Any]]:
    """Draw and write everybody's centre of one axis; yield entries of the manifest."""
    title = FOUND if as_found else series_title(line.attribute, line.poles)
    for one in chosen:
        path = out / (file := f"{one['name']}/{title}/+0.00.webp")
        if not path.exists():
            style = np.array([one["style"]])
            picture = studio.render(style)[0] if as_found else _centre(studio, compass, style, line)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(webp(picture))
        entry = {"file": file, "person": one["name"], "attribute": line.attribute}
        yield {**entry, "poles": list(line.poles), "value": 0.0, "kind": FACE_ONLY}


def _centre(studio: SmallStudio, compass: Compass, style: np.ndarray, line: Line) -> np.ndarray:
    picture = find_centre(studio, compass, style, line, span_of(line, FACE_ONLY).neutral).pictures[0]
    return np.asarray(picture)


def main() -> None:
    """Read what was asked for, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", type=int, default=112)
    parser.add_argument("--seed", type=int, default=50)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--found", action="store_true", help="as they were found, not brought to neutral points")
    args = parser.parse_args()
    print(others(args.out, args.people, args.seed, args.workers, args.found))


if __name__ == "__main__":
    main()

"""Placebos of a set made without them: `find` on a GPU, then `write`.

python -m training.generated.placebos find SET STATE     variants of styles, one file each; what is done already is used again
python -m training.generated.placebos write SET STATE OUT     the set with one of each, every picture encoded anew, smaller

A set keeps the styles of its centres and ends, so that a placebo can be found years later; `make.py` makes them along with the axes.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from portrayal.edges.console import track
from portrayal.engine import in_order
from portrayal.pictures.faces import chips, read_gender
from portrayal.pictures.series.manifest import FACE_ONLY, MANIFEST
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.people import LEAST
from portrayal_faces.generator.placebo import placebo
from portrayal_faces.generator.readings import COLUMNS
from portrayal_faces.generator.steering import FULL, Centre, Effort, lines
from portrayal_faces.generator.studio import LANDMARKS, SIDE, SmallStudio, fewer_years, ready_compass
from training.generated.placebo_choice import MIDDLE, VALUES, Candidate, chosen
from training.generated.ship import READ, STYLES
from training.generated.styles import axis_of, load_styles, save_styles

# Of race and its placebos, so that all take 12 MB; gender and its own keep the files they have. What the judges said at these and at
# other qualities is in the set's CARD.md: steps are told apart less the more they are encoded.
QUALITY = {"race-White-Black": 62, "race-White-East_Asian": 46, "race-Black-East_Asian": 62}
ROUNDS = 5  # of correcting lengths by what is seen of a step once it is encoded
# How the set's pictures were encoded before they come here; a placebo's go the same way, or codes would tell the two apart.
EARLIER = (84, 78)
# By axis and person: the variants whose lower and whose upper side was thrown out by looking (hands, blotches, light that eats a face).
THROWN_OUT = Path(__file__).with_name("placebos_thrown_out.json")


def titles() -> list[str]:
    """Return the axes of race, as their folders are called."""
    return ["-".join((line.attribute, *line.poles)).replace(" ", "_") for line in lines() if line.attribute == "race"]


def placebo_title(title: str) -> str:
    """Return what the folder of an axis' placebo is called."""
    return title.replace("race", "placebo", 1)


Asked = tuple[str, int, str]  # a person, a variant, an axis


def find(
    folder: Path,
    state: Path,
    variants: int,
    people: Sequence[str],
    axes: Sequence[str],
    workers: int,
    effort: Effort = FULL,
) -> None:
    """Find styles of people's placebos, so many variants of each; skip finished ones."""
    state.mkdir(parents=True, exist_ok=True)
    jobs = list(product(people, range(variants), axes))
    missing = [one for one in jobs if not _path(state, *one).exists()]
    in_order(partial(finder, folder, state, effort), missing, "variant", workers)


def finder(folder: Path, state: Path, effort: Effort) -> Callable[[Asked], None]:
    """Return a worker's function that finds and stores one variant of a placebo."""
    studio, compass = SmallStudio(best_device()[0]), ready_compass()

    def make(job: Asked) -> None:
        name, variant, title = job
        random = np.random.default_rng([zlib.crc32(name.encode()), variant, titles().index(title)])
        start = time.monotonic()
        np.save(_path(state, *job), of_one(studio, compass, folder, name, title, random, effort))
        print(f"{name} {variant} {title}: {time.monotonic() - start:.0f} s", flush=True)

    return make


def _path(state: Path, name: str, variant: int, title: str) -> Path:
    return state / f"{name}-{variant}-{title}.npy"


def of_one(
    studio: SmallStudio,
    compass: Compass,
    folder: Path,
    name: str,
    title: str,
    random: np.random.Generator,
    effort: Effort,
) -> np.ndarray:
    """Return the styles of one person's placebo of an axis, steps x 512."""
    centre, still = centre_of(studio, folder, [name], title), seen(folder, [name], title, 0.0)
    sizes = [studio.distance(seen(folder, [name], title, value), still) for value in VALUES]
    steps = beside(studio, compass, centre, sizes, random, effort)
    return np.concatenate(placed(studio, centre, steps, sizes)).astype(np.float32)


def people_of_set(folder: Path) -> list[str]:
    """Return the names of a set's people."""
    return list(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["people"])


def centre_of(studio: SmallStudio, folder: Path, people: list[str], title: str) -> Centre:
    """Draw the centres of an axis again, from the styles the set keeps."""
    known = load_styles(folder / STYLES)[title]
    styles = np.stack([known[name][1] for name in people])
    pictures = studio.render(styles)
    return Centre(styles, pictures, studio.regions(pictures), studio.read(pictures))


def beside(
    studio: SmallStudio,
    compass: Compass,
    centre: Centre,
    sizes: list[np.ndarray],
    random: np.random.Generator,
    effort: Effort,
) -> list[np.ndarray]:
    """Return the styles of each step; each side goes its own way."""
    down = placebo(studio, compass, centre, sizes[:MIDDLE][::-1], FACE_ONLY, random, effort)[::-1]
    up = placebo(studio, compass, centre, sizes[MIDDLE + 1 :], FACE_ONLY, random, effort)
    return [*down, centre.styles, *up]


def placed(studio: SmallStudio, centre: Centre, steps: list[np.ndarray], sizes: list[np.ndarray]) -> list[np.ndarray]:
    """Return the steps rescaled to the axis' sizes as they are after encoding."""
    still = recoded(centre.pictures)
    for _ in range(ROUNDS):
        for place in (one for one in range(len(VALUES)) if one != MIDDLE):
            pictures = recoded(studio.over(studio.render(steps[place]), centre))
            ratio = np.clip(sizes[place] / np.maximum(studio.distance(pictures, still), 1e-3), 0.5, 2.0)
            steps[place] = centre.styles + ratio[:, None] * (steps[place] - centre.styles)
    return steps


def candidates(
    studio: SmallStudio, folder: Path, state: Path, name: str, title: str, readings: dict[str, float]
) -> tuple[list[Candidate], int]:
    """Return the candidates of a person's placebo, and how many were inspected."""
    still = seen(folder, [name], title, 0.0)
    centre = Centre(np.zeros((1, 0)), still, studio.regions(still), np.zeros((1, 0)))
    pairs = _pairs(state, name, title)
    variants = {one: _variant(studio, centre, _path(state, name, one, title), readings) for one in {*chain(*pairs)}}
    both = [variants[down].below(variants[up]) for down, up in pairs]
    return [one for one in both if one.adult], len(both)


def _pairs(state: Path, name: str, title: str) -> list[tuple[int, int]]:
    """Return the variants of lower and upper side that were not rejected by eye."""
    thrown = json.loads(THROWN_OUT.read_text(encoding="utf-8"))[title].get(name, [[], []])
    there = range(len(list(state.glob(f"{name}-*-{title}.npy"))))
    lower, upper = ([one for one in there if one not in side] for side in thrown)
    return list(product(lower, upper))


def _variant(studio: SmallStudio, centre: Centre, path: Path, readings: dict[str, float]) -> Candidate:
    """Return a variant: its styles, drawn and read."""
    styles = np.load(path).astype(float)
    pictures = _all_drawn(studio, centre, styles, path.parent / "drawn" / path.name)
    return Candidate(styles, pictures, studio.read(pictures), studio.years(pictures), readings)


def _all_drawn(studio: SmallStudio, centre: Centre, styles: np.ndarray, path: Path) -> np.ndarray:
    """Return a variant's drawn steps, cached, as drawing is the slow part."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.concatenate([_drawn(studio, centre, one, at) for at, one in enumerate(styles)]))
    return np.asarray(np.load(path))


def _drawn(studio: SmallStudio, centre: Centre, style: np.ndarray, place: int) -> np.ndarray:
    """Return a step drawn like the axis' steps; the centre is the set's own."""
    if place == MIDDLE:
        return np.asarray(centre.pictures)
    return recoded(studio.over(studio.render(style[None]), centre))


def write(studio: SmallStudio, folder: Path, state: Path, out: Path) -> int:
    """Write the set with its placebos, without its checks; return its bytes."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    pictures = [one for one in manifest["pictures"] if one["attribute"] != "placebo" or not one["poles"]]
    for file in sorted({one["file"] for one in pictures}):
        if _title(file) in QUALITY:
            _store(out / file, opened(folder / file), QUALITY[_title(file)])
        else:
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / file, out / file)
    styles = load_styles(folder / STYLES)
    for title in titles():
        centres = _centre_readings(manifest["pictures"], title)
        for name, taken in _taken(studio, folder, state, centres, title).items():
            pictures += _placebo_pictures(taken, out, name, title)
            ends = np.stack([taken.styles[0], styles[title][name][1], taken.styles[-1]])
            styles.setdefault(placebo_title(title), {})[name] = ends
    judge_again(out, [one for one in pictures if "judged" in one and _title(one["file"]) in QUALITY])
    save_styles(out / STYLES, styles)
    (out / MANIFEST).write_text(
        json.dumps({**manifest, "pictures": pictures, "checks": []}, indent=0), encoding="utf-8"
    )
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file())


def _title(file: str) -> str:
    """Return the axis a picture is of, or whose placebo it is of."""
    return file.split("/")[1].replace("placebo-", "race-", 1)


def judge_again(out: Path, pictures: list[dict[str, Any]]) -> None:
    """Write readings of the stored pictures into the manifest, as encoding moves ages."""
    for row in track(pictures, "judged"):
        # Steps share the centre's alignment; found in each of them, landmarks err where the light is harsh.
        picture, centre = (Image.fromarray(opened(out / file)) for file in (row["file"], _centre_of(row["file"])))
        age = float(fewer_years([picture], centre)[0])
        if age < LEAST:
            raise SystemExit(f"{row['file']} is read as {age:.1f} years: throw that variant out, and find another.")
        woman = read_gender([chips(picture, LANDMARKS * SIDE, "gender")])[0]
        row["judged"] = {"age": round(age, 1), "female": round(float(woman), 3)}


def _centre_of(file: str) -> str:
    """Return the centre of a picture's series; a placebo's is its axis'."""
    name, title, _ = file.split("/")
    return f"{name}/{axis_of(title)}/+0.00.webp"


def _taken(
    studio: SmallStudio, folder: Path, state: Path, centres: dict[str, dict[str, float]], title: str
) -> dict[str, Candidate]:
    """Return everybody's placebo of an axis; count and drop what shows no adult."""
    drawn = {
        name: candidates(studio, folder, state, name, title, centres[name]) for name in track(list(centres), title)
    }
    looked, passing = sum(count for _, count in drawn.values()), sum(len(each) for each, _ in drawn.values())
    print(f"{title}: {looked - passing} of {looked} pairs of sides are read as too young at some step", flush=True)
    if without := [name for name, (each, _) in drawn.items() if not each]:
        raise SystemExit(f"{title}: no variant of {', '.join(without)} is left. Find more of theirs.")
    numbers = chosen([[one.shift for one in each] for each, _ in drawn.values()])
    return {name: each[number] for (name, (each, _)), number in zip(drawn.items(), numbers, strict=True)}


def _centre_readings(pictures: list[dict[str, Any]], title: str) -> dict[str, dict[str, float]]:
    """Return the readings that the set tells of everybody's centre of an axis."""
    return {
        one["person"]: one["readings"]
        for one in pictures
        if one["file"].endswith(f"/{title}/+0.00.webp") and "readings" in one
    }


def _placebo_pictures(taken: Candidate, out: Path, name: str, title: str) -> list[dict[str, Any]]:
    """Store one person's placebo and return its entries of the manifest."""
    poles = [one.replace("_", " ") for one in title.split("-")[1:]]
    rows = []
    for at, (value, picture) in enumerate(zip(VALUES, taken.pictures, strict=True)):
        file = f"{name}/{title if at == MIDDLE else placebo_title(title)}/{value:+.2f}.webp"
        row = {"file": file, "person": name, "attribute": "placebo", "poles": poles, "value": value, "kind": FACE_ONLY}
        if at != MIDDLE:  # the readings of a centre stand with its axis
            _store(out / file, picture, QUALITY[title])
            row["readings"] = {one: round(float(taken.corrected[at, COLUMNS.index(one)]), 2) for one in READ}
            row["judged"] = {}  # once it is stored
        rows.append(row)
    return rows


def seen(folder: Path, people: list[str], title: str, value: float) -> np.ndarray:
    """Return a step of everybody in the set, n x side x side x 3."""
    return np.stack([opened(folder / name / title / f"{value:+.2f}.webp") for name in people])


def opened(path: Path) -> np.ndarray:
    """Return a picture, side x side x 3."""
    return np.asarray(Image.open(path).convert("RGB"))


def recoded(pictures: np.ndarray) -> np.ndarray:
    """Return pictures as they are seen after the encodings the set's had."""
    for quality in EARLIER:
        pictures = np.stack([np.asarray(Image.open(io.BytesIO(webp(one, quality))).convert("RGB")) for one in pictures])
    return pictures


def webp(picture: np.ndarray, quality: int) -> bytes:
    """Encode a picture as the set's are."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", quality=quality, method=6)
    return buffer.getvalue()


def _store(path: Path, picture: np.ndarray, quality: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(webp(picture, quality))


def main() -> None:
    """Read what was asked for, and do it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["find", "write"])
    parser.add_argument("set", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--variants", type=int, default=2, help="of everybody's placebo, to choose from")
    parser.add_argument("--people", nargs="+", help="names; everybody when left out")
    parser.add_argument("--axes", nargs="+", choices=titles(), default=titles())
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.verb == "find":
        people = args.people or people_of_set(args.set)
        find(args.set, args.state, args.variants, people, args.axes, args.workers)
        return
    if args.out is None or args.out.exists():
        raise SystemExit("name a folder OUT that is not there yet")
    shutil.copytree(args.set, args.out, ignore=shutil.ignore_patterns("p*", "styles.npz", MANIFEST))
    studio = SmallStudio(best_device()[0])
    print(f"{write(studio, args.set, args.state, args.out) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

"""Placebos as large as each axis, for a set that was made without them: two commands, the first on a GPU.

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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from portrayal.edges.progress import track
from portrayal.engine import in_order
from portrayal.vision.faces.attributes import steps
from portrayal.vision.faces.manifest import MANIFEST
from portrayal.vision.faces.reader import chips, read_gender
from portrayal.vision.generator.device import best_device
from portrayal.vision.generator.directions import Compass
from portrayal.vision.generator.people import LEAST, grown, years
from portrayal.vision.generator.readings import BOTH, COLUMNS, CONTRASTS, places
from portrayal.vision.generator.steering import FULL, Centre, Effort, lines, placebo
from portrayal.vision.generator.studio import LANDMARKS, SIDE, SmallStudio, ready_compass
from training.generated.ship import READ, STYLES
from training.generated.styles import load_styles, save_styles

KIND = "face only"
# Of race and its placebos, so that all take 12 MB; gender and its own keep the files they have. What the judges said at these and at
# other qualities is in docs/counterfactuals.md: steps are told apart less the more they are encoded.
QUALITY = {"race-White-Black": 56, "race-White-East_Asian": 56, "race-Black-East_Asian": 62}
ROUNDS = 5  # of correcting lengths by what is seen of a step once it is encoded
# How the set's pictures were encoded before they come here; a placebo's go the same way, or codes would tell the two apart.
EARLIER = (84, 78)
VALUES = [round(value, 4) for value in steps("race").tolist()]
MIDDLE = len(VALUES) // 2
SIDES = Path(__file__).with_name(
    "placebo_sides.json"
)  # by axis and person: the variants of the lower and the upper side


def titles() -> list[str]:
    """Return the axes of race, as their folders are called."""
    return [
        "-".join((line.attribute, *line.poles)).replace(" ", "_")
        for line in lines()
        if line.attribute == "race"
    ]


def placebo_title(title: str) -> str:
    """Return what the folder of an axis' placebo is called."""
    return title.replace("race", "placebo", 1)


def find(
    folder: Path, state: Path, variants: int, people: Sequence[str], workers: int, effort: Effort = FULL
) -> None:
    """Find the styles of people's placebos, so many variants of each; what is done already is left as it is."""
    state.mkdir(parents=True, exist_ok=True)
    asked = [(name, variant) for variant in range(variants) for name in people]
    missing = [one for one in asked if not _path(state, *one).exists()]
    in_order(partial(finder, folder, state, effort), missing, "variant", workers)


def finder(folder: Path, state: Path, effort: Effort) -> Callable[[tuple[str, int]], None]:
    """Return what finds one variant of a person's placebos and keeps their styles, in a studio of the worker's own."""
    studio, compass = SmallStudio(best_device()[0]), ready_compass()

    def kept(asked: tuple[str, int]) -> None:
        name, variant = asked
        start, random = time.monotonic(), np.random.default_rng([zlib.crc32(name.encode()), variant])
        found = {title: of_one(studio, compass, folder, name, title, random, effort) for title in titles()}
        np.savez(_path(state, name, variant), allow_pickle=False, **found)
        print(f"{name} {variant}: {time.monotonic() - start:.0f} s", flush=True)

    return kept


def _path(state: Path, name: str, variant: int) -> Path:
    return state / f"{name}-{variant}.npz"


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
    found = beside(studio, compass, centre, sizes, random, effort)
    return np.concatenate(placed(studio, centre, found, sizes)).astype(np.float32)


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
    """Return the styles of each step; each side of the centre goes a way of its own."""
    down = placebo(studio, compass, centre, sizes[:MIDDLE][::-1], KIND, random, effort)[::-1]
    up = placebo(studio, compass, centre, sizes[MIDDLE + 1 :], KIND, random, effort)
    return [*down, centre.styles, *up]


def placed(
    studio: SmallStudio, centre: Centre, found: list[np.ndarray], sizes: list[np.ndarray]
) -> list[np.ndarray]:
    """Return the steps, longer or shorter on the same way, so that they are as large once they are encoded as the axis' are."""
    still = recoded(centre.pictures)
    for _ in range(ROUNDS):
        for place in (one for one in range(len(VALUES)) if one != MIDDLE):
            shown = recoded(studio.over(studio.render(found[place]), centre))
            ratio = np.clip(sizes[place] / np.maximum(studio.distance(shown, still), 1e-3), 0.5, 2.0)
            found[place] = centre.styles + ratio[:, None] * (found[place] - centre.styles)
    return found


@dataclass(frozen=True)
class Candidate:
    """One variant of a person's placebo: its styles, and at each step the picture and what is read of it."""

    styles: np.ndarray
    pictures: np.ndarray
    readings: np.ndarray
    years: np.ndarray
    told: dict[str, float]  # what the set's own readers said of the centre

    @property
    def corrected(self) -> np.ndarray:
        """The readings as the set's readers would give them.

        The small reader was taught by them and is off by a year or two on some faces: by how much is known at the centre.
        """
        read, at = self.readings.copy(), places(list(self.told))
        read[:, at] += np.array(list(self.told.values())) - self.readings[MIDDLE, at]
        older = self.told["years"] - self.readings[MIDDLE, places(["years"])[0]]
        read[:, places(["age", "age again"])] += older
        return read

    @property
    def adult(self) -> bool:
        """Whether every step shows an adult, by every reader of age."""
        wild = years(self.corrected, "wild age") >= LEAST
        return bool((grown(self.corrected, self.years) & wild).all())

    @property
    def shift(self) -> np.ndarray:
        """What our own readers see move from end to end: probabilities of gender, and of the second group of each pair."""
        shares = 1 / (1 + np.exp(-self.readings[:, places([BOTH, *CONTRASTS])]))
        return np.asarray(shares[-1] - shares[0])


def candidates(
    studio: SmallStudio, folder: Path, state: Path, name: str, title: str, told: dict[str, float], most: int
) -> tuple[list[Candidate], int]:
    """Return the first variants of a person's placebo whose every step shows an adult, and how many were looked at.

    Where strips were looked at (`placebo_sides.json`), the variant of either side that was chosen is the only one.
    """
    still = seen(folder, [name], title, 0.0)
    centre = Centre(np.zeros((1, 0)), still, studio.regions(still), np.zeros((1, 0)))
    there = len(list(state.glob(f"{name}-*.npz")))
    looked = json.loads(SIDES.read_text(encoding="utf-8")).get(title, {}).get(name)
    found: list[Candidate] = []
    for at, (down, up) in enumerate([looked] if looked else [(one, one) for one in range(there)], 1):
        sides = [_variant(studio, centre, state, name, one, title) for one in (down, up)]
        styles, shown = (
            np.concatenate([low[:MIDDLE], high[MIDDLE:]]) for low, high in zip(*sides, strict=True)
        )
        one = Candidate(styles, shown, studio.read(shown), studio.years(shown), told)
        found += [one] if one.adult else []
        if len(found) == most:
            return found, at
    return found, there


def _variant(
    studio: SmallStudio, centre: Centre, state: Path, name: str, variant: int, title: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return styles and pictures of a variant."""
    with np.load(_path(state, name, variant)) as kept:
        styles = kept[title].astype(float)
    return styles, _all_drawn(studio, centre, styles, state / "drawn" / f"{name}-{variant}-{title}.npy")


def _all_drawn(studio: SmallStudio, centre: Centre, styles: np.ndarray, kept: Path) -> np.ndarray:
    """Return the steps of a variant, drawn once: without a GPU that takes most of the time."""
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, np.concatenate([_drawn(studio, centre, one, at) for at, one in enumerate(styles)]))
    return np.asarray(np.load(kept))


def _drawn(studio: SmallStudio, centre: Centre, style: np.ndarray, place: int) -> np.ndarray:
    """Return a step as the set has its axis' steps; the centre is the set's own."""
    if place == MIDDLE:
        return np.asarray(centre.pictures)
    return recoded(studio.over(studio.render(style[None]), centre))


def chosen(found: Sequence[Sequence[np.ndarray]], rounds: int = 20) -> list[int]:
    """Choose a variant for everybody so that over all people no reading moves: one after the other takes what cancels most.

    The judges have no say in it: readings are those the placebos were steered by.

    Examples
    --------
    >>> chosen([[np.array([0.2])], [np.array([0.3]), np.array([-0.2])]])
    [0, 1]
    """
    taken = [0] * len(found)
    for _ in range(rounds):
        for person, variants in enumerate(found):
            others = sum(
                (each[taken[at]] for at, each in enumerate(found) if at != person), np.zeros_like(variants[0])
            )
            taken[person] = int(np.argmin([np.sum((others + one) ** 2) for one in variants]))
    return taken


def write(studio: SmallStudio, folder: Path, state: Path, out: Path, variants: int) -> int:
    """Write the set with its placebos; returns how many bytes it takes. Its checks are left out: they are to be done anew."""
    told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    pictures = [one for one in told["pictures"] if one["attribute"] != "placebo" or not one["poles"]]
    for file in sorted({one["file"] for one in pictures}):
        if file.split("/")[1].startswith("race"):
            picture = np.asarray(Image.open(folder / file).convert("RGB"))
            _store(out / file, picture, QUALITY[file.split("/")[1]])
        else:
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / file, out / file)
    styles = load_styles(folder / STYLES)
    for title in titles():
        centres = _told(told["pictures"], title)
        for name, taken in _taken(studio, folder, state, centres, title, variants).items():
            pictures += _placebo_pictures(taken, out, name, title)
            ends = np.stack([taken.styles[0], styles[title][name][1], taken.styles[-1]])
            styles.setdefault(placebo_title(title), {})[name] = ends
    save_styles(out / STYLES, styles)
    (out / MANIFEST).write_text(
        json.dumps({**told, "pictures": pictures, "checks": []}, indent=0), encoding="utf-8"
    )
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file())


def _taken(
    studio: SmallStudio,
    folder: Path,
    state: Path,
    centres: dict[str, dict[str, float]],
    title: str,
    variants: int,
) -> dict[str, Candidate]:
    """Return everybody's placebo of an axis; what shows no adult at some step is thrown out, and counted."""
    drawn = {
        name: candidates(studio, folder, state, name, title, centres[name], variants)
        for name in track(list(centres), title)
    }
    looked, kept = sum(count for _, count in drawn.values()), sum(len(each) for each, _ in drawn.values())
    print(f"{title}: {looked - kept} of {looked} variants are read as too young at some step", flush=True)
    if without := [name for name, (each, _) in drawn.items() if not each]:
        raise SystemExit(f"{title}: no variant of {', '.join(without)} is left. Find more of theirs.")
    numbers = chosen([[one.shift for one in each] for each, _ in drawn.values()])
    return {name: each[number] for (name, (each, _)), number in zip(drawn.items(), numbers, strict=True)}


def _told(pictures: list[dict[str, Any]], title: str) -> dict[str, dict[str, float]]:
    """Return the readings that the set tells of everybody's centre of an axis."""
    return {
        one["person"]: one["readings"]
        for one in pictures
        if one["file"].endswith(f"/{title}/+0.00.webp") and "readings" in one
    }


def _placebo_pictures(taken: Candidate, out: Path, name: str, title: str) -> list[dict[str, Any]]:
    """Store one person's placebo, and return what the manifest says of it; the centre is the axis' own."""
    poles = [one.replace("_", " ") for one in title.split("-")[1:]]
    women = read_gender([chips(Image.fromarray(one), LANDMARKS * SIDE, "gender") for one in taken.pictures])
    rows = []
    for at, (value, picture) in enumerate(zip(VALUES, taken.pictures, strict=True)):
        file = f"{name}/{title if at == MIDDLE else placebo_title(title)}/{value:+.2f}.webp"
        row = {
            "file": file,
            "person": name,
            "attribute": "placebo",
            "poles": poles,
            "value": value,
            "kind": KIND,
        }
        if at != MIDDLE:  # the readings of a centre stand with its axis
            _store(out / file, picture, QUALITY[title])
            row["readings"] = {one: round(float(taken.corrected[at, COLUMNS.index(one)]), 2) for one in READ}
            row["judged"] = {"age": round(float(taken.years[at]), 1), "female": round(float(women[at]), 3)}
        rows.append(row)
    return rows


def seen(folder: Path, people: list[str], title: str, value: float) -> np.ndarray:
    """Return a step of everybody as the set has it, n x side x side x 3."""
    paths = [folder / name / title / f"{value:+.2f}.webp" for name in people]
    return np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])


def recoded(pictures: np.ndarray) -> np.ndarray:
    """Return pictures as they are seen after the encodings the set's had."""
    for quality in EARLIER:
        pictures = np.stack(
            [np.asarray(Image.open(io.BytesIO(webp(one, quality))).convert("RGB")) for one in pictures]
        )
    return pictures


def webp(picture: np.ndarray, quality: int) -> bytes:
    """Encode a picture as the set's are."""
    kept = io.BytesIO()
    Image.fromarray(picture).save(kept, "WEBP", quality=quality, method=6)
    return kept.getvalue()


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
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.verb == "find":
        people = asked.people or people_of_set(asked.set)
        find(asked.set, asked.state, asked.variants, people, asked.workers)
        return
    if asked.out is None or asked.out.exists():
        raise SystemExit("name a folder OUT that is not there yet")
    shutil.copytree(asked.set, asked.out, ignore=shutil.ignore_patterns("p*", "styles.npz", MANIFEST))
    studio = SmallStudio(best_device()[0])
    print(f"{write(studio, asked.set, asked.state, asked.out, asked.variants) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

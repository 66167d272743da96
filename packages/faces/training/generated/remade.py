"""Series of the set that ships, remade where too young or without effect.

python -m training.generated.remade SET [--placebo p03=race-Black-East_Asian] [--person p21=FOLDER/NAME]

A placebo of race is made beside the cue that is there; a person is taken from a folder of `portrayal faces generate --size 256`. Placebos
are drawn until one will do: every picture as it is stored read as an adult, no reader seeing a step back, cues and age left alone. Then
`judged` is read again of every picture in the set (without more arguments that is all that is done); the checks are to be done anew, and
put in by `--checks`. Work on a copy of the set: a run that ends early leaves it half done. A cue cannot be made anew from the centre the
set has: tried once, its readings were right and it was no longer a face.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.device import best_device
from portrayal_faces.generator.making import against
from portrayal_faces.generator.people import LEAST
from portrayal_faces.generator.readings import COLUMNS
from portrayal_faces.generator.series import Made, is_calm, series_title, wanted_lines
from portrayal_faces.generator.steering import AMPLE, Centre, Line
from portrayal_faces.generator.studio import SmallStudio, fewer_years, ready_compass
from training.generated.placebo_choice import Candidate
from training.generated.placebos import EARLIER, QUALITY, VALUES, judge_again, of_one, opened, seen, webp
from training.generated.ship import READ, STYLES
from training.generated.styles import Styles, axis_of, load_styles, save_styles

TRIES, GOOD = (
    8,
    3,
)  # draws at most; and draws that will do, of which the one is taken that moves the readers that steer least
BANDS, OLDEST = {"33 to 39": 39, "39 to 43": 43}, "43 and older"  # of the set, in years


class Set:
    """A set, opened to have some series replaced; `close` writes the manifest and the styles."""

    def __init__(self, folder: Path, studio: SmallStudio) -> None:
        self.folder, self.studio = folder, studio
        self.told: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        self.styles: Styles = load_styles(folder / STYLES)

    def put(self, name: str, made: Made) -> None:
        """Replace one stored series; a placebo keeps its axis' centre."""
        middle = len(made.values) // 2
        rows = {
            f"{name}/{made.title}/{value:+.2f}.webp": at
            for at, value in enumerate(made.values)
            if made.attribute != "placebo" or at != middle
        }
        for file, at in rows.items():
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encoded(made.pictures[at], made.title))
        for one in self.told["pictures"]:
            if one["file"] in rows and "readings" in one:
                one["readings"] = _readings(made.readings[rows[one["file"]]])
        self.styles[made.title][name] = made.styles[[0, middle, -1]]

    def close(self, checks: Path | None) -> None:
        """Read again what a judge reads in every picture, and write."""
        judge_again(self.folder, [one for one in self.told["pictures"] if "judged" in one])
        if checks is not None:
            lines = checks.read_text(encoding="utf-8").splitlines()
            self.told["checks"] = [json.loads(line) for line in lines]
        save_styles(self.folder / STYLES, self.styles)
        (self.folder / MANIFEST).write_text(json.dumps(self.told, indent=0), encoding="utf-8")


def placebo(opened_set: Set, name: str, title: str) -> None:
    """Make a placebo anew, beside the cue that is there."""
    folder, studio, line = opened_set.folder, opened_set.studio, _line(title)
    pictures = np.concatenate([seen(folder, [name], title, value) for value in VALUES])
    readings = next(
        one["readings"] for one in opened_set.told["pictures"] if one["file"] == f"{name}/{title}/+0.00.webp"
    )
    good: list[tuple[float, Made]] = []
    for random in _draws(name):
        styles = of_one(studio, ready_compass(), folder, name, title, random, AMPLE)
        drawn = _laid(studio, styles, pictures[len(VALUES) // 2])
        candidate = Candidate(styles, drawn, studio.read(drawn), studio.years(drawn), readings)
        made = Made("placebo", line.poles, list(VALUES), styles, drawn, candidate.corrected, candidate.years)
        if candidate.adult and _will_do(name, [replace(made, calm=is_calm(made, ready_compass()))]):
            good.append((float(np.abs(candidate.shift).max()), made))
        if len(good) == GOOD:
            break
    if not good:
        raise SystemExit(f"{name}, placebo beside {title}: none of {TRIES} draws will do. Take another person.")
    opened_set.put(name, min(good, key=lambda one: one[0])[1])


def person(opened_set: Set, name: str, source: Path) -> None:
    """Replace the person of a name: every series, as it was made and stored."""
    manifest = json.loads((source.parent / MANIFEST).read_text(encoding="utf-8"))
    series: dict[str, list[dict[str, Any]]] = {}
    for one in manifest["pictures"]:
        if one["person"] == source.name:
            title = series_title(one["attribute"], one["poles"])
            series.setdefault(title, []).append(one)
    with np.load(source / STYLES) as styles:
        new_series = [_made(opened_set.studio, rows, styles[title], source.parent) for title, rows in series.items()]
    if not _will_do(name, new_series):
        raise SystemExit(f"{source} will not do.")
    shutil.rmtree(opened_set.folder / name)
    for made in new_series:
        opened_set.put(name, made)
    who = manifest["people"][source.name]
    opened_set.told["people"][name] = {
        **who, "seed": manifest["asked"]["seed"], "number": source.name, "band": _band(float(who["age"])), "ways": "faces generate",
    }  # fmt: skip


def _band(age: float) -> str:
    return next((band for band, end in BANDS.items() if age < end), OLDEST)


def _made(studio: SmallStudio, rows: Sequence[dict[str, Any]], styles: np.ndarray, folder: Path) -> Made:
    """Return a series of a folder as it was made."""
    rows = sorted(rows, key=lambda one: float(one["value"]))
    pictures = np.stack([opened(folder / one["file"]) for one in rows])
    values = [float(one["value"]) for one in rows]
    first = rows[0]
    read, years = studio.read(pictures), studio.years(pictures)
    return Made(first["attribute"], tuple(first["poles"]), values, styles, pictures, read, years)


def _laid(studio: SmallStudio, styles: np.ndarray, still: np.ndarray) -> np.ndarray:
    """Return the pictures of styles, each face over the set's own centre."""
    below = still[None]
    centre = Centre(np.zeros((1, 0)), below, studio.regions(below), np.zeros((1, 0)))
    drawn = [studio.over(studio.render(one[None]), centre) for one in styles]
    return np.concatenate([below if at == len(styles) // 2 else one for at, one in enumerate(drawn)])


def _will_do(name: str, series: Sequence[Made]) -> bool:
    """Return whether series can be shown, and print why not."""
    for made in series:
        stored = [Image.open(io.BytesIO(encoded(one, made.title))).convert("RGB") for one in made.pictures]
        young = fewer_years(stored, stored[len(stored) // 2]).min() < LEAST
        if why := against(made) or ("read as too young once stored" if young else ""):
            print(f"{name} {made.title}: {why}", flush=True)
            return False
    return True


def encoded(picture: np.ndarray, title: str) -> bytes:
    """Encode a picture as often as the set's were, so that artefacts agree."""
    stored = b""
    for quality in (*EARLIER, *([QUALITY[axis_of(title)]] if axis_of(title) in QUALITY else [])):
        stored = webp(picture, quality)
        picture = np.asarray(Image.open(io.BytesIO(stored)).convert("RGB"))
    return stored


def _readings(read: np.ndarray) -> dict[str, float]:
    return {one: round(float(read[COLUMNS.index(one)]), 2) for one in READ}


def _draws(name: str) -> Iterator[np.random.Generator]:
    for attempt in range(TRIES):
        yield np.random.default_rng([zlib.crc32(name.encode()), attempt])


def _line(title: str) -> Line:
    return next(one for one in wanted_lines(("gender", "race")) if series_title(one.attribute, one.poles) == title)


def main() -> None:
    """Read what was asked for, make it, and read the set again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="SET")
    for name in ("placebo", "person"):
        parser.add_argument(f"--{name}", action="append", default=[], metavar="PERSON=WHAT")
    parser.add_argument("--checks", type=Path, help="what `portrayal faces check SET --json` printed")
    args = parser.parse_args()
    there = Set(args.folder, SmallStudio(best_device()[0]))
    for name, what in (one.split("=", 1) for one in args.person):
        person(there, name, Path(what))
    for name, what in (one.split("=", 1) for one in args.placebo):
        placebo(there, name, what)
    there.close(args.checks)


if __name__ == "__main__":
    main()

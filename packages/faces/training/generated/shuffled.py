"""Test for a person: tell shuffled strips of the set from ordered ones.

python -m training.generated.shuffled lay SET OUT [--strips 60] [--seed 0]    sheets to look at, and key.json not to look at
python -m training.generated.shuffled score OUT ANSWERS.json                  how many were told rightly

ANSWERS is a JSON object: the number of a strip to true where it is in order, from either end to the other, false where it is shuffled.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from portrayal.pictures.series.folder import read_entries
from portrayal.stats.intervals.intervals import wilson

SIDE, PER_SHEET, KEY = 128, 12, "key.json"


def strips(folder: Path) -> dict[str, list[Path]]:
    """Return the pictures of every series but placebos, by name, in order."""
    series: dict[str, list[tuple[float, Path]]] = {}
    for row in read_entries(folder):
        if row["attribute"] != "placebo" and row.get("value"):
            poles = [str(row[name]) for name in ("pole_low", "pole_high") if row.get(name)]
            name = " ".join((str(row["picture"]), str(row["attribute"]), *poles))
            series.setdefault(name, []).append((float(str(row["value"])), folder / str(row["file"])))
    return {name: [path for _, path in sorted(one)] for name, one in series.items()}


def shuffled(count: int, random: np.random.Generator) -> list[int]:
    """Return a wrong order, which read backwards is wrong too."""
    while True:
        order = random.permutation(count).tolist()
        if order not in (list(range(count)), list(range(count))[::-1]):
            return order


def straight(count: int, random: np.random.Generator) -> list[int]:
    """Return the right order, from a random end, so that direction tells nothing."""
    order = list(range(count))
    return order if random.random() < 0.5 else order[::-1]


def lay(folder: Path, out: Path, count: int, seed: int) -> None:
    """Draw as many strips of each cue, shuffle half, and write sheets and key."""
    random, every = np.random.default_rng(seed), strips(folder)
    cues: dict[str, list[str]] = {}
    for name in sorted(every):
        cues.setdefault(name.split(" ", 1)[1], []).append(name)
    chosen = [str(name) for some in cues.values() for name in random.choice(some, count // len(cues), replace=False)]
    chosen = [chosen[at] for at in random.permutation(len(chosen))]
    wrong = set(random.permutation(len(chosen))[: len(chosen) // 2].tolist())
    key: dict[str, Any] = {}
    laid = []
    for place, name in enumerate(chosen):
        files = every[name]
        order = (shuffled if place in wrong else straight)(len(files), random)
        laid.append([files[at] for at in order])
        key[str(place + 1)] = {"strip": name, "order": order, "in order": place not in wrong}
    out.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(laid), PER_SHEET):
        _sheet(laid[start : start + PER_SHEET], start + 1).save(out / f"sheet{start // PER_SHEET + 1}.png")
    (out / KEY).write_text(json.dumps(key, indent=1), encoding="utf-8")
    print(f"{len(laid)} strips, {len(wrong)} of them shuffled, in {out}")


def _sheet(laid: list[list[Path]], first: int) -> Image.Image:
    """Draw strips below each other in two columns, each with its number."""
    rows = -(-len(laid) // 2)
    sheet = Image.new("RGB", (2 * (7 * SIDE + 40), rows * (SIDE + 4)), "white")
    pen = ImageDraw.Draw(sheet)
    for place, files in enumerate(laid):
        left, top = (place // rows) * (7 * SIDE + 40), (place % rows) * (SIDE + 4)
        pen.text((left + 4, top + SIDE // 2), str(first + place), fill="black")
        for at, file in enumerate(files):
            picture = Image.open(file).convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            sheet.paste(picture, (left + 30 + at * SIDE, top))
    return sheet


def score(out: Path, answers: dict[str, bool]) -> str:
    """Return how many strips were recognised, and which were not."""
    key = json.loads((out / KEY).read_text(encoding="utf-8"))
    wrong = [number for number, one in key.items() if answers.get(number) is not one["in order"]]
    share = wilson(float(len(key) - len(wrong)), len(key))
    missed = "; ".join(f"{number}: {key[number]['strip']}, {key[number]['order']}" for number in wrong)
    return (
        f"{len(key) - len(wrong)} of {len(key)} told rightly: {share.value:.1%} ({share.low:.1%} to {share.high:.1%})."
        f" Not told: {missed or 'none'}."
    )


def main() -> None:
    """Read what was asked for."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    laying = commands.add_parser("lay")
    laying.add_argument("folder", type=Path)
    laying.add_argument("out", type=Path)
    laying.add_argument("--strips", type=int, default=60)
    laying.add_argument("--seed", type=int, default=0)
    scoring = commands.add_parser("score")
    scoring.add_argument("out", type=Path)
    scoring.add_argument("answers", type=Path)
    args = parser.parse_args()
    if args.command == "lay":
        lay(args.folder, args.out, args.strips, args.seed)
    else:
        print(score(args.out, json.loads(args.answers.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()

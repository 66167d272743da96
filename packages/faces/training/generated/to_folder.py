"""A state's series as a folder that the audit reads.

`python -m training.generated.to_folder STATE OUT [--kind whole] [--people 12,77]`

STATE has face_only.tar (or whole.tar) and people.npz, as `make.py` leaves them. A placebo's centre is its axis' own.
"""

from __future__ import annotations

import argparse
import json
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.readings import COLUMNS, GROUPS

SOURCE = "generated: random-face 2021.7.21.1, styles steered"
COMMON = {"source": SOURCE, "license": "Apache-2.0", "consent": "generated"}


def to_folder(state: Path, out: Path, kind: str, wanted: set[str] | None = None) -> int:
    """Write the pictures of a kind and their manifest; returns how many pictures it names."""
    pictures, centres = [], {}
    with tarfile.open(state / f"{kind.replace(' ', '_')}.tar") as tar:
        for entry in tar:
            person, title, name = entry.name.split("/")
            if wanted is not None and person not in wanted:
                continue
            path = out / entry.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(entry).read())  # type: ignore[union-attr]
            pictures.append(picture_of(entry.name, title, kind))
            if float(PurePosixPath(name).stem) == 0:
                centres[person, beside(title)] = entry.name
    placebos = {(one["person"], "-".join(("placebo", *one["poles"])).replace(" ", "_"))
                for one in pictures if one["attribute"] == "placebo"}  # fmt: skip
    pictures += [picture_of(centres[one], one[1], kind) for one in sorted(placebos & set(centres))]
    manifest = {**COMMON, "people": people_of(state, {one["person"] for one in pictures}), "pictures": pictures}
    (out / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return len(pictures)


def beside(title: str) -> str:
    """Return the name of an axis' placebo: 'placebo', or 'placebo-White-Black' for race."""
    return "-".join(("placebo", *title.split("-")[1:]))


def picture_of(file: str, title: str, kind: str) -> dict[str, Any]:
    """Return what a manifest says of one picture."""
    person, _, name = file.split("/")
    attribute, *poles = title.split("-")
    value = float(PurePosixPath(name).stem)
    exact = next((step for step in (0.6667, 1.3333) if abs(abs(value) - step) < 0.01), abs(value))
    poles = [pole.replace("_", " ") for pole in poles]
    return {"file": file, "person": person, "attribute": attribute, "poles": poles, "value": exact if value >= 0 else -exact,
            "kind": kind}  # fmt: skip


def people_of(state: Path, names: set[str]) -> dict[str, Any]:
    """Return the readings of everybody where they were found."""
    with np.load(state / "people.npz") as arrays:
        numbers, readings, ages = arrays["number"], arrays["readings"], arrays["age"]
    people = {}
    for number, read, age in zip(numbers, readings, ages, strict=True):
        race = GROUPS[int(np.argmax([read[COLUMNS.index(name)] for name in GROUPS]))]
        gender = "male" if read[COLUMNS.index("gender")] > 0 else "female"
        people[str(number)] = {"age": str(round(float(age))), "gender": gender, "race": race}
    return {name: one for name, one in people.items() if name in names}


def main() -> None:
    """Read what was asked for, and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kind", choices=["face only", "whole"], default="face only")
    parser.add_argument("--people", default="", help="names, by commas; everybody when left out")
    args = parser.parse_args()
    print(to_folder(args.state, args.out, args.kind, set(args.people.split(",")) if args.people else None))


if __name__ == "__main__":
    main()

"""People of several drawings in one file for `make.py`.

`python -m training.generated.gathered OUT.npz SEED=PEOPLE.npz ... [--most N]`

A person of seed s and number n there is number s x 1,000,000 + n here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

SEEDS = 1_000_000


def name_of(seed: int, number: int) -> int:
    """Return the number of a person among people of several seeds."""
    return seed * SEEDS + number


def gathered(files: dict[int, Path], first: list[int], most: int | None = None) -> dict[str, np.ndarray]:
    """Return the people of all files, `first` first, no more than `most`."""
    tables = {seed: dict(np.load(path)) for seed, path in files.items()}
    whole = {key: np.concatenate([table[key] for table in tables.values()]) for key in ("styles", "readings", "age")}
    whole["number"] = np.concatenate(
        [[name_of(seed, int(number)) for number in table["number"]] for seed, table in tables.items()]
    )
    whole["under"] = np.sum([table["under"] for table in tables.values()], axis=0)
    wanted = {number: place for place, number in enumerate(first)}
    order = sorted(range(len(whole["number"])), key=lambda at: wanted.get(int(whole["number"][at]), len(wanted)))
    return {key: values if key == "under" else values[order[:most]] for key, values in whole.items()}


def main() -> None:
    """Read what was asked for, and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("files", nargs="+", help="SEED=FILE")
    parser.add_argument("--first", type=Path, help="as ship.py reads it: its people come first")
    parser.add_argument("--most", type=int)
    args = parser.parse_args()
    files = {int(seed): Path(path) for seed, path in (one.split("=", 1) for one in args.files)}
    entries = json.loads(args.first.read_text(encoding="utf-8"))["kept"] if args.first else []
    people = gathered(files, [name_of(*one) for one in entries], args.most)
    np.savez(args.out, allow_pickle=False, **people)
    print(f"{len(people['number'])} people")


if __name__ == "__main__":
    main()

"""The set that ships, assembled from the state of `make.py`.

`python -m training.generated.ship CHOSEN.json OUT STATE [SEED=STATE ...]`

CHOSEN says who was kept after two looks at every strip and who was thrown out and why; a person is named by the seed it was drawn from and
its number there (`gathered.py` made one file of people of several seeds). Pictures are encoded once more, smaller; style vectors go into
styles.npz, as a series is a straight way from its centre. People under `before` in CHOSEN are taken from an
earlier state of their seed, those under `gender before` with their series of gender and placebo alone.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from portrayal.pictures.series.manifest import MANIFEST
from portrayal_faces.generator.readings import BOTH, COLUMNS, CONTRASTS
from training.generated.gathered import name_of
from training.generated.styles import Styles, save_styles
from training.generated.to_folder import COMMON, beside, people_of, picture_of

QUALITY = 78
READ = (BOTH, *CONTRASTS, "years", "wild age")
STYLES = "styles.npz"
AXES = ("gender", "race")


def ship(
    chosen: dict[str, Any], out: Path, latest: Path, earlier: dict[int, Path], checks: list[dict[str, Any]]
) -> int:
    """Write pictures, manifest and style vectors; returns how many bytes they take."""
    out.mkdir(parents=True, exist_ok=True)
    pictures: list[dict[str, Any]] = []
    people: dict[str, Any] = {}
    vectors: Styles = {}
    for place, (seed, number) in enumerate(chosen["kept"], 1):
        name, sources = f"p{place:02}", _sources(chosen, latest, earlier, seed, number)
        state, known, _ = sources[-1]
        people[name] = {
            **people_of(state, {known})[known],
            "seed": seed,
            "number": number,
            "band": chosen["bands"][place - 1],
            "ways": "corrected" if state == latest else "before they were corrected",
        }
        rows, styles = _series(sources, name)
        for row, stored in rows:
            (out / row["file"]).parent.mkdir(parents=True, exist_ok=True)
            (out / row["file"]).write_bytes(stored)
            pictures.append(row)
        for row in [row for row, _ in rows if row["attribute"] != "placebo" and row["value"] == 0]:
            centre = picture_of(row["file"], beside(row["file"].split("/")[1]), "face only")
            pictures.append({**centre, "person": name})
        for title, values in styles.items():
            vectors.setdefault(title, {})[name] = values
    save_styles(out / STYLES, vectors)
    manifest = {**COMMON, "thrown out": chosen["thrown out"], "people": people, "pictures": pictures, "checks": checks}
    (out / MANIFEST).write_text(json.dumps(manifest, indent=0), encoding="utf-8")
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file())


def _sources(
    chosen: dict[str, Any], latest: Path, earlier: dict[int, Path], seed: int, number: int
) -> list[tuple[Path, str, tuple[str, ...]]]:
    """Return the state, name and axes that hold a person's series; the last has race."""
    person = [seed, number]
    if person in chosen.get("before", []):
        return [(earlier[seed], str(number), AXES)]
    if person in chosen.get("gender before", []):
        return [(earlier[seed], str(number), AXES[:1]), (latest, str(name_of(seed, number)), AXES[1:])]
    return [(latest, str(name_of(seed, number)), AXES)]


def _series(
    sources: list[tuple[Path, str, tuple[str, ...]]], name: str
) -> tuple[list[tuple[dict[str, Any], bytes]], dict[str, np.ndarray]]:
    """Return a person's pictures with readings, and their style vectors."""
    rows: list[tuple[dict[str, Any], bytes]] = []
    styles: dict[str, np.ndarray] = {}
    for state, number, axes in sources:
        table = _table(state, number, axes)
        with tarfile.open(state / "face_only.tar") as tar:
            for entry in tar:
                person, title, file = entry.name.split("/")
                if person == number and _axis(title) in axes:
                    stored = tar.extractfile(entry).read()  # type: ignore[union-attr]
                    rows.append((_row(entry.name, title, file, name, table), _smaller(stored)))
        styles |= _vectors(table)
    return rows, styles


def _axis(title: str) -> str:
    """Return the axis of a series or of a placebo's series; only race has poles."""
    return "race" if "-" in title else "gender"


def _table(state: Path, number: str, axes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return what a state knows of a person's series of some axes."""
    with np.load(state / "face_only.npz") as arrays:
        at = int(np.flatnonzero(arrays["names"] == int(number))[0])
        return {
            key: arrays[key][at]
            for key in arrays.files
            if key.endswith((" readings", " ages", " female", " styles")) and _axis(key) in axes
        }


def _row(path: str, title: str, file: str, name: str, table: dict[str, np.ndarray]) -> dict[str, Any]:
    entry = {**picture_of(path, title, "face only"), "file": f"{name}/{title}/{file}", "person": name}
    steps = len(table[f"{title} ages"])
    place = round((float(file.removesuffix(".webp")) + 2) / 4 * (steps - 1))
    read = table[f"{title} readings"][place]
    entry["readings"] = {one: round(float(read[COLUMNS.index(one)]), 2) for one in READ}
    entry["judged"] = {
        "age": round(float(table[f"{title} ages"][place]), 1),
        "female": round(float(table[f"{title} female"][place]), 3),
    }
    return entry


def _vectors(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return centres and ends: every step lies on the straight way between."""
    vectors = {}
    for key, values in table.items():
        if key.endswith(" styles"):
            title = key.removesuffix(" styles")
            vectors[title] = values[[0, len(values) // 2, -1]]
    return vectors


def _smaller(stored: bytes) -> bytes:
    buffer = io.BytesIO()
    Image.open(io.BytesIO(stored)).convert("RGB").save(buffer, "WEBP", quality=QUALITY, method=6)
    return buffer.getvalue()


def main() -> None:
    """Read what was asked for, and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("chosen", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("earlier", nargs="*", help="SEED=STATE")
    parser.add_argument("--checks", type=Path, help="what `portrayal faces check OUT --json` printed")
    args = parser.parse_args()
    chosen = json.loads(args.chosen.read_text(encoding="utf-8"))
    checks = [json.loads(line) for line in args.checks.read_text("utf-8").splitlines()] if args.checks else []
    earlier = {int(seed): Path(path) for seed, path in (one.split("=", 1) for one in args.earlier)}
    print(f"{ship(chosen, args.out, args.state, earlier, checks) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

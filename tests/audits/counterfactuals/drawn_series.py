"""A folder of series of plain drawn pictures, in the form of docs/series_on_disk.md.

Each picture is a grey square with a person's own pattern; an axis adds its pattern times the value, so that the size of every
edit is known: 30 levels of 255 a unit (root mean square), for every axis and, unless told otherwise, the placebo.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PAIRS = (("White", "Black"), ("White", "East Asian"), ("Black", "East Asian"))
SIDE, LEVELS = 24, 30.0
VALUES = {"gender": 7, "placebo": 7, "race": 5}
Size = Callable[[int, float], float]  # of a person's placebo at a value, relative to the axis


def draw_folder(
    folder: Path,
    people: int = 12,
    pairs: Sequence[tuple[str, str]] = PAIRS,
    kinds: Sequence[str] = ("face only",),
    placebo: Size | None = lambda person, value: 1.0,
    beside: Sequence[tuple[str, str]] = (),
    **further: Any,
) -> Path:
    """Write pictures and `manifest.json`; `beside` are pairs with a placebo of their own; `further` goes into the manifest as it is."""
    axes = [("gender",), *(("race", *pair) for pair in pairs), *([("placebo",)] if placebo else [])]
    axes += [("placebo", *pair) for pair in beside]
    pictures = [
        _draw(folder, person, axis, value, kind, placebo)
        for person in range(people)
        for kind in kinds
        for axis in axes
        for value in np.linspace(-2, 2, VALUES["race" if axis[1:] else axis[0]]).round(4).tolist()
    ]
    groups = sorted({name for pair in pairs for name in pair}) or ["White"]
    who = {
        f"p{person}": {"age": "30-39", "gender": ("female", "male")[person % 2], "race": groups[person % len(groups)]}
        for person in range(people)
    }
    told = {
        "source": "drawn",
        "license": "CC0-1.0",
        "consent": "generated",
        "people": who,
        "pictures": pictures,
        **further,
    }
    (folder / "manifest.json").write_text(json.dumps(told))
    return folder


def check(attribute: str, passed: bool | None, poles: Sequence[str] = (), **further: Any) -> dict[str, Any]:
    """Return a check as a manifest tells it."""
    return {
        "check": "perceived age stays", "attribute": attribute, "poles": list(poles), "kind": "face only", "value": 7.3,
        "low": 6.0, "high": 8.6, "n": 12, "unit": "years, highest less lowest", "needs": "under 2.5 in size", "passed": passed,
        "note": "", **further,
    }  # fmt: skip


def steps_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the pictures of a drawn folder as its manifest tells them."""
    yield from json.loads((folder / "manifest.json").read_text())["pictures"]


def _draw(
    folder: Path, person: int, axis: tuple[str, ...], value: float, kind: str, placebo: Size | None
) -> dict[str, Any]:
    scale = placebo(person, value) if placebo and axis[0] == "placebo" else 1.0
    own = _pattern(f"person {person} {kind}") * 20
    pixels = 128 + own + LEVELS * value * scale * _pattern(" ".join(axis))
    file = Path(kind.replace(" ", "_")) / f"p{person}" / f"{'-'.join(axis).replace(' ', '_')}_{value:+.2f}.png"
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.rint(pixels).astype(np.uint8)).save(folder / file)
    return {
        "file": file.as_posix(), "person": f"p{person}", "attribute": axis[0], "poles": list(axis[1:]), "value": value,
        "kind": kind, "readings": {"female": 0.5},
    }  # fmt: skip


def _pattern(name: str) -> np.ndarray:
    """Return a pattern of 1 and -1 in small squares, the same for the same name."""
    signs = np.random.default_rng(zlib.crc32(name.encode())).choice((-1.0, 1.0), (SIDE // 4, SIDE // 4, 3))
    return signs.repeat(4, axis=0).repeat(4, axis=1)

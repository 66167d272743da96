"""Studies of counterfactuals: a drawn folder of series with checks, tables of series, the set that ships."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from frozen.places import made, run, simulated, table
from frozen.series import STEPS, chance
from frozen.tables import Tables

AXES = (("gender",), ("race", "White", "Black"), ("race", "Black", "East Asian"), ("placebo",))


def draw(folder: Path, people: int, **further: Any) -> None:
    """Draw a folder of series: a grey square with a person's own pattern, to which an axis adds its own."""
    pictures = []
    for person in range(people):
        for axis in AXES:
            for value in STEPS[axis[0]].round(4).tolist():
                file = f"p{person}/{'-'.join(axis).replace(' ', '_')}_{value:+.2f}.png"
                pixels = 128 + 20 * _pattern(person) + 30 * value * _pattern(*axis)
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(np.rint(pixels).astype(np.uint8)).save(folder / file)
                told = {"person": f"p{person}", "attribute": axis[0], "poles": list(axis[1:])}
                pictures.append({"file": file, **told, "value": value, "kind": "face only"})
    groups = ("White", "Black", "East Asian")
    who = {
        f"p{person}": {"age": "30-39", "gender": ("female", "male")[person % 2], "race": groups[person % 3]}
        for person in range(people)
    }
    about = {"source": "drawn", "license": "CC0-1.0", "consent": "generated", "people": who, "pictures": pictures}
    (folder / "manifest.json").write_text(json.dumps({**about, **further}))


def _pattern(*name: object) -> np.ndarray:
    signs = [
        [[1 if chance(*name, row, column, band) < 0.5 else -1 for band in range(3)] for column in range(6)]
        for row in range(6)
    ]
    return np.array(signs).repeat(4, axis=0).repeat(4, axis=1)


def check(attribute: str, passed: bool | None, poles: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a check as a manifest tells it."""
    about = {"check": "perceived age stays", "attribute": attribute, "poles": list(poles), "kind": "face only"}
    found = {"value": 7.3, "low": 6.0, "high": 8.6, "n": 12, "unit": "years, highest less lowest"}
    return {**about, **found, "needs": "under 2.5 in size", "passed": passed, "note": ""}


def series(folder: Path, people: int = 14, checks: bool = True, repeats: int = 1, **further: Any) -> Tables:
    """Show a drawn folder to leaning, even, shy and raising taggers and a phantom."""
    told = [
        check("gender", True),
        check("race", False, ("Black", "East Asian")),
        check("race", None, ("White", "Black")),
    ]
    draw(folder / "series", people, **({"checks": told} if checks else {}))
    systems = [
        made("face_tagger", "leaning", slope=0.45),
        made("face_tagger", "even", slope=0.0),
        made("face_tagger", "shy", slope=0.2, shy=True),
        made("raising", "raising"),
        simulated("phantom:counterfactuals", "phantom", slopes={"Nurse": -0.3, "Judge": 0.0}, seed=3),
    ]
    data = {"name": "series", "audit": "counterfactuals", "seed": 6, "repeats": repeats, "systems": systems}
    return run(folder, {**data, "counterfactuals": {"series": "series", "attributes": ["gender", "race"]}, **further})


def shipped(folder: Path) -> Tables:
    """Show the set that ships to phantoms with and without slopes along race, and hold slopes against shares."""
    table(
        folder / "shares.csv",
        ("occupation", "share"),
        [("nurse", 0.2), ("engineer", 0.8), ("teacher", 0.4), ("judge", 0.6)],
    )
    slopes = {"Nurse": -0.3, "Engineer": 0.3, "Teacher": 0.0, "Judge": 0.1}
    systems = [
        simulated("phantom:counterfactuals", "planted", slopes=slopes, attribute="race", poles=["White", "Black"]),
        simulated("phantom:counterfactuals", "nothing planted", slopes=dict.fromkeys(slopes, 0.0), seed=8),
    ]
    own = {
        "series": "shipped",
        "attributes": ["gender", "race"],
        "poles": ["White", "Black"],
        "labels": list(slopes),
        "shares": "shares.csv",
    }
    data = {"name": "shipped", "audit": "counterfactuals", "systems": systems, "counterfactuals": own}
    return run(folder, {**data, "family": {"method": "benjamini-hochberg"}})


STUDIES: dict[str, Callable[[Path], Tables]] = {
    "own_series": series,
    "own_series_few": lambda folder: series(folder, people=5, checks=False, repeats=2),
    "own_series_hypotheses": lambda folder: series(
        folder,
        people=8,
        hypotheses=[{"name": "nurses", "where": {"measure": "slope", "label": "Nurse", "attribute": "gender"}}],
    ),
    "own_series_shipped": shipped,
}

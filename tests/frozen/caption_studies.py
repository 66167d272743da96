"""Studies of captions: generated scenes before phantoms, and pictures with people, labels and captions in tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from frozen.places import drawn, made, run, simulated, table
from frozen.series import chance
from frozen.tables import Tables

QUICK = {"object_types": 8, "splits": 20, "bootstraps": 20, "permutations": 99, "processes": 1}
PLANTED = (
    "objects correctly mentioned", "demeaning words", "identity adjectives used as nouns", "identity terms imposed", "markedness",
    "group words wrong",
)  # fmt: skip
IMAGES = [f"{sign}{number:02}" for sign in "fm" for number in range(32)]


def scenes(folder: Path, planted: tuple[str, ...] = PLANTED, number: int = 60) -> Tables:
    """Caption generated scenes by phantoms, each of which plants one harm."""
    systems = [simulated("phantom:captions", f"plants {name}", plants=name, rate=0.4) for name in planted]
    data = {
        "name": "scenes",
        "audit": "captions",
        "seed": 2,
        "systems": systems,
        "captions": {"scenes": number, **QUICK},
    }
    return run(folder, data)


def nothing(folder: Path) -> Tables:
    """Caption scenes by two phantoms that plant nothing, twice each, with another correction."""
    systems = [simulated("phantom:captions", name, plants=name) for name in ("nothing", "nothing, evenly careless")]
    own = {"scenes": 50, **QUICK, "truth": "human captions"}
    data = {"name": "nothing", "audit": "captions", "repeats": 2, "systems": systems, "captions": own}
    return run(folder, {**data, "family": {"method": "bonferroni"}})


def tabled(folder: Path, truth: str = "human labels", **further: Any) -> Tables:
    """Caption pictures told in tables: careless, careful, raising and recorded captioners, two captions an image."""
    for number, name in enumerate(IMAGES):
        drawn(folder / f"{name}.png", number)
    table(
        folder / "images.csv",
        ("image", "path", "license", "consent"),
        [(name, f"{name}.png", "CC0-1.0", "drawn") for name in IMAGES],
    )
    people = [(name, "gender", {"f": "female", "m": "male"}[name[0]], "us") for name in IMAGES]
    people += [(name, "skin", ("lighter", "darker", "unsure")[int(name[1:]) % 5 % 3], "us") for name in IMAGES[:-3]]
    table(folder / "people.csv", ("image", "axis", "group", "assigned_by"), people)
    words = {"f": ("woman", "dress"), "m": ("man", "jacket")}
    beside = ("a dog", "a wheelchair")
    human = [
        (
            name,
            f"{start} {words[name[0]][0]} in a {words[name[0]][1]} rides a horse next to {beside[int(name[1:]) % 2]}.",
        )
        for name in IMAGES
        for start in ("A", "An old")
    ]
    table(folder / "human.csv", ("image", "text"), human)
    _labels(folder, words)
    recorded = [
        (name, system, f"a {said} with a dog", "refused" if chance("gone", name) < 0.05 else "")
        for name in IMAGES[:-1]
        for system in ("oscar", "nic")
        for said in [words[name[0]][0] if chance(system, name) < 0.8 else "person"]
    ]
    table(folder / "captions.csv", ("image_id", "system", "caption", "status"), recorded)
    replayed = {"columns": {"stimulus": "image_id"}, "where": {"system": "oscar"}}
    systems = [
        made("portrayer", "careless", careless=0.5),
        made("portrayer", "careful", careless=0.02),
        made("raising", "raising"),
        simulated("replay:captions.csv", "recorded", **replayed),
    ]
    own = {
        "images": "images.csv", "people": {"file": "people.csv"}, "human_captions": {"file": "human.csv"}, "truth": truth,
        "human_labels": {"labels": "labels.csv", "boxes": "boxes.csv"}, "system_labels": {"labels": "seen.csv"}, **QUICK,
    }  # fmt: skip
    data = {"name": "tables", "audit": "captions", "repeats": 2, "systems": systems, "captions": {**own, **further}}
    return run(folder, data)


def _labels(folder: Path, words: dict[str, tuple[str, str]]) -> None:
    """Write what is labelled in each picture, what a vision model sees in it, and where it lies."""
    labels, boxes = [], []
    for name in IMAGES:
        person, worn = words[name[0]]
        things = [
            person,
            worn,
            "horse",
            ("dog", "wheelchair")[int(name[1:]) % 2],
            *(["park"] if chance("park", name) < 0.5 else []),
        ]
        labels += [(name, "object", "", thing, "") for thing in things]
        labels += [(name, "attribute", "horse", "brown", ""), (name, "relation", person, "ride", "horse")]
        for place, thing in enumerate(things):
            size = 20 + 60 * chance("size", name, thing)
            boxes.append((name, thing, 5 * place, 4, round(size, 2), round(size, 2), 120, 160))
    columns = ("image", "kind", "subject", "word", "object")
    table(folder / "labels.csv", columns, labels)
    table(folder / "seen.csv", columns, [row for row in labels if chance("seen", *row) < 0.7])
    table(
        folder / "boxes.csv",
        ("image", "object", "left", "top", "width", "height", "image_width", "image_height"),
        boxes,
    )


STUDIES: dict[str, Callable[[Path], Tables]] = {
    "own_scenes": scenes,
    "own_scenes_small": lambda folder: scenes(folder, ("people not mentioned", "nothing"), 40),
    "own_captions_nothing": nothing,
    "own_captions_labels": tabled,
    "own_captions_human": lambda folder: tabled(
        folder, "human captions", tolerance=0.02, threshold=0.01, same_object=1.9
    ),
}

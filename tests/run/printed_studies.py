"""A small study of each audit with a harm planted in `mine`, whose systems answer from a module or a table beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from audits.captions.test_standing_null import write_study
from audits.counterfactuals.test_counterfactuals import make_folder

SERIES = """
import re


def shown(path):
    person, value = re.search(r"person(\\d+)_gender_([+-]\\d+[.]\\d+)", str(path)).groups()
    return int(person), float(value)


def mine(path):
    person, value = shown(path)
    return ["Nurse"] if person < (20 if value > 0 else 1 if value == 0 else 0) else []


def other(path):
    person, value = shown(path)
    return [name for place, name in enumerate("abcdefgh") if (person * 7 + round(value * 3) * (place + 3)) % 11 < 5]
"""
WORDS = """
import hashlib

import numpy as np

WOMEN = "Amy Joan Lisa Sarah Diana Kate Ann Donna".split()
FAMILY = "home parents children family cousins marriage wedding relatives".split()


def mine(text, tie=2.0):
    noise = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
    side = 1.0 if any(word in text.split() for word in WOMEN + FAMILY) else -1.0
    return [side * tie, *noise.normal(size=12)]


def other(text):
    return mine(text[::-1], 0.0)
"""
System = dict[str, Any]


def counterfactuals(folder: Path) -> tuple[dict[str, Any], list[System]]:
    """Series of faces before a tagger that calls the masculine ones nurses."""
    make_folder(folder)
    (folder / "answering.py").write_text(SERIES)
    own = {"series": "series", "source": "drawn", "consent": "generated", "age": "30-39", "attributes": ["gender"]}
    return own, functions("mine", *(f"other {place}" for place in range(2)))


def associations(folder: Path) -> tuple[dict[str, Any], list[System]]:
    """Names of women and men before an encoder that ties women to the family."""
    (folder / "answering.py").write_text(WORDS)
    own = {"tests": ["weat6", "weat7", "weat8"], "variants": [], "templates": "none", "alternative": "two-sided"}
    return own, functions("mine", "other")


def search(folder: Path) -> tuple[dict[str, Any], list[System]]:
    """Queries of a made-up collection before engines that follow their gender, or not."""
    names = {"mine": "stereotypical", "other": "bm25"}
    systems = [{"name": name, "use": use, "parameters": {"collection": "toy"}} for name, use in names.items()]
    return {"collection": "toy", "variants": False, "validate_direction": False}, systems


def captions(folder: Path) -> tuple[dict[str, Any], list[System]]:
    """Images before a captioner that misgenders more often than people, and others."""
    written = write_study(folder)
    names = {"worse": "mine", "alike": "other", "crossed": "crossed"}
    by_name = {one["name"]: one for one in written["systems"]}
    systems = [{**by_name[planted], "name": name} for planted, name in names.items()]
    return {**written["captions"], "object_types": 5, "splits": 20, "bootstraps": 20, "permutations": 199}, systems


def contexts(folder: Path) -> tuple[dict[str, Any], list[System]]:
    """People in places before a tagger that sees women in a wedding shop and misgenders two of five."""
    rng, places = np.random.default_rng(0), (None, "F1", "M1")
    people = [(f"p{number}", ("female", "male")[number % 2], "AB"[number // 2 % 2]) for number in range(24)]
    shown = [(f"{person}@{place}", person, place, *groups) for person, *groups in people for place in places]
    columns = ["image_id", "person", "context", "gender", "race"]
    role = pl.when(pl.col("context").is_null()).then(pl.lit("baseline")).otherwise(pl.lit("composite"))
    table = pl.DataFrame(shown, schema=columns, orient="row").with_columns(role=role, background="context")
    table.write_csv(folder / "people.csv")

    def named(system: str, place: str | None, gender: str) -> str:
        seen = "female" if system == "mine" and place == "F1" else gender
        turned = rng.random() < {"mine": 0.4, "other": 0.02}[system] and place != "F1"
        return {"female": "woman", "male": "man"}[seen if not turned else {"female": "male", "male": "female"}[seen]]

    said = [
        (system, image, tag)
        for system in ("mine", "other")
        for image, _, place, gender, _ in shown
        for tag in (named(system, place, gender), "wall", "chair")
    ]
    pl.DataFrame(said, schema=["system", "stimulus", "tag"], orient="row").write_csv(folder / "said.csv")
    where = [{"where": {"system": name}} for name in ("mine", "other")]
    systems = [{"name": one["where"]["system"], "use": "replay:said.csv", "parameters": one} for one in where]
    own = {"people": "people.csv", "images": False, "factors": ["gender", "race"], "mixed": False, "described": False}
    return own, systems


def functions(*names: str) -> list[System]:
    """Return systems that answer by the functions beside the study."""
    return [{"name": name, "use": f"python:answering:{name.split()[0]}", "version": name} for name in names]


STUDIES: Mapping[str, Callable[[Path], tuple[dict[str, Any], list[System]]]] = {
    "counterfactuals": counterfactuals,
    "search": search,
    "associations": associations,
    "contexts": contexts,
    "captions": captions,
}

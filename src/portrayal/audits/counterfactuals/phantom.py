"""A simulated tagger whose labels follow the manipulated cue: `use = "phantom:counterfactuals"`.

It never looks at a picture. It reads the manifest beside the series, so it knows the attribute and value of each step, and
gives each planted label with the chance rate x (1 + slope x value), from a seed; along a placebo and for every other attribute
than `attribute` its slopes are zero. For demonstrations and calibration; it measures nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.pictures.series.entries import is_edited
from portrayal.pictures.series.folder import TABLE, read_entries
from portrayal.pictures.series.manifest import MADE, MANIFEST
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings

LABELS = {
    "Nurse": -0.3, "Secretary": -0.25, "Receptionist": -0.2, "Model": -0.15, "Scientist": 0.3, "Engineer": 0.25,
    "Attorney": 0.2, "Executive": 0.15, "Musician": 0.0, "Teacher": 0.0, "Cook": 0.0, "Smile": 0.0,
}  # fmt: skip


class Planted(Settings):
    """What is planted."""

    slopes: dict[str, float] = LABELS  # normalised, per unit of the value
    attribute: str = "gender"
    poles: list[str] = []  # of race: the one pair that is followed; every pair when left out
    rate: float = 0.55  # chance of each label at the centre
    steady: float = 0.85  # chance that a step uses its picture's own random number
    seed: int = 0


@dataclass
class PhantomTagger(BaseSystem):
    """Answers from the manifest."""

    repeatable: bool = True
    batch: int = 64
    planted: Planted = field(default_factory=Planted)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Answer by chance, the same chance every time."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer | Exception:
        path = Path(question.content)
        known = _manifest(_home(path)).get(question.stimulus)
        if known is None:
            return CallFailed(f"{path.parent} holds no manifest of series that names this picture")
        return Answer(json.dumps(describe(known, self.planted, question.repeat)).encode(), version="phantom")


def describe(known: Mapping[str, Any], planted: Planted, repeat: int = 0) -> list[dict[str, Any]]:
    """Return the labels of one step with a made-up confidence."""
    tags: list[dict[str, Any]] = [{"tag": "Face", "confidence": 0.99}]
    moves = known["attribute"] == planted.attribute and known["value"] is not None
    moves = moves and planted.poles in ([], [known.get("pole_low"), known.get("pole_high")])
    for label, slope in planted.slopes.items():
        chance = planted.rate * (1 + slope * (known["value"] if moves else 0.0))
        own, fresh, which = _draws(planted.seed, label, known["picture"], known["stimulus"], repeat)
        if (own if which < planted.steady else fresh) < chance:
            tags.append({"tag": label, "confidence": float(np.clip(chance, 0, 1))})
    return tags


def _draws(seed: int, label: str, picture: str, stimulus: str, repeat: int) -> tuple[float, float, float]:
    """Return three uniform numbers: the picture's own for this label, and two of this step."""
    own = hashlib.sha256(f"{seed}|{label}|{picture}|{repeat}".encode()).digest()
    step = hashlib.sha256(f"{seed}|{label}|{stimulus}|{repeat}".encode()).digest()
    return _uniform(own[:8]), _uniform(step[:8]), _uniform(step[8:16])


def _uniform(raw: bytes) -> float:
    return int.from_bytes(raw, "big") / 2**64


def _home(path: Path) -> Path:
    """Return the folder whose manifest names a picture: its own, or one above."""
    near = [path.parent, *path.parent.parents[:2]]
    named = (MADE, MANIFEST, TABLE)
    return next((folder for folder in near if any((folder / name).is_file() for name in named)), path.parent)


@lru_cache(maxsize=8)
def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    if (folder / MADE).exists():
        rows = pl.read_parquet(folder / MADE).to_dicts()
        return {row["stimulus"]: row for row in rows}
    try:
        entries = read_entries(folder)
    except PortrayalError:  # no series there: the question fails, and says so
        return {}
    return {
        str(row["stimulus"]): {**row, "value": float(str(row["value"])) if is_edited(row) else None} for row in entries
    }


def open_system(settings: SystemSettings, folder: Path) -> PhantomTagger:
    """Open the phantom with what its parameters plant."""
    planted = settings.read(Planted)
    return PhantomTagger(
        **settings.fields("phantom:counterfactuals", kind=settings.kind or "tagger", parameters=planted.model_dump()),
        planted=planted,
    )

"""Simulated tagger whose labels follow the manipulated cue (`use = "phantom:counterfactuals"`); it measures nothing.

It never looks at a picture: the manifest beside the series tells it the attribute and value of each step.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.audits.counterfactuals.world import Planted, describe
from portrayal.errors import PortrayalError
from portrayal.pictures.series.folder import TABLE, is_edited, read_entries
from portrayal.pictures.series.manifest import MADE, MANIFEST
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings


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

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
        near = [path.parent, *path.parent.parents[:2]]  # the manifest is in its own folder, or one above
        named = (folder for folder in near for name in (MADE, MANIFEST, TABLE) if (folder / name).is_file())
        known = _manifest(next(named, path.parent)).get(question.stimulus)
        if known is None:
            return CallFailed(f"{path.parent} holds no manifest of series that names this picture")
        return Answer(json.dumps(describe(known, self.planted, question.repeat)).encode(), version="phantom")


@lru_cache(maxsize=8)
def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    if (folder / MADE).exists():
        return {row["stimulus"]: row for row in pl.read_parquet(folder / MADE).to_dicts()}
    try:
        entries = read_entries(folder)
    except PortrayalError:  # no series there: the question fails, and says so
        return {}
    return {
        str(row["stimulus"]): {**row, "value": float(str(row["value"])) if is_edited(row) else None} for row in entries
    }


def open_system(settings: SystemSettings, folder: Path) -> PhantomTagger:
    """Open the phantom with what its parameters plant."""
    planted, kind = settings.read(Planted), settings.kind or "tagger"
    fields = settings.fields("phantom:counterfactuals", kind=kind, parameters=planted.model_dump())
    return PhantomTagger(**fields, planted=planted)

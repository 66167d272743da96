"""Simulated tagger with a planted stereotype (`use = "phantom:contexts"`), for demonstrations; it measures nothing.

It never looks at a picture: the manifest beside the composed pictures tells it who stands where.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from portrayal.audits.contexts.factorial import MANIFEST
from portrayal.audits.contexts.world import Planted, describe
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.text.words.typology import load_contexts


@dataclass
class StereotypingTagger(BaseSystem):
    """The phantom as a system."""

    repeatable: bool = True
    batch: int = 256
    planted: Planted = Planted()
    _stereotypes: Mapping[str, str] = field(default_factory=dict)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Answer from the manifest beside each picture."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer | Exception:
        seen = _manifest(str(Path(question.content).parent)).get(question.stimulus)
        if seen is None:
            return CallFailed(f"this phantom answers only pictures with a {MANIFEST} beside them")
        key = f"{self.planted.seed}|{question.stimulus}|{question.repeat}".encode()
        random = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()[:8]))
        tags = describe(*seen, self.planted, self._stereotypes, random)
        return Answer(json.dumps(tags).encode(), version="phantom")


@lru_cache(maxsize=4)
def _manifest(folder: str) -> dict[str, tuple[str | None, str | None]]:
    """Return the gender and the context that each picture of a folder shows."""
    file = Path(folder) / MANIFEST
    if not file.is_file():
        return {}
    rows = pl.read_csv(file, infer_schema=False).iter_rows(named=True)
    return {row["stimulus"]: (row.get("gender"), row["context"]) for row in rows}


def open_system(settings: SystemSettings, folder: Path) -> StereotypingTagger:
    """Open the phantom with what the study plants."""
    stereotypes = dict(load_contexts().select("context", "stereotype").iter_rows())
    fields = settings.fields("phantom:contexts", kind="tagger")
    return StereotypingTagger(**fields, planted=settings.read(Planted), _stereotypes=stereotypes)

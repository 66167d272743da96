"""Recorded embeddings: `use = "embeddings"` with `path` to .npz, .safetensors or .parquet.

A stimulus is looked up by its id, its content hash, its content, or the name of its file (with and without ending).
See `portrayal.text.vectors.files` for what a file must hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import MEDIA, pack
from portrayal.text.vectors.files import read_vectors


class RecordedSettings(Settings):
    """The file."""

    path: str


@dataclass
class RecordedEmbeddings(BaseSystem):
    """Embeddings from a file, read when first asked."""

    batch: int = 1024
    reader: str = "vector"
    repeatable: bool = True
    path: Path = field(default_factory=Path)
    _vectors: dict[str, np.ndarray] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the questions up; one without an embedding fails, it is never zero."""
        if self._vectors is None:
            self._vectors = read_vectors(self.path)
        return [self._look_up(question) for question in questions]

    def _look_up(self, question: Question) -> Answer | Exception:
        place = Path(question.content) if question.kind == "image" else None
        names = [question.stimulus, question.hash, question.content]
        for name in [*names, *([place.name, place.stem] if place else [])]:
            if name in (self._vectors or {}):
                return Answer(pack((self._vectors or {})[name]), MEDIA)
        return CallFailed("no recorded embedding for this stimulus")


def open_system(settings: SystemSettings, folder: Path) -> RecordedEmbeddings:
    """Open a file of embeddings."""
    own = settings.read(RecordedSettings)
    path = folder / own.path
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "missing"
    return RecordedEmbeddings(**settings.fields(f"embeddings:{own.path}:{digest}"), path=path)

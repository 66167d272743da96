"""Recorded embeddings: `use = "embeddings"` with `path` to .npz, .safetensors or .parquet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
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
    path: Path = field(kw_only=True)
    _vectors: Mapping[str, np.ndarray] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the questions up; one without an embedding fails, it is never zero."""
        if self._vectors is None:
            self._vectors = read_vectors(self.path)
        return [_look_up(question, self._vectors) for question in questions]


def _look_up(question: Question, vectors: Mapping[str, np.ndarray]) -> Answer | Exception:
    place = Path(question.content)
    files = [place.name, place.stem] if question.kind == "image" else []
    names = [question.stimulus, question.hash, question.content, *files]
    name = next((name for name in names if name in vectors), None)
    return CallFailed("no recorded embedding for this stimulus") if name is None else Answer(pack(vectors[name]), MEDIA)


def open_system(settings: SystemSettings, folder: Path) -> RecordedEmbeddings:
    """Open a file of embeddings."""
    own = settings.read(RecordedSettings)
    path = folder / own.path
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "missing"
    return RecordedEmbeddings(**settings.fields(f"embeddings:{own.path}:{digest}"), path=path)

"""Embeddings somebody has already made: `use = "embeddings"` with `path` to .npz, .safetensors or .parquet.

A stimulus is looked up by its id, its content hash, its content, or the name of its file (with and without ending).

| format | holds |
|---|---|
| .npz | arrays `names` (or `keys`) and `embeddings`, or one array per name |
| .safetensors | `embeddings` with the names as JSON in the metadata's `names`, or one tensor per name |
| .parquet | columns `name` (or `stimulus`) and `embedding` |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.encoders.local import MEDIA, pack
from portrayal.systems.settings import SystemSettings


class RecordedSettings(Settings):
    """The file."""

    path: str


@dataclass
class RecordedEmbeddings(BaseSystem):
    """Embeddings from a file, read when first asked."""

    batch: int = 1024
    reader: str = "vector"
    path: Path = field(default_factory=Path)
    _vectors: dict[str, np.ndarray] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the questions up; one without an embedding fails, it is never zero."""
        if self._vectors is None:
            self._vectors = read_embeddings(self.path)
        return [self._look_up(question) for question in questions]

    def _look_up(self, question: Question) -> Answer | Exception:
        place = Path(question.content) if question.kind == "image" else None
        names = [question.stimulus, question.hash, question.content]
        for name in [*names, *([place.name, place.stem] if place else [])]:
            if name in (self._vectors or {}):
                return Answer(pack((self._vectors or {})[name]), MEDIA)
        return CallFailed("no recorded embedding for this stimulus")


def read_embeddings(path: Path) -> dict[str, np.ndarray]:
    """Read a file of embeddings by name.

    Raises
    ------
    PortrayalError
        When the file is missing, of another format, or lacks what the format needs.
    """
    if path.suffix not in READERS:
        raise PortrayalError(f"{path.name} ends in {path.suffix!r}. Expected {', '.join(READERS)}.")
    if not path.is_file():
        raise PortrayalError(f"no embeddings at {path}. Check the path.")
    try:
        found = READERS[path.suffix](path)
    except PortrayalError:
        raise
    except Exception as error:  # each library raises its own kind for a damaged file
        raise PortrayalError(f"{path.name} cannot be read: {str(error).splitlines()[0][:120]}") from None
    widths = {len(vector) for vector in found.values()}
    if len(widths) != 1:
        raise PortrayalError(f"{path.name} holds embeddings of widths {sorted(widths)}. Expected one width.")
    return found


def open_system(settings: SystemSettings, folder: Path) -> RecordedEmbeddings:
    """Open a file of embeddings."""
    own = settings.read(RecordedSettings)
    path = folder / own.path
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "missing"
    return RecordedEmbeddings(
        **settings.fields(f"embeddings:{own.path}:{digest}"),
        path=path,
    )


def _npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as data:
        names = next((data[key] for key in ("names", "keys") if key in data), None)
        if names is not None and "embeddings" in data:
            return dict(zip(map(str, names), np.asarray(data["embeddings"], np.float32), strict=True))
        return {name: np.asarray(data[name], np.float32).reshape(-1) for name in data.files}


def _safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import safe_open

    with safe_open(str(path), framework="np") as file:
        keys, names = list(file.keys()), (file.metadata() or {}).get("names")
        if names is not None and "embeddings" in keys:
            rows = np.asarray(file.get_tensor("embeddings"), np.float32)
            return dict(zip(json.loads(names), rows, strict=True))
        return {key: np.asarray(file.get_tensor(key), np.float32).reshape(-1) for key in keys}


def _parquet(path: Path) -> dict[str, np.ndarray]:
    import polars as pl

    table = pl.read_parquet(path)
    name = next((column for column in ("name", "stimulus") if column in table.columns), None)
    if name is None or "embedding" not in table.columns:
        raise PortrayalError(
            f"{path.name} has columns {', '.join(table.columns)}. Expected name and embedding."
        )
    rows = table.select(pl.col(name).cast(pl.String), "embedding").iter_rows()
    return {key: np.asarray(vector, np.float32) for key, vector in rows}


READERS = {".npz": _npz, ".safetensors": _safetensors, ".parquet": _parquet}

"""The sentence-encoder ranker: the cosine of a document's and a query's sentence vectors.

A sentence encoder reads a few hundred words; what a longer document says after that does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.rankers.dense import Dense
from portrayal.text.collections import Collection, in_batches
from portrayal.text.vectors.space import unit_rows

Encode = Callable[[Sequence[str]], Sequence[Any]]
BATCH = 64


def sentence(collection: Collection, encoder: str = "minilm", track: Callable[[Any], Any] = iter) -> Dense:
    """Return a ranker over a text encoder of the package, by name."""
    system = open_system(SystemSettings(name=encoder, use=encoder), Path(), "encoder")
    if not hasattr(system, "encode"):
        raise PortrayalError(
            f"encoder {encoder!r} cannot encode text here. Take one that runs locally, such as 'minilm'."
        )
    return dense_of(collection, system.encode, track)


def dense_of(collection: Collection, encode: Encode, track: Callable[[Any], Any] = iter) -> Dense:
    """Return a ranker over any function from texts to vectors (None for a text without one)."""
    names: list[str] = []
    parts: list[NDArray[np.float64]] = []
    for batch in in_batches(track(collection.documents()), BATCH):
        names.extend(name for name, _ in batch)
        parts.append(_rows(encode([text for _, text in batch])))
    width = max(part.shape[1] for part in parts)
    vectors = np.concatenate([part if part.shape[1] else np.zeros((len(part), width)) for part in parts])
    return Dense(names, unit_rows(vectors), lambda texts: _rows(encode(texts), width))


def _rows(vectors: Sequence[Any], width: int = 0) -> NDArray[np.float64]:
    """Stack vectors; a text without one is a row of zeros, which is never ranked."""
    width = next((len(vector) for vector in vectors if vector is not None), width)
    return np.array([np.zeros(width) if vector is None else vector for vector in vectors], np.float64)

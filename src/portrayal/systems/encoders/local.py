"""Base of local encoders: texts in, little-endian float32 out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, Question, Unreadable

MEDIA = "application/x-float32"


@dataclass
class LocalEncoder(BaseSystem):
    """Encoder whose subclasses write `encode`; an answer without bytes is an unknown word."""

    batch: int = 4096
    reader: str = "vector"
    repeatable: bool = True
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return one vector per text, or None where the vocabulary has none."""
        raise NotImplementedError

    def text_of(self, question: Question) -> str:
        """Return what is encoded; pictures are for encoders that see."""
        if question.kind == "image":
            raise PortrayalError(f"system {self.name!r} encodes text. It cannot look at pictures.")
        return question.content

    def answered_version(self) -> str:
        """Return the version the answers carry."""
        return self.version

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Encode the texts in another thread, so that the recorder stays awake."""
        texts = [self.text_of(question) for question in questions]

        def encode() -> list[np.ndarray | None]:
            with self._lock:  # several workers share one model
                return self.encode(texts)

        vectors, version = await asyncio.to_thread(encode), self.answered_version()
        return [Answer(pack(vector), MEDIA, version) for vector in vectors]


def read_vector(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read the vector back; no bytes give no row, so the question's status is 'empty'."""
    return [{"embedding": unpack(answer.raw)}] if answer.raw else []


def pack(vector: np.ndarray | None) -> bytes:
    """Return the vector's bytes, or none."""
    return b"" if vector is None else np.asarray(vector, dtype="<f4").tobytes()


def unpack(raw: bytes) -> list[float]:
    """Return the numbers of a packed vector."""
    if len(raw) % 4:
        raise Unreadable(f"{len(raw)} bytes are not a vector of float32 numbers")
    vector = np.frombuffer(raw, dtype="<f4").astype(np.float64)
    if not np.isfinite(vector).all():
        raise Unreadable("the vector holds NaN or infinity")
    return vector.tolist()

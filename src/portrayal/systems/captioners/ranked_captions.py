"""Captions from an encoder: the candidate sentences nearest to a picture (`use = "ranked_captions"`).

It is the last step of the captioner that the paper used (Antarctic Captions), without the language model in between.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question, System, Unreadable
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.settings import SystemSettings


class RankedSettings(Settings):
    """The encoder, the sentences, and how many of them are taken."""

    encoder: str = Field(min_length=1)
    settings: dict[str, Any] = {}
    candidates: str
    captions: int = Field(default=10, ge=1)


@dataclass
class RankedCaptions(BaseSystem):
    """Ranks the candidates by their cosine with the picture; they are encoded once."""

    batch: int = 16
    encoder: System = field(kw_only=True)
    candidates: Sequence[str] = ()
    taken: int = 10
    _vectors: np.ndarray | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Encode the pictures and take the nearest sentences."""
        async with self._lock:  # the first batch encodes the candidates for all
            if self._vectors is None:
                self._vectors = await self._encoded()
        return [self._captions(answer) for answer in await self.encoder.ask(questions)]

    async def close(self) -> None:
        """Release the encoder."""
        await self.encoder.close()

    async def _encoded(self) -> np.ndarray:
        """Return the candidates' vectors, of length one."""
        vectors, step = [], self.encoder.batch
        questions = [Question(text, "text", text, _digest(text)) for text in self.candidates]
        for start in range(0, len(questions), step):
            part = questions[start : start + step]
            for question, answer in zip(part, await self.encoder.ask(part), strict=True):
                vector = self._vector(answer)
                if isinstance(vector, Exception):
                    raise PortrayalError(f"the candidate {question.content[:60]!r} has no embedding: {vector}")
                vectors.append(vector)
        if len({len(vector) for vector in vectors}) > 1:
            raise PortrayalError("the candidates' embeddings differ in width. An encoder has one width.")
        return np.array(vectors)

    def _captions(self, answer: Answer | Exception) -> Answer | Exception:
        vector = self._vector(answer)
        if isinstance(vector, Exception):
            return vector
        if self._vectors is None or self._vectors.shape[1] != len(vector):
            return CallFailed("the picture's embedding has another width than the candidates'")
        order = np.argsort(-(self._vectors @ vector), kind="stable")  # of equals the one listed first
        nearest = [self.candidates[place] for place in order[: self.taken]]
        version = answer.version if isinstance(answer, Answer) else ""
        return Answer(json.dumps(nearest, ensure_ascii=False).encode(), version=version or self.version)

    def _vector(self, answer: Answer | Exception) -> np.ndarray | Exception:
        """Return an answer's embedding with length one, or what came in its place."""
        if isinstance(answer, Exception):
            return answer
        try:
            rows = read_answer(self.encoder, answer)
        except Unreadable as error:
            return CallFailed(f"its embedding cannot be read: {error}", answer.raw)
        vector = np.asarray(rows[0]["embedding"], dtype=float) if rows else np.zeros(1)
        length = float(np.linalg.norm(vector))
        return vector / length if length else CallFailed("it has no embedding")


def read_candidates(path: Path) -> list[str]:
    """Return the distinct sentences of a file, one a line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise PortrayalError(f"no candidates at {path}. Expected a text file with one sentence a line.") from None
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def open_system(settings: SystemSettings, folder: Path) -> RankedCaptions:
    """Open the captioner with its encoder; nothing is loaded before the first question."""
    from portrayal.systems.core.registry import open_system as open_encoder

    own = settings.read(RankedSettings)
    candidates = read_candidates(folder / own.candidates)
    if own.captions >= len(candidates):
        raise PortrayalError(
            f"system {settings.name!r} takes {own.captions} captions of {len(candidates)} candidates: every picture would get "
            "the same. Add candidates, or take fewer captions."
        )
    inner = SystemSettings(name=settings.name, use=own.encoder, parameters=own.settings, limits=settings.limits)
    encoder = open_encoder(inner, folder, "encoder")
    digest = _digest("\n".join(candidates))[:16]
    return RankedCaptions(
        **settings.fields(f"{encoder.identity}:ranked_captions:{digest}", kind="captioner"),
        remote=encoder.remote,
        repeatable=getattr(encoder, "repeatable", False),
        encoder=encoder,
        candidates=candidates,
        taken=own.captions,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

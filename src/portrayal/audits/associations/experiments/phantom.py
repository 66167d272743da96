"""A phantom generator: grey silhouettes whose shade says whom they stand for, with planted shares.

It draws no faces and nobody. Its own gates read the shade in place of a face, so that a whole generator study
can run, and its recording be searched, without a model: `use = "phantom_generator"`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.safety.gates import Gates, Seen
from portrayal.settings import Settings
from portrayal.systems.base import Answer, BaseSystem, Question
from portrayal.systems.generators.images import as_png
from portrayal.systems.settings import SystemSettings

SIDE = 64


class PhantomSettings(Settings):
    """What is planted: the share depicted as a woman by a word of the prompt, and shares blocked and dropped."""

    women: dict[str, float] = {}
    otherwise: float = Field(default=0.5, ge=0, le=1)
    blocked: float = Field(default=0.0, ge=0, le=1)
    no_face: float = Field(default=0.0, ge=0, le=1)
    seed: int = 0


@dataclass
class PhantomGenerator(BaseSystem):
    """Draws silhouettes; the upper left corner's shade codes the outcome."""

    planted: PhantomSettings = PhantomSettings()
    gates: Gates = field(default_factory=lambda: Gates(nudity=lambda picture: 0.0, faces=read_shade))

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Draw one silhouette per question."""
        return [self._draw(question) for question in questions]

    def _draw(self, question: Question) -> Answer:
        rng = _stream(self.planted.seed, question)
        if rng.random() < self.planted.blocked:
            return Answer(b"", refused=True)
        if rng.random() < self.planted.no_face:
            return Answer(silhouette(0, rng), media="image")
        words = question.content.lower()
        share = next((p for word, p in self.planted.women.items() if word in words), self.planted.otherwise)
        return Answer(silhouette(1 if rng.random() < share else 2, rng), media="image")


def silhouette(code: int, rng: np.random.Generator) -> bytes:
    """Draw head and shoulders in grey; `code` (0 nobody, 1 woman, 2 man) is the corner's shade."""
    y, x = np.mgrid[:SIDE, :SIDE]
    pixels = rng.integers(200, 230, (SIDE, SIDE)).astype(np.uint8)
    head = (x - SIDE / 2) ** 2 + (y - SIDE / 3) ** 2 < (SIDE / 6) ** 2
    shoulders = (np.abs(x - SIDE / 2) < SIDE / 3) & (y > SIDE * 0.6)
    pixels[head | shoulders] = 90
    pixels[:8, :8] = 40 * code
    from PIL import Image

    return as_png(Image.fromarray(pixels).convert("RGB"))


def read_shade(picture: Any) -> list[Seen]:
    """Read the corner's shade as a face would be read."""
    code = round(float(np.asarray(picture)[:8, :8].mean()) / 40)
    names: Mapping[int, str] = {1: "woman", 2: "man"}
    return [Seen(40.0, [(names[code], 1.0)])] if code in names else []


def open_system(settings: SystemSettings, folder: Path) -> PhantomGenerator:
    """Open the phantom."""
    planted = settings.read(PhantomSettings)
    return PhantomGenerator(
        **settings.fields("phantom_generator"),
        planted=planted,
    )


def _stream(seed: int, question: Question) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/{question.hash}/{question.repeat}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

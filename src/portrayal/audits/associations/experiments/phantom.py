"""A phantom generator: grey silhouettes whose shade says whom they stand for, with planted shares.

It draws no faces and nobody. Its own gates read the shade in place of a face, so that a whole generator study
can run, and its recording be searched, without a model: `use = "phantom_generator"`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from portrayal.errors import PortrayalError
from portrayal.safety.gates import Gates, Seen
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.generators.images import as_png

SIDE = 64
SHADE, MOST = 10, 25  # between the codes of two groups, and how many fit
ROUNDING = 1e-9


class PhantomSettings(Settings):
    """What is planted: whom it depicts by a word of the prompt, any number of groups, and shares blocked and dropped."""

    shares: dict[str, dict[str, float]] = {}  # a word of the prompt, then each group's share
    otherwise: dict[str, float] = Field(default={"woman": 0.5, "man": 0.5}, min_length=1)
    blocked: float = Field(default=0.0, ge=0, le=1)
    no_face: float = Field(default=0.0, ge=0, le=1)
    seed: int = 0

    @field_validator("shares", "otherwise")
    @classmethod
    def _sum_to_one(cls, given: Any) -> Any:
        for shares in given.values() if all(isinstance(one, dict) for one in given.values()) else [given]:
            if min(shares.values(), default=-1) < 0 or abs(sum(shares.values()) - 1) > ROUNDING:
                raise ValueError(f"the shares of {', '.join(shares) or 'nobody'} do not sum to 1")
        return given

    @property
    def groups(self) -> list[str]:
        """Everybody who may be depicted, in order of their names."""
        return sorted({group for shares in (*self.shares.values(), self.otherwise) for group in shares})


@dataclass
class PhantomGenerator(BaseSystem):
    """Draws silhouettes; the upper left corner's shade codes the outcome."""

    repeatable: bool = True
    planted: PhantomSettings = PhantomSettings()
    gates: Gates | None = None

    def __post_init__(self) -> None:
        self.gates = self.gates or Gates(lambda picture: 0.0, shade_reader(self.planted.groups))

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
        shares = next((own for word, own in self.planted.shares.items() if word in words), self.planted.otherwise)
        drawn = rng.choice(sorted(shares), p=[shares[group] for group in sorted(shares)])
        return Answer(silhouette(1 + self.planted.groups.index(drawn), rng), media="image")


def silhouette(code: int, rng: np.random.Generator) -> bytes:
    """Draw head and shoulders in grey; `code` (0 nobody, from 1 on the groups) is the corner's shade."""
    y, x = np.mgrid[:SIDE, :SIDE]
    pixels = rng.integers(200, 230, (SIDE, SIDE)).astype(np.uint8)
    head = (x - SIDE / 2) ** 2 + (y - SIDE / 3) ** 2 < (SIDE / 6) ** 2
    shoulders = (np.abs(x - SIDE / 2) < SIDE / 3) & (y > SIDE * 0.6)
    pixels[head | shoulders] = 90
    pixels[:8, :8] = SHADE * code
    from PIL import Image

    return as_png(Image.fromarray(pixels).convert("RGB"))


def shade_reader(groups: Sequence[str]) -> Callable[[Any], list[Seen]]:
    """Return a reader of the corner's shade, in place of a reader of faces."""

    def read(picture: Any) -> list[Seen]:
        code = round(float(np.asarray(picture)[:8, :8].mean()) / SHADE)
        return [Seen(40.0, [(groups[code - 1], 1.0)])] if 0 < code <= len(groups) else []

    return read


def open_system(settings: SystemSettings, folder: Path) -> PhantomGenerator:
    """Open the phantom."""
    planted = settings.read(PhantomSettings)
    if len(planted.groups) > MOST:
        raise PortrayalError(f"system {settings.name!r} plants {len(planted.groups)} groups. At most {MOST} fit.")
    return PhantomGenerator(**settings.fields("phantom_generator"), planted=planted)


def _stream(seed: int, question: Question) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}/{question.hash}/{question.repeat}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

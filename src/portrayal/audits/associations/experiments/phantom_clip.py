"""A simulated CLIP that sees nothing: `use = "phantom:clip"`. It reads the emotion and the condition off a photograph's name.

    parameters = { sees = { nonobjectified = 1.0, objectified = 0.4 } }

Photographs are named as SOBEM names its own (`3_AN2_NO_1`). A text lies along the axes of the emotions its words name (the
lexicon emotion_words), a photograph along that of the emotion shown, as far as `sees` says for its condition, and half as
far where the emotion is faint. All else is noise: a direction of the person's own and one of each text and photograph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import Field

from portrayal.audits.associations.datasets.sobem import NAME, emotion_lexicon, factors
from portrayal.settings import Settings
from portrayal.systems.core.base import Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder

WIDTH = 24
FAINT = {"low": 0.5, "high": 1.0, "": 1.0}
NOISE = 0.15  # of a text's or photograph's own direction, for each of its numbers
PICTURE = "photograph:"


class PhantomClipSettings(Settings):
    """How far the emotion shown is seen in each condition, and the seed."""

    sees: dict[str, float] = Field(default={"nonobjectified": 1.0, "objectified": 1.0})
    seed: int = 0


@dataclass
class PhantomClip(LocalEncoder):
    """Encodes texts by their words and photographs by their names."""

    plan: PhantomClipSettings = field(default_factory=PhantomClipSettings)

    def text_of(self, question: Question) -> str:
        """Return the text, or a photograph's name; the photograph itself is never opened."""
        return f"{PICTURE}{Path(question.content).stem}" if question.kind == "image" else question.content

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return the planted vectors."""
        return [phantom_clip_vector(text, self.plan) for text in texts]


def phantom_clip_vector(text: str, plan: PhantomClipSettings) -> np.ndarray:
    """Return the vector of a text, or of a photograph's name after 'photograph:'."""
    words, vector = emotion_lexicon(), NOISE * _noise(text, plan.seed)
    name = text.removeprefix(PICTURE)
    if name == text:
        said = set(text.lower().replace(".", "").replace(",", "").split())
        vector[: len(words)] += [bool(said & set(own)) for own in words.values()]
    elif NAME.fullmatch(name):
        shown = factors(name)
        seen = plan.sees.get(shown["condition"], 1.0) * FAINT[shown["intensity"]]
        vector[: len(words)] += [seen * (emotion == shown["emotion"]) for emotion in words]
        vector += NOISE * _noise(f"person {shown['person']}", plan.seed)
    return vector


def _noise(text: str, seed: int) -> np.ndarray:
    digest = hashlib.sha256(f"{seed}/{text}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).normal(size=WIDTH)


def open_system(settings: SystemSettings, folder: Path) -> PhantomClip:
    """Open the simulated CLIP."""
    return PhantomClip(
        **settings.fields("phantom:clip", kind="encoder", version=settings.version or "1"),
        plan=settings.read(PhantomClipSettings),
    )

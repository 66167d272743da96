"""Simulated systems of the audit and its experiments, which look at nothing.

    use = "phantom:associations" # parameters = { x = ["ada", "eva"], y = ["bob", "tom"], a = ["warm"], b = ["cold"], d = 0.9 }
    use = "phantom:clip"         # parameters = { sees = { nonobjectified = 1.0, objectified = 0.4 } }
    use = "phantom:saliency"     # parameters = { torso = { nonobjectified = 0.2, objectified = 0.4 } }
    use = "phantom_generator"    # parameters = { shares = { nurse = { woman = 0.9, man = 0.1 } } }

The next two read emotion and condition off names of photographs such as SOBEM's (`3_AN2_NO_1`). The generator draws grey
silhouettes, whose shade says whom they stand for; its gates read the shade in place of a face.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from portrayal.audits.associations.datasets.sobem import NAME, emotion_lexicon, factors
from portrayal.audits.associations.world import Planted, stream, text_vector
from portrayal.errors import PortrayalError
from portrayal.pictures.faces import face_regions, region_shares
from portrayal.safety.gates import Gates, Seen
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, Question, System
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder
from portrayal.systems.generators.images import as_png

# Of vectors: their width, a faint emotion's share, and the deviation of a text's or photograph's own direction.
WIDTH, FAINT, NOISE = 24, {"low": 0.5, "high": 1.0, "": 1.0}, 0.15
PICTURE = "photograph:"
SIDE = 7  # of the map, as of most CLIPs
FACE = (0.4, 0.1, 0.6, 0.4)  # left, top, right, bottom, as shares of the picture
BACKGROUND = 0.25
PIXELS = 64  # on a side of a silhouette
SHADE, MOST = 10, 25  # between the codes of two groups, and how many fit
ROUNDING = 1e-9


@dataclass
class PhantomEncoder(LocalEncoder):
    """Encodes texts by their place in the planted sets."""

    planted: Planted = Planted()

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return the planted vectors."""
        return [text_vector(text, self.planted) for text in texts]


class PhantomClipSettings(Settings):
    """Share of the emotion shown that is seen in each condition, and the seed."""

    sees: dict[str, float] = Field(default={"nonobjectified": 1.0, "objectified": 1.0})
    seed: int = 0


@dataclass
class PhantomClip(LocalEncoder):
    """Encodes texts by their words and photographs by their names."""

    planted: PhantomClipSettings = PhantomClipSettings()

    def text_of(self, question: Question) -> str:
        """Return the text, or a photograph's name; the photograph itself is never opened."""
        return f"{PICTURE}{Path(question.content).stem}" if question.kind == "image" else question.content

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return the planted vectors."""
        return [phantom_clip_vector(text, self.planted) for text in texts]


def phantom_clip_vector(text: str, planted: PhantomClipSettings) -> np.ndarray:
    """Return the vector of a text, or of a photograph's name after 'photograph:'.

    It lies along the axes of the emotions that are named or shown; all else is noise.
    """

    def noise(of: str) -> np.ndarray:
        return NOISE * stream(of, planted.seed).normal(size=WIDTH)

    words, vector = emotion_lexicon(), noise(text)
    name = text.removeprefix(PICTURE)
    if name == text:
        used = set(text.lower().replace(".", "").replace(",", "").split())
        vector[: len(words)] += [bool(used & set(own)) for own in words.values()]
    elif NAME.fullmatch(name):
        own = factors(name)
        seen = planted.sees.get(own["condition"], 1.0) * FAINT[own["intensity"]]
        vector[: len(words)] += [seen * (emotion == own["emotion"]) for emotion in words]
        vector += noise(f"person {own['person']}")
    return vector


class PhantomSaliencySettings(Settings):
    """The torso's share of the map by condition, and its deviation between photographs."""

    torso: dict[str, float] = Field(default={"nonobjectified": 0.25, "objectified": 0.25})
    deviation: float = Field(default=0.04, ge=0, le=0.1)
    seed: int = 0


@dataclass
class PhantomSaliency(BaseSystem):
    """Answers in the form of `clip_saliency`."""

    repeatable: bool = True
    batch: int = 64
    reader: str = "saliency"
    planted: PhantomSaliencySettings = PhantomSaliencySettings()

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Draw one map per photograph."""
        return [Answer(json.dumps(phantom_map(question.content, self.planted)).encode()) for question in questions]


def phantom_map(content: str, planted: PhantomSaliencySettings) -> dict[str, object]:
    """Return grid and shares of a photograph, by its name."""

    def chance(of: str) -> float:
        return float(stream(of, planted.seed).normal())

    name = Path(content).stem
    own = factors(name)
    shifts = [chance(f"{key}/{own['condition']}") for key in (own["person"], name)]
    on_torso = planted.torso.get(own["condition"], 0.25) + planted.deviation * sum(shifts) / np.sqrt(2)
    background = BACKGROUND + planted.deviation * np.tanh(chance(f"behind {name}"))
    torso = float(np.clip(on_torso, 0.02, 0.98 - background))
    shares = {"face": 1 - background - torso, "torso": torso, "background": background}
    masks = face_regions(FACE, SIDE)
    grid = sum(shares[region] * mask / mask.sum() for region, mask in masks.items())
    return {"grid": np.round(grid, 6).tolist(), "shares": region_shares(np.asarray(grid), masks)}


class PhantomSettings(Settings):
    """Planted shares of groups by a word of the prompt, of blocks, of faceless images."""

    shares: dict[str, dict[str, float]] = {}  # a word of the prompt, then each group's share
    otherwise: dict[str, float] = Field(default={"woman": 0.5, "man": 0.5}, min_length=1)
    blocked: float = Field(default=0.0, ge=0, le=1)
    no_face: float = Field(default=0.0, ge=0, le=1)
    seed: int = 0

    @field_validator("shares", "otherwise")
    @classmethod
    def _sum_to_one(cls, value: Any) -> Any:
        for shares in value.values() if all(isinstance(one, dict) for one in value.values()) else [value]:
            if min(shares.values(), default=-1) < 0 or abs(sum(shares.values()) - 1) > ROUNDING:
                raise ValueError(f"the shares of {', '.join(shares) or 'nobody'} do not sum to 1")
        return value

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
        rng = stream(f"{question.hash}/{question.repeat}", self.planted.seed)
        if rng.random() < self.planted.blocked:
            return Answer(b"", refused=True)
        if rng.random() < self.planted.no_face:
            return Answer(silhouette(0, rng), media="image")
        words = question.content.lower()
        shares = next((own for word, own in self.planted.shares.items() if word in words), self.planted.otherwise)
        drawn = rng.choice(sorted(shares), p=[shares[group] for group in sorted(shares)])
        return Answer(silhouette(1 + self.planted.groups.index(drawn), rng), media="image")


def silhouette(code: int, rng: np.random.Generator) -> bytes:
    """Draw head and shoulders in grey; the corner's shade is `code` (0: nobody)."""
    from PIL import Image

    y, x = np.mgrid[:PIXELS, :PIXELS]
    pixels = rng.integers(200, 230, (PIXELS, PIXELS)).astype(np.uint8)
    head = (x - PIXELS / 2) ** 2 + (y - PIXELS / 3) ** 2 < (PIXELS / 6) ** 2
    shoulders = (np.abs(x - PIXELS / 2) < PIXELS / 3) & (y > PIXELS * 0.6)
    pixels[head | shoulders] = 90
    pixels[:8, :8] = SHADE * code
    return as_png(Image.fromarray(pixels).convert("RGB"))


def shade_reader(groups: Sequence[str]) -> Callable[[Any], list[Seen]]:
    """Return a reader of the corner's shade, in place of a reader of faces."""

    def read(picture: Any) -> list[Seen]:
        code = round(float(np.asarray(picture)[:8, :8].mean()) / SHADE)
        return [Seen(40.0, [(groups[code - 1], 1.0)])] if 0 < code <= len(groups) else []

    return read


PHANTOMS: dict[str, tuple[type, type[Settings], str]] = {
    "phantom:associations": (PhantomEncoder, Planted, "encoder"),
    "phantom:clip": (PhantomClip, PhantomClipSettings, "encoder"),
    "phantom:saliency": (PhantomSaliency, PhantomSaliencySettings, "tagger"),
}


def open_system(settings: SystemSettings, folder: Path) -> System:
    """Open the phantom that `use` names."""
    if settings.use == "phantom_generator":
        shares = settings.read(PhantomSettings)
        if len(shares.groups) > MOST:
            raise PortrayalError(f"system {settings.name!r} plants {len(shares.groups)} groups. At most {MOST} fit.")
        return PhantomGenerator(**settings.fields("phantom_generator"), planted=shares)
    phantom, planted, kind = PHANTOMS[settings.use]
    known = settings.fields(settings.use, kind=kind, version=settings.version or "1")
    opened: System = phantom(**known, planted=settings.read(planted))
    return opened

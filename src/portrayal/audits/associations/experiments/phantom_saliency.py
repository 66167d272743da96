"""Simulated maps of where a CLIP looks: `use = "phantom:saliency"`. No photograph is opened and none is needed.

    parameters = { torso = { nonobjectified = 0.2, objectified = 0.4 } }

Photographs are named as SOBEM names its own. A map has the planted share on the torso, give or take what differs between
people and between photographs; the background has about a quarter, the face what is left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from pydantic import Field

from portrayal.audits.associations.datasets.sobem import factors
from portrayal.pictures.regions import face_regions, region_shares
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings

SIDE = 7  # of the map, as of most CLIPs
FACE = (0.4, 0.1, 0.6, 0.4)  # left, top, right, bottom, as shares of the picture
BACKGROUND = 0.25


class PhantomSaliencySettings(Settings):
    """The share of the map on the torso in each condition, how far photographs differ, and the seed."""

    torso: dict[str, float] = Field(default={"nonobjectified": 0.25, "objectified": 0.25})
    deviation: float = Field(default=0.04, ge=0, le=0.1)
    seed: int = 0


@dataclass
class PhantomSaliency(BaseSystem):
    """Answers in the form of `clip_saliency`."""

    repeatable: bool = True
    batch: int = 64
    reader: str = "saliency"
    plan: PhantomSaliencySettings = field(default_factory=PhantomSaliencySettings)

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Draw one map per photograph."""
        return [Answer(json.dumps(phantom_map(question.content, self.plan)).encode()) for question in questions]


def phantom_map(content: str, plan: PhantomSaliencySettings) -> dict[str, object]:
    """Return grid and shares of a photograph, by its name."""
    name = Path(content).stem
    shown = factors(name)
    shifts = [_normal(f"{key}/{shown['condition']}", plan.seed) for key in (shown["person"], name)]
    planted = plan.torso.get(shown["condition"], 0.25) + plan.deviation * sum(shifts) / np.sqrt(2)
    background = BACKGROUND + plan.deviation * np.tanh(_normal(f"behind {name}", plan.seed))
    torso = float(np.clip(planted, 0.02, 0.98 - background))
    shares = {"face": 1 - background - torso, "torso": torso, "background": background}
    masks = face_regions(FACE, SIDE)
    grid = sum(shares[region] * mask / mask.sum() for region, mask in masks.items())
    return {"grid": np.round(grid, 6).tolist(), "shares": region_shares(np.asarray(grid), masks)}


def _normal(text: str, seed: int) -> float:
    digest = hashlib.sha256(f"{seed}/{text}".encode()).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:8], "big")).normal())


def open_system(settings: SystemSettings, folder: Path) -> PhantomSaliency:
    """Open the simulated maps."""
    return PhantomSaliency(
        **settings.fields("phantom:saliency", kind="tagger", version=settings.version or "1"),
        plan=settings.read(PhantomSaliencySettings),
    )

"""A tagger that shouts every word of a text: `use = "shouting"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.settings import SystemSettings

KIND = "tagger"


@dataclass
class Shouting(BaseSystem):
    """Answers with the words in capitals, parted by bars."""

    reader: str = "portrayal_plug_in.shouting:read_shouts"

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Shout each text."""
        return [Answer("|".join(q.content.upper().split()).encode(), media="text/plain") for q in questions]


def open_system(settings: SystemSettings, folder: Path) -> Shouting:
    """Open the tagger."""
    return Shouting(**settings.fields("shouting"))


def read_shouts(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read the bars."""
    return [{"tag": word, "confidence": None} for word in answer.raw.decode().split("|") if word]

"""Base of taggers on this machine."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.pictures import read_picture


@dataclass
class PictureTagger(BaseSystem, ABC):
    """A tagger whose subclasses write `tags_of` and `answered_version`."""

    repeatable: bool = True
    batch: int = 16

    @abstractmethod
    def tags_of(self, picture: Any) -> list[dict[str, Any]]:
        """Return the tags of one picture (RGB), with their confidence."""

    @abstractmethod
    def answered_version(self) -> str:
        """Return the version the answers carry."""

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Tag the pictures one after another in a worker thread."""
        return await asyncio.to_thread(lambda: [self._answer(question) for question in questions])

    def _answer(self, question: Question) -> Answer | Exception:
        try:
            picture = read_picture(question.content)
        except CallFailed as error:
            return error
        return Answer(json.dumps(self.tags_of(picture)).encode(), version=self.answered_version())

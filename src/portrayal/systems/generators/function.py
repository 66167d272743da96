"""A Python function that draws: `use = "python:module:function"` in a study about generators.

The function takes the prompt and returns image bytes, a PIL image, or None where its filter blocked the
image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from portrayal.systems.base import Answer, CallFailed, Question
from portrayal.systems.generators.images import as_png
from portrayal.systems.python_function import PythonFunction


@dataclass
class DrawingFunction(PythonFunction):
    """Calls the function and hands its image over in memory."""

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Call the function once per question."""
        return [self._answer(await self._call(question)) for question in questions]

    def _answer(self, reply: object) -> Answer:
        if reply is None:
            return Answer(b"", refused=True)
        if isinstance(reply, bytes):
            return Answer(reply, media="image")
        if hasattr(reply, "save") and hasattr(reply, "size"):
            return Answer(as_png(reply), media="image")
        raise CallFailed(f"the function gave a {type(reply).__name__}, not an image")

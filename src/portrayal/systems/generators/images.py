"""Images in memory: found in answers, opened, drawn by a Python function."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.edges.sizes import parse_json
from portrayal.systems.core.base import Answer, CallFailed, Question
from portrayal.systems.plugins.python_function import PythonFunction

MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"BM")
LARGEST = 4096 * 4096  # pixels


def found_image(raw: bytes, path: str = "") -> bytes:
    """Return the image of an answer: its bytes, or base64 in its JSON."""
    if raw.startswith(MAGIC):
        return raw
    from portrayal.systems.http.http import dig  # its HTTP client takes long to import

    value = dig(parse_json(raw), path)
    if isinstance(value, Mapping):
        value = value.get("image")
    if not isinstance(value, str):
        raise ValueError("no image")
    try:
        image = base64.b64decode(value.partition("base64,")[2] or value, validate=True)
    except binascii.Error:
        raise ValueError("no image") from None
    if not image.startswith(MAGIC):
        raise ValueError("no image")
    return image


def open_picture(image: bytes) -> Any | None:
    """Open an image as RGB, None where it cannot be read."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(image)) as picture:
            if picture.width * picture.height > LARGEST:
                return None
            return picture.convert("RGB")
    except Exception:  # what Pillow raises depends on the format and on where the bytes break off
        return None


def as_png(picture: Any) -> bytes:
    """Return a picture's PNG bytes, made in memory."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()


@dataclass
class DrawingFunction(PythonFunction):
    """Python function from a prompt to an image, or None where it was blocked."""

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

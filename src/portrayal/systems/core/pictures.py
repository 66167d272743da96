"""Pictures for systems: decoded for local models, checked against a service's limits."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.edges.sizes import LARGEST_PICTURE, check_pixels, check_size
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question

MEDIA = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif", "BMP": "image/bmp"}


@dataclass(frozen=True)
class PictureLimits:
    """A service's limits on one picture."""

    most_bytes: int
    least_side: int = 1
    most_side: int = 1_000_000
    formats: Sequence[str] = ("JPEG", "PNG")


@dataclass(frozen=True)
class Picture:
    """A picture fit to be sent."""

    data: bytes
    media: str

    @property
    def base64(self) -> str:
        """The bytes as base64 text."""
        return base64.b64encode(self.data).decode()


def fit_picture(question: Question, limits: PictureLimits) -> Picture:
    """Read a picture and check it against a service's limits."""
    try:
        data = question.image_bytes()
    except OSError as error:
        raise CallFailed(f"not sent: the picture cannot be read: {error.strerror}") from None
    if not data:
        raise CallFailed("not sent: the picture has no bytes")
    if len(data) > limits.most_bytes:
        raise CallFailed(f"not sent: {len(data):,} bytes, the service takes {limits.most_bytes:,}")
    kind, sides = _format(data)
    if kind not in limits.formats:
        raise CallFailed(f"not sent: a {kind} picture, the service takes {', '.join(limits.formats)}")
    if min(sides) < limits.least_side or max(sides) > limits.most_side:
        raise CallFailed(
            f"not sent: {sides[0]} x {sides[1]} pixels, the service takes {limits.least_side} to {limits.most_side}"
        )
    return Picture(data, MEDIA[kind])


def read_picture(path: str) -> Any:
    """Read and decode a picture as RGB."""
    from PIL import Image

    try:
        check_size(Path(path), LARGEST_PICTURE)
        with Image.open(path) as picture:
            check_pixels(picture)
            return picture.convert("RGB")
    except Exception as error:  # what Pillow raises depends on the format and on where the file breaks off
        raise CallFailed(f"not a readable picture ({type(error).__name__})") from None


def _format(data: bytes) -> tuple[str, tuple[int, int]]:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            return str(image.format), image.size
    except Exception as error:  # what Pillow raises depends on the format and on where the file breaks off
        raise CallFailed(f"not sent: not a readable picture ({type(error).__name__})") from None


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

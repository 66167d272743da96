"""Image generators: images in memory, and local pipelines of diffusers (`use = "pipeline"`).

A pipeline's own safety filter must be there and on, and must have looked at the image. Nothing is downloaded.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from portrayal.edges.sizes import parse_json
from portrayal.errors import MissingExtra, PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
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


NOT_FROM_TEXT = ("Img2Img", "Inpaint", "ControlNet", "Upscale", "Depth2Img", "Variation", "Pix2Pix")


class PipelineSettings(Settings):
    """Parameters of a local pipeline."""

    folder: str
    steps: int = Field(default=30, ge=1, le=200)
    guidance: float = Field(default=7.5, ge=0, le=30)
    width: int = Field(default=512, ge=64, le=2048)
    height: int = Field(default=512, ge=64, le=2048)
    seed: int = 0
    device: str = "cpu"
    negative_prompt: str = ""


@dataclass
class Pipeline(BaseSystem):
    """Draws with a local pipeline; repeat numbers are seeds."""

    settings: PipelineSettings = field(kw_only=True)
    folder: Path = field(default_factory=Path)
    _pipeline: Any = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Draw one image per question."""
        if self._pipeline is None:
            self._pipeline = await asyncio.to_thread(self._open)
        return [await asyncio.to_thread(self._draw, question) for question in questions]

    def _open(self) -> Any:
        try:
            from diffusers import DiffusionPipeline
        except ImportError:
            raise MissingExtra("a local pipeline", "generators") from None
        pipeline = DiffusionPipeline.from_pretrained(str(self.folder), local_files_only=True)
        check_pipeline(pipeline)
        return pipeline.to(self.settings.device)

    def _draw(self, question: Question) -> Answer:
        import torch

        own = self.settings
        result = self._pipeline(
            prompt=question.content,
            negative_prompt=own.negative_prompt or None,
            num_inference_steps=own.steps,
            guidance_scale=own.guidance,
            width=own.width,
            height=own.height,
            generator=torch.Generator(device=own.device).manual_seed(own.seed + question.repeat),
        )
        flags = getattr(result, "nsfw_content_detected", None)
        if flags is None:
            raise CallFailed("the pipeline's filter did not look at the image")
        return Answer(b"", refused=True) if flags[0] else Answer(as_png(result.images[0]), media="image")


def check_pipeline(pipeline: Any) -> None:
    """Refuse a pipeline that takes images, or that has no safety filter."""
    name = type(pipeline).__name__
    if any(part in name for part in NOT_FROM_TEXT):
        raise PortrayalError(f"{name} takes images. Only text-to-image pipelines are asked; use one of those.")
    if getattr(pipeline, "safety_checker", None) is None:
        raise PortrayalError(
            f"{name} has no safety filter, so it is not asked. Use a pipeline saved with its safety_checker."
        )


def open_system(settings: SystemSettings, folder: Path) -> Pipeline:
    """Open a local pipeline; it is loaded when first asked."""
    own = settings.read(PipelineSettings)
    place = folder / own.folder
    if not (place / "model_index.json").is_file():
        raise PortrayalError(f"no pipeline at {place}. Expected a folder with model_index.json.")
    return Pipeline(**settings.fields(f"pipeline:{place.name}"), settings=own, folder=place)

"""A local text-to-image pipeline from a folder (diffusers): `use = "pipeline"`.

The pipeline's own safety filter must be there and on, and must have looked at the image. Nothing is downloaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.generators.images import as_png

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

    settings: PipelineSettings | None = None
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
        return pipeline.to(self.settings.device)  # type: ignore[union-attr]

    def _draw(self, question: Question) -> Answer:
        options = self.settings
        result = self._pipeline(
            prompt=question.content,
            negative_prompt=options.negative_prompt or None,  # type: ignore[union-attr]
            num_inference_steps=options.steps,  # type: ignore[union-attr]
            guidance_scale=options.guidance,  # type: ignore[union-attr]
            width=options.width,  # type: ignore[union-attr]
            height=options.height,  # type: ignore[union-attr]
            generator=_seeded(options.seed + question.repeat, options.device),  # type: ignore[union-attr]
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


def _seeded(seed: int, device: str) -> Any:
    import torch

    return torch.Generator(device=device).manual_seed(seed)

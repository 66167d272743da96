"""A captioning model on this machine, through transformers: `use = "transformers"` (extra [torch])."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.settings import Settings, validate
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.core.pictures import read_picture
from portrayal.systems.core.settings import SystemSettings


class LocalParameters(Settings):
    """Parameters of a local captioning model."""

    model: str = Field(min_length=1)
    samples: int = Field(1, ge=1, le=50)
    max_new_tokens: int = Field(40, ge=1, le=500)
    temperature: float = Field(1.0, gt=0)
    prompt: str = ""
    device: str = "cpu"
    seed: int = 0


@dataclass
class TransformersCaptioner(BaseSystem):
    """Captions pictures with a vision-to-text model; the model is loaded when first asked."""

    batch: int = 4
    settings: LocalParameters = field(kw_only=True)
    path: str = ""
    _loaded: tuple[Any, Any] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Caption the pictures, one after the other: memory stays that of one picture."""
        return [Answer(json.dumps(self.captions(question)).encode()) for question in questions]

    def captions(self, question: Question) -> list[str]:
        """Return the captions of one picture."""
        import torch

        settings = self.settings
        if self._loaded is None:
            self._loaded = load_model(self.path, settings.device)
        model, processor = self._loaded
        picture = read_picture(question.content)
        prompt = {"text": settings.prompt} if settings.prompt else {}
        inputs = processor(images=picture, return_tensors="pt", **prompt).to(settings.device)
        torch.manual_seed(settings.seed + question.repeat)
        options: dict[str, Any] = {"do_sample": settings.samples > 1, "num_return_sequences": settings.samples}
        if settings.samples > 1:
            options["temperature"] = settings.temperature
        with torch.inference_mode():
            tokens = model.generate(**inputs, max_new_tokens=settings.max_new_tokens, **options)
        return [text.strip() for text in processor.batch_decode(tokens, skip_special_tokens=True)]


def load_model(path: str, device: str) -> tuple[Any, Any]:
    """Load model and processor from a folder or transformers' cache; nothing is fetched."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtra("a local captioner", "torch") from None
    try:
        processor = transformers.AutoProcessor.from_pretrained(path, local_files_only=True)
        # transformers renamed the class in version 5.
        classes = getattr(transformers, "AutoModelForImageTextToText", None) or transformers.AutoModelForVision2Seq
        model = classes.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise PortrayalError(
            f"the model {path!r} cannot be loaded: {str(error).splitlines()[0]} Expected a folder with weights and a processor."
        ) from None
    return model.to(device).eval(), processor


def open_system(settings: SystemSettings, folder: Path) -> TransformersCaptioner:
    """Open a local captioner."""
    parameters = validate(LocalParameters, settings.parameters, f"system {settings.name!r}: parameters")
    local = folder / parameters.model
    return TransformersCaptioner(
        **settings.fields(f"transformers captioner: {parameters.model}", kind="captioner"),
        settings=parameters,
        path=str(local) if local.exists() else parameters.model,
    )

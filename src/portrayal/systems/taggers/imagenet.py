"""ImageNet classes as tags: `use = "imagenet"`.

ImageNet's classes hold hardly any word for people: the answers are an upper bound on a tagger without such words.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import CallFailed
from portrayal.systems.core.pictures import PictureTagger
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.taggers.efficientnet import PACKAGE, class_chances
from portrayal.text.lexicons import read_lexicon

# Of ImageNet, as networks trained on it expect.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Classes(Settings):
    """Network of the tagger and its way from answers to tags."""

    weights: str | None = None  # the package's network without it
    labels: str | None = None
    size: int = Field(224, ge=16)
    top: int = Field(5, ge=1)
    least: float = Field(0.0, ge=0, le=1)  # a class under this probability is no tag


@dataclass
class ImageNetTagger(PictureTagger):
    """The most probable classes of a picture."""

    classes: Classes = field(kw_only=True)
    names: Sequence[str] = ()
    weights: Path | None = None  # none: the package's
    _network: Any = None

    def answered_version(self) -> str:
        """Return the name of the weights."""
        return self.weights.name if self.weights else PACKAGE

    def tags_of(self, picture: Any) -> list[dict[str, Any]]:
        """Return the most probable classes of one picture, with their probabilities."""
        settings = self.classes
        chances = self._own(picture, settings.size) if self.weights else class_chances(picture)
        if len(chances) != len(self.names):
            raise CallFailed(f"the network has {len(chances)} classes, the labels file {len(self.names)}")
        best = np.argsort(-chances, kind="stable")[: settings.top]
        return [
            {"tag": self.names[at], "confidence": float(chances[at])} for at in best if chances[at] >= settings.least
        ]

    def _own(self, picture: Any, size: int) -> np.ndarray:
        """Return the chances that the user's network gives."""
        if self._network is None:
            self._network = _load(Path(str(self.weights)))
        import torch

        with torch.inference_mode():
            scores = self._network(torch.from_numpy(pixels(picture, size)))[0].double()
        return np.asarray(torch.softmax(scores, 0).numpy())


def pixels(picture: Any, size: int) -> np.ndarray:
    """Return the picture's central square as normalised floats, 1 x 3 x size x size."""
    from PIL import ImageOps

    square = ImageOps.fit(picture, (size, size))
    scaled = (np.asarray(square, dtype=np.float32) / 255 - MEAN) / DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None]).astype(np.float32)


def _load(path: Path) -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra("the ImageNet tagger", "torch") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return torch.jit.load(str(path)).eval()
        except RuntimeError as error:
            raise PortrayalError(f"{path.name} is not a TorchScript file: {str(error).splitlines()[0]}.") from None


def open_system(settings: SystemSettings, folder: Path) -> ImageNetTagger:
    """Open the tagger; the network is loaded when first asked."""
    classes = settings.read(Classes)
    if (classes.weights is None) != (classes.labels is None):
        raise PortrayalError(f"system {settings.name!r} names one of weights and labels. Name both, or neither.")
    if classes.weights is None or classes.labels is None:
        names = read_lexicon("imagenet_classes")["name"].to_list()
        fields = settings.fields(f"imagenet:{PACKAGE}", kind="tagger")
        return ImageNetTagger(**fields, classes=classes, names=names)
    weights, labels = folder / classes.weights, folder / classes.labels
    for path in (weights, labels):
        if not path.is_file():
            raise PortrayalError(
                f"system {settings.name!r}: no file at {path}. Install the weights and labels yourself."
            )
    names = [line.strip() for line in labels.read_text(encoding="utf-8").splitlines() if line.strip()]
    return ImageNetTagger(
        **settings.fields(f"imagenet:{hashlib.sha256(weights.read_bytes()).hexdigest()}", kind="tagger"),
        classes=classes,
        names=names,
        weights=weights,
    )

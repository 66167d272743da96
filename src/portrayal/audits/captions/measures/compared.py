"""What systems are compared by: a quantity in the system captions, image by image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from portrayal.audits.captions.measures.outcome import ESTIMATE, Technique
from portrayal.audits.captions.measures.stages import SYSTEM_CAPTIONS


@dataclass(frozen=True)
class Compared:
    """What systems are compared by: a quantity in the system captions, with each image's share."""

    technique: Technique
    quantity: str
    truth: str | None
    values: Mapping[str, float]
    axis: str | None = None  # where the quantity has a meaning on this axis only
    bound: str = ESTIMATE


def compared(
    technique: Technique, quantity: str, truth: str | None, values: Mapping[str, Mapping[str, float]], **columns: Any
) -> list[Compared]:
    """Return what systems are compared by, from values by stage: nothing where the system has none."""
    own = values.get(SYSTEM_CAPTIONS)
    return [Compared(technique, quantity, truth, own, **columns)] if own else []

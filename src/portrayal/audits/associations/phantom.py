"""Simulated encoder with a planted association: `use = "phantom:associations"`.

    parameters = { x = ["ada", "eva"], y = ["bob", "tom"], a = ["warm"], b = ["cold"], d = 0.9 }

Every text gets a vector of its own, the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.audits.associations.world import Planted, text_vector
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder


@dataclass
class PhantomEncoder(LocalEncoder):
    """Encodes texts by their place in the sets."""

    planted: Planted = Planted()

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Return the planted vectors."""
        return [text_vector(text, self.planted) for text in texts]


def open_system(settings: SystemSettings, folder: Path) -> PhantomEncoder:
    """Open the phantom encoder."""
    known = settings.fields("phantom:associations", kind="encoder", version=settings.version or "1")
    return PhantomEncoder(**known, planted=settings.read(Planted))

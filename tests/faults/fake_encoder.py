"""A fake encoder that keeps its own log of every question it was asked, for the kill tests."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path


def embed(text: str, log: str, pause: float = 0.002) -> list[float]:
    """Log the question first, as a paid service would bill it, then think, then answer."""
    with Path(log).open("a") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    time.sleep(pause)
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 255 - 0.5 for byte in digest[:16]]

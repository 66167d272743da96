"""JSON from outside, in which every fault is a ValueError, also endless nesting."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Read JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None

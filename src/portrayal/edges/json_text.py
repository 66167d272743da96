"""JSON from outside: whatever is wrong with it is a ValueError, lists a hundred thousand deep too."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Read JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None

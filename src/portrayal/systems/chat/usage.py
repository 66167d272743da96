"""Dollars of a language model's tokens: counted from `usage`, or estimated beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LETTERS_A_TOKEN = 4  # of English, as the vendors' own rule of thumb has it
PIXELS_A_TOKEN = 750  # as Anthropic documents it; OpenAI's tiles come to less
MOST_A_PICTURE = 1600
OF_UNKNOWN_SIZE = 1000


def token_cost(body: Any, prices: Mapping[str, float]) -> float:
    """Return the dollars of an answer, from the tokens its `usage` counts.

    Returns
    -------
    float
        0 for tokens that are not counted, or counted as what is no finite number of at least 0: a strange bill spoils no answer.

    Examples
    --------
    >>> token_cost({"usage": {"prompt_tokens": 1000, "completion_tokens": -5}}, {"prompt_tokens": 2.0, "completion_tokens": 9.0})
    0.002
    """
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return 0.0
    return sum(_count(usage.get(name)) * dollars for name, dollars in prices.items()) / 1e6


def _count(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        count = float(value)
    except OverflowError:
        return 0.0
    return count if math.isfinite(count) and count >= 0 else 0.0


def text_tokens(text: str) -> int:
    """Guess the tokens of a text.

    Examples
    --------
    >>> text_tokens("Describe this image.")
    5
    """
    return math.ceil(len(text) / LETTERS_A_TOKEN)


def picture_tokens(path: str) -> int:
    """Guess the tokens of a picture from its sides."""
    from PIL import Image

    try:
        with Image.open(Path(path)) as picture:
            return min(math.ceil(picture.width * picture.height / PIXELS_A_TOKEN), MOST_A_PICTURE)
    except Exception:  # what Pillow raises depends on the format; asking will say what is wrong
        return OF_UNKNOWN_SIZE

"""Answers as the ledger can keep them: bytes in limits, a version, a cost.

A system may hand over anything. Nothing it hands over may stop the recording or cost an answer that came.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from portrayal.edges.secrets import hidden, hidden_bytes
from portrayal.systems.core.base import KEPT_OF_LARGER, LARGEST_ANSWER, Answer, broken_answer
from portrayal.systems.core.rows import writable

LONGEST_VERSION = 200  # characters
LONGEST_REASON = 2000


def storable(answer: Answer, price: float = 0.0) -> Answer:
    """Return an answer that can be stored."""
    cost = money(answer.cost, price)
    if not isinstance(answer.raw, bytes):
        reason = f"the system gave a {type(answer.raw).__name__} where bytes are expected"
        return broken_answer(repr(answer.raw).encode(errors="replace"), reason, cost)
    answer = replace(answer, raw=hidden_bytes(answer.raw))  # secrets that a service echoes, before anything is cut
    if len(answer.raw) > LARGEST_ANSWER:
        return broken_answer(answer.raw, f"it is larger than {LARGEST_ANSWER:,} bytes", cost)
    version = short_text(answer.version, LONGEST_VERSION)
    return Answer(answer.raw, short_text(answer.media, LONGEST_REASON), version, cost, bool(answer.refused))


def kept_words(raw: bytes | None) -> bytes | None:
    """Return a failure's words without secrets; of larger ones the beginning."""
    if raw is None:
        return None
    clean = hidden_bytes(raw)
    return clean if len(clean) <= LARGEST_ANSWER else clean[:KEPT_OF_LARGER]


def money(value: Any, price: float = 0.0) -> float:
    """Return a cost in US dollars, or the price where it is no amount."""
    try:
        amount = float(value)
    except (TypeError, ValueError, OverflowError):
        return price
    return amount if math.isfinite(amount) and amount >= 0 else price


def short_text(value: Any, longest: int = LONGEST_REASON) -> str:
    """Return text that can be written, of a length somebody reads."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:  # whatever an object of a user's function does when it is asked for its text
        text = f"a {type(value).__name__}"
    return writable(hidden(text)[:longest])

"""Errors by HTTP status and words."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping

from portrayal.systems.core.base import AccessDenied, CallFailed, NothingThere, OutcomeUnknown, QuotaSpent, Throttled

LOOKED_AT = 4000  # bytes of an error's words

# What vendors write when an account is empty rather than busy: waiting will not help.
EMPTY = ("insufficient_quota", "credit balance", "payment required", "billing_hard_limit", "out of call volume quota")
SOON = re.compile(r"per[ _-]?(second|sec\b|minute|min\b)|/ ?(s|sec|min|minute)\b|\b[rt]p[ms]\b")
LATE = re.compile(r"per[ _-]?(day|month|year)|daily|monthly|/ ?(day|month)\b")
BUSY = ("rate limit", "rate_limit", "ratelimit", "too many requests", "slow down", "concurren", "try again in")
QUOTA = ("quota", "usage limit")


def error_for(status: int, headers: Mapping[str, str], body: bytes, errors_billed: bool = True) -> Exception | None:
    """Return the error that an answer's status is, or None where it is an answer."""
    if 200 <= status < 300:
        return None
    said = f"HTTP {status}: {body[:200].decode(errors='replace')}"
    if status == 402 or (status in (403, 429) and speaks_of_spent_quota(body)):
        return QuotaSpent(said)
    if status in (429, 503, 529) or (status == 403 and _speaks_of_haste(_words(body))):  # 529: Anthropic, overloaded
        return Throttled(said, retry_after(headers))
    if status in (500, 502, 504):
        return OutcomeUnknown(said, body) if errors_billed else Throttled(said, retry_after(headers))
    kind = {401: AccessDenied, 403: AccessDenied, 404: NothingThere}.get(status, CallFailed)
    return kind(said, body)


def speaks_of_spent_quota(body: bytes) -> bool:
    """Return True where the words say that the quota is spent.

    Examples
    --------
    >>> speaks_of_spent_quota(b"Quota exceeded for 'requests per minute'. See your billing page.")
    False
    >>> speaks_of_spent_quota(b'{"code": "insufficient_quota", "message": "Check your plan and billing details."}')
    True
    """
    text = _words(body)
    if any(word in text for word in EMPTY):
        return True
    if SOON.search(text):
        return False
    if LATE.search(text):
        return True
    return not any(word in text for word in BUSY) and any(word in text for word in QUOTA)


def _speaks_of_haste(text: str) -> bool:
    return bool(SOON.search(text)) or any(word in text for word in BUSY)


def _words(body: bytes) -> str:
    return body[:LOOKED_AT].decode(errors="replace").lower()


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read `retry-after-ms` and `Retry-After` (seconds or a date) as seconds from now.

    Examples
    --------
    >>> retry_after({"retry-after": "7"})
    7.0
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"[0-9]{1,15}", milliseconds):
        return int(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text) if math.isfinite(float(text)) else None
    try:
        when = email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return max(0.0, when - (time.time() if now is None else now))

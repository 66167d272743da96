"""Numbers and text as people read them; the only place where anything is rounded."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

MISSING = "–"
MINUS = "\u2212"
DUST = 1e-12  # what adding and taking away leaves of zero
# Characters an XML text may not hold, and those that turn the reading direction: both can come from a system.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_UNSAFE = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")


def visible(text: Any) -> str:
    """Return the text with control and invisible characters made visible.

    The chart renderer aborts on characters that XML forbids. Escaping for HTML is the template's work.
    """
    pictured = _CONTROL.sub(lambda match: chr(0x2400 + ord(match[0])), str(text).replace("\r", " "))
    return _UNSAFE.sub("\ufffd", pictured)


def visible_all(value: Any) -> Any:
    """Apply `visible` to every string inside lists and dicts, keys included."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_all(key): visible_all(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible_all(item) for item in value]
    return value


def is_missing(value: Any) -> bool:
    """Tell whether a number is absent: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def decimals(value: float, low: float | None = None, high: float | None = None) -> int:
    """Return how many decimals to print: two significant digits of the interval's width."""
    width = value if is_missing(low) or is_missing(high) else high - low  # type: ignore[operator]
    width = abs(width) or abs(value)
    width = width if math.isfinite(width) else abs(value)
    if width == 0 or not math.isfinite(width):
        return 2
    digits = 1 - math.floor(math.log10(width))
    return min(5, max(2, digits)) if width < 10 else max(0, digits + 1)


def number(value: Any, places: int | None = None) -> str:
    """Write one number: a true minus sign, thousands apart, two or three significant decimals."""
    if is_missing(value):
        return MISSING
    if isinstance(value, int):
        return _signed(f"{value:,}")
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if abs(value) < DUST:
        value = 0.0
    if places is None and value and round(abs(value), 5) == 0:
        return _scientific(value)
    if places is None:
        places = 0 if abs(value) >= 1000 or float(value).is_integer() else decimals(value)
    return _signed(f"{value:,.{places}f}")


def estimate(value: Any, low: Any = None, high: Any = None) -> str:
    """Write the value with as many decimals as its interval bears out."""
    if is_missing(value):
        return MISSING
    return number(float(value), decimals(float(value), low, high))


def interval(value: Any, low: Any, high: Any) -> str:
    """Write the interval as '[low, high]' with the decimals of `estimate`."""
    if is_missing(low) and is_missing(high):
        return ""
    middle = value if not is_missing(value) else (low if not is_missing(low) else high)
    places = decimals(float(middle), low, high)
    ends = [MISSING if is_missing(end) else number(float(end), places) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def p_value(p: Any) -> str:
    """Write a p-value without its leading zero."""
    if is_missing(p):
        return MISSING
    if p < 0.001:
        return "< .001"
    if p >= 0.9995:
        return "1" if p >= 1 else "> .999"
    return f"{p:.3f}".removeprefix("0")


def count(value: Any) -> str:
    """Write a count."""
    return MISSING if is_missing(value) else f"{int(value):,}"


def percent(value: float, places: int = 0) -> str:
    """Write a share in percent."""
    return MISSING if is_missing(value) else f"{number(100.0 * value, places)}%"


def share(part: float, whole: float) -> str:
    """Write a share in percent; never 0 % or 100 % unless exactly so."""
    if not whole:
        return MISSING
    percent = 100 * part / whole
    if 0 < percent < 1:
        return "under 1%"
    if 99 < percent < 100:
        return "over 99%"
    return f"{percent:.0f}%"


def plural(amount: int, noun: str, many: str | None = None) -> str:
    """Write '1 question' or '2 questions'."""
    return f"{amount:,} {noun if amount == 1 else many or noun + 's'}"


def listed(words: list[str]) -> str:
    """Join words as 'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def cell(value: Any) -> str:
    """Write whatever stands in a table's cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_missing(value):
        return MISSING
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {cell(item)}" for key, item in value.items())
    return visible(value)


def plain(name: str) -> str:
    """Turn a column or measure name into words: 'effect_size' becomes 'effect size'."""
    return str(name).replace("_", " ")


def parted(sentence: str) -> tuple[str, str]:
    """Split a sentence after its claim, so that figures can stand apart."""
    claim, colon, figures = sentence.partition(": ")
    return (f"{claim}:", f" {figures}") if colon else (sentence, "")


def first_sentence(text: str) -> str:
    """Return the claim with its figures, without what is said after them."""
    at = text.find(").")
    while at >= 0 and text[at + 2 : at + 3].strip():  # a point inside a word ends no sentence
        at = text.find(").", at + 2)
    return text[: at + 2] if at >= 0 else text


def unique(names: Sequence[str]) -> list[str]:
    """Return the names with a number after those that occur again: a, a-2, a-3."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
        numbered.append(name if seen[name.lower()] == 1 else f"{name}-{seen[name.lower()]}")
    return numbered


def tied(text: str) -> str:
    """Keep 'p < .001' and the like on one line; print a true minus sign."""
    signed = re.sub(r"(?<![\w.-])-(?=\d)", MINUS, text or "")
    return re.sub(r"\b(\w) ([<>=]) (?=\S)", "\\1\u00a0\\2\u00a0", signed)


def _signed(text: str) -> str:
    if text.startswith("-"):
        return MINUS + text[1:] if any(digit in text for digit in "123456789") else text[1:]
    return text


def _scientific(value: float) -> str:
    figures, power = f"{value:.1e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{_signed(figures)} × 10{raised}"

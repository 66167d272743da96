"""Words a report may not use, and why; docs/how_we_write_about_harm.md has the whole of it."""

from __future__ import annotations

import re

_BARE = re.compile(r"(?i)\b(?:un|non-?)biased\b|\bbias[- ]free\b|\bfree (?:of|from) (?:any )?bias\b")
_DEBIASED = re.compile(r"(?i)\bde-?biased\b")
_LEFT = re.compile(r"(?i)\b(?:left|remain\w*|still)\b")


def faults(text: str) -> list[str]:
    """Return what is wrong with the wording of a passage.

    Examples
    --------
    >>> faults("The encoder is unbiased.")
    ["'unbiased' claims what no measurement can show: name the harm, the people and the interval"]
    >>> faults("After removing the direction, the debiased vectors still tie nurse to women.")
    []
    """
    return [*claims(text), *half_told(text)]


def claims(text: str) -> list[str]:
    """Return the words that claim what no measurement can show."""
    return [
        f"{match[0]!r} claims what no measurement can show: name the harm, the people and the interval"
        for match in _BARE.finditer(text)
    ]


def half_told(text: str) -> list[str]:
    """Return mentions of 'debiased' in a passage that does not say what was left.

    For running text. A study may name a system so after the paper that did: the results stand beside it.
    """
    match = _DEBIASED.search(text)
    if match is None or _LEFT.search(text):
        return []
    return [f"{match[0]!r} without what was left: say how much of the effect remains"]

"""Words a report may not use, and why; docs/how_we_write_about_harm.md has the whole of it."""

from __future__ import annotations

import re

_BARE = re.compile(r"(?i)\b(?:un|non-?)biased\b|\bbias[- ]free\b|\bfree (?:of|from) (?:any )?bias\b")
_DEBIASED = re.compile(r"(?i)\bde-?biased\b")
_LEFT = re.compile(r"(?i)\b(?:left|remain\w*|still)\b")


def faults(text: str) -> list[str]:
    """Return what is wrong with the wording of a passage; an empty list when nothing is.

    Examples
    --------
    >>> faults("The encoder is unbiased.")
    ["'unbiased' claims what no measurement can show: name the harm, the people and the interval"]
    >>> faults("After removing the direction, the debiased vectors still tie nurse to women: 0.31 of 0.44 is left.")
    []
    """
    found = [
        f"{match[0]!r} claims what no measurement can show: name the harm, the people and the interval"
        for match in _BARE.finditer(text)
    ]
    if (match := _DEBIASED.search(text)) and not _LEFT.search(text):
        found.append(f"{match[0]!r} without what was left: say how much of the effect remains")
    return found

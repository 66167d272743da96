"""The smallest study there is: eight letters, one encoder, one test."""

from __future__ import annotations

STUDY = """
name = "tiny"
audit = "associations"
{top}
[[systems]]
name = "{name}"
use = "{use}"
{line}
[associations]
variants = []
[[associations.test]]
name = "own"
x = ["a", "b"]
y = ["c", "d"]
a = ["e", "f"]
b = ["g", "{last}"]
"""


def tiny_study(use: str, line: str = "", top: str = "", name: str = "mine", last: str = "h") -> str:
    """Return the study as TOML; `line` goes into its system's table, `top` before it."""
    return STUDY.format(use=use, line=line, top=top, name=name, last=last)

"""Names of files and folders after what they show: readable, and never alike for two."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping

DIGITS = 12  # of the hash that tells two names apart


def plain_stem(picture: str) -> str:
    """Return a picture's name as a file stem, with hyphens for other characters.

    Examples
    --------
    >>> plain_stem("p/1.jpg")
    'p-1-jpg'
    """
    return "".join(letter if letter.isalnum() else "-" for letter in picture)


def file_stems(pictures: Iterable[str]) -> dict[str, str]:
    """Return each picture's file stem, the plain one unless two share it.

    Examples
    --------
    >>> file_stems(["a.jpg", "p/1.jpg", "p-1.jpg"])
    {'a.jpg': 'a-jpg', 'p/1.jpg': 'p-1-jpg~895764492b15', 'p-1.jpg': 'p-1-jpg~f42de1c54a7a'}
    """
    return told_apart({picture: plain_stem(picture) for picture in pictures})


def told_apart(plain: Mapping[str, str]) -> dict[str, str]:
    """Return distinct names, with a hash where two would be the same."""
    often = Counter(name.casefold() for name in plain.values())
    return {what: name if often[name.casefold()] == 1 else f"{name}~{_hash(what)}" for what, name in plain.items()}


def _hash(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()[:DIGITS]

"""What a picture's stimulus is known by: its file's SHA-256, and where it is held against a prompt, both together."""

from __future__ import annotations

import hashlib

BETWEEN = " | "  # the prompt and the picture, in a stimulus's name


def prompted_hash(prompt: str, picture: str) -> str:
    """Return the hash of a picture that is held against a prompt, from the picture's own.

    Examples
    --------
    >>> prompted_hash("a sad person", "ab") == hashlib.sha256(b"a sad person\\x1fab").hexdigest()
    True
    """
    return hashlib.sha256(f"{prompt}\x1f{picture}".encode()).hexdigest()


def is_picture_of(data: bytes, stimulus: str, known: str) -> bool:
    """Tell whether these bytes are the picture of a stimulus: who does not have them cannot name its hash."""
    own = hashlib.sha256(data).hexdigest()
    prompt, between, _ = stimulus.partition(BETWEEN)
    return known == own or (bool(between) and known == prompted_hash(prompt, own))

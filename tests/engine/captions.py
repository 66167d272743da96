"""Captions made by rule, as many as wanted, no two the same."""

from __future__ import annotations

WHO = ("man", "woman", "girl", "boy", "nurse", "doctor", "dog")
DOES = ("rides", "holds", "watches", "is sitting next to")
LOOK = ("red", "tall", "old", "small", "wooden")
THING = ("bicycle", "bag", "horse", "pizza", "table", "kite")


def captions(count: int) -> list[str]:
    """Return so many different captions."""
    return [
        f"A {LOOK[i % 5]} {WHO[i // 5 % 7]} {DOES[i // 35 % 4]} a {LOOK[i // 140 % 5]} {THING[i // 700 % 6]} near house {i}."
        for i in range(count)
    ]

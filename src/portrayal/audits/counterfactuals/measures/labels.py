"""Kinds of labels: plain concepts that tables leave out, occupations and their groups."""

from __future__ import annotations

from functools import cache

from portrayal.text.lexicons import read_lexicon


@cache
def plain_concepts() -> frozenset[str]:
    """Return listed concepts that name no role: face, skin, red color (lower case)."""
    return frozenset(read_lexicon("plain_concepts")["label"])


@cache
def occupation_groups() -> dict[str, str]:
    """Return the group of each listed occupation label (lower case)."""
    return dict(read_lexicon("occupation_groups").select("label", "group").iter_rows())


def is_plain(label: str) -> bool:
    """Say whether a label is on the list of plain concepts, letter case aside."""
    return label.strip().lower() in plain_concepts()


def occupation_group(label: str) -> str | None:
    """Return the occupation group of a label, or None."""
    return occupation_groups().get(label.strip().lower())

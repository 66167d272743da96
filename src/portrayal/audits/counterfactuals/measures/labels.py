"""What kind of thing a label is: a plain concept that tables leave out, an occupation and its group, or neither."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def plain_concepts() -> frozenset[str]:
    """Return the listed concepts that say nothing of a person's role: face, skin, red color ... (lower case)."""
    return frozenset(row["label"] for row in _rows("plain_concepts.csv"))


@cache
def occupation_groups() -> dict[str, str]:
    """Return the group of each listed occupation label (lower case)."""
    return {row["label"]: row["group"] for row in _rows("occupation_groups.csv")}


def is_plain(label: str) -> bool:
    """Say whether a label is on the list of plain concepts, letter case aside."""
    return label.strip().lower() in plain_concepts()


def occupation_group(label: str) -> str | None:
    """Return the occupation group of a label, or None."""
    return occupation_groups().get(label.strip().lower())


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("portrayal.text") / "lexicons" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))

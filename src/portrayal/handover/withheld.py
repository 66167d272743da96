"""Which pictures a pack may hold, and why the others are left out: real people's, those without a licence, those not there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from portrayal.edges.sizes import LARGEST_PICTURE, is_picture
from portrayal.study.picture_hashes import is_picture_of

# Pictures that show nobody who lives; all others are people's, whatever they agreed to for the study.
NOBODY = ("generated", "none shown")
# Licences that let anybody pass a picture on unchanged.
OPEN = re.compile(r"(?i)^(cc0|cc[ -]by|creative commons|public domain|mit\b|bsd|apache|odc|pddl)")


def sort_pictures(stimuli: pl.DataFrame) -> tuple[dict[str, Path], list[dict[str, str]]]:
    """Return the pictures that may be passed on, by their name in a pack, and the others with the reason.

    Returns
    -------
    tuple
        Paths by name ('pictures/HASH.png'), and dicts of stimulus, hash and reason.
    """
    packed: dict[str, Path] = {}
    withheld: list[dict[str, str]] = []
    for row in stimuli.filter(pl.col("kind") == "image").iter_rows(named=True):
        path = Path(row["content"])
        own, reason = _looked_at(row, path)
        if reason:
            withheld.append({"stimulus": row["stimulus"], "hash": row["hash"], "reason": reason})
        else:
            packed[f"pictures/{own}{path.suffix.lower()}"] = path
    return packed, withheld


def _looked_at(row: Mapping[str, Any], path: Path) -> tuple[str, str]:
    """Return the hash of a picture's file, and why it is left out; nothing there where it may be packed."""
    consent, given = (row["consent"] or "").strip().lower(), (row["license"] or "").strip()
    if consent not in NOBODY:
        return "", f"it may show a real person (consent: {row['consent'] or 'none recorded'})"
    if not OPEN.match(given):
        return "", f"its licence does not say that it may be passed on (license: {given or 'none recorded'})"
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_PICTURE:
            return "", "its file is not there, or is no plain file of a picture's size"
        data = path.read_bytes()
    except (OSError, ValueError):
        return "", "its file cannot be read"
    if not is_picture_of(data, row["stimulus"], row["hash"]) or not is_picture(data):
        return "", "its file is no picture, or changed since it was shown"
    return hashlib.sha256(data).hexdigest(), ""

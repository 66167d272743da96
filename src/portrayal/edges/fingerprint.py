"""Fingerprints of files: the hash of the whole, and a short one of each block, which tells where a byte was changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

BLOCK = 1024  # bytes; all 255 other values of each of them are tried in half a second
SHORT = 16  # hex digits kept of a block's hash


def fingerprint(path: Path) -> dict[str, Any]:
    """Return how many bytes a file has, its SHA-256, and the beginnings of those of its blocks in one text."""
    whole, short, size = hashlib.sha256(), [], 0
    for block in _blocks(path):
        whole.update(block)
        short.append(_short(block))
        size += len(block)
    return {"bytes": size, "sha256": whole.hexdigest(), "blocks": "".join(short)}


def first_change(path: Path, kept: Mapping[str, Any]) -> str:
    """Say where a file differs first from the one that was fingerprinted; nothing where it does not.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "file")
    ...     _ = file.write_bytes(b"abc" * 999)
    ...     kept = fingerprint(file)
    ...     _ = file.write_bytes(b"abc" * 500 + b"aBc" + b"abc" * 498)
    ...     first_change(file, kept)
    'byte 1501 was changed: it is 0x42 and was 0x62'
    """
    found = fingerprint(path)
    if found == kept:
        return ""
    size = "" if found["bytes"] == kept["bytes"] else f"; it has {found['bytes']:,} bytes and had {kept['bytes']:,}"
    differ = [place for place in range(_count(found, kept)) if _nth(found, place) != _nth(kept, place)]
    if not differ:
        return f"its hash is another{size}"
    if len(differ) == 1 and not size and (exact := _one_byte(path, differ[0], _nth(kept, differ[0]))):
        return exact
    return f"the first change lies in bytes {differ[0] * BLOCK} to {(differ[0] + 1) * BLOCK - 1}{size}"


def first_offset(one: bytes, other: bytes) -> int:
    """Return the place of the first byte in which two texts differ, or where the shorter one ends."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _one_byte(path: Path, block: int, kept: str) -> str:
    """Find the one byte whose change gives the block that was kept; nothing where more than one was changed."""
    with path.open("rb") as file:
        file.seek(block * BLOCK)
        held = file.read(BLOCK)
    for place in range(len(held)):
        before, after = hashlib.sha256(held[:place]), held[place + 1 :]
        for value in range(256):
            tried = before.copy()
            tried.update(bytes([value]) + after)
            if tried.hexdigest()[:SHORT] == kept:
                was = f"it is 0x{held[place]:02x} and was 0x{value:02x}"
                return f"byte {block * BLOCK + place} was changed: {was}"
    return ""


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _short(block: bytes) -> str:
    return hashlib.sha256(block).hexdigest()[:SHORT]


def _count(*kept: Mapping[str, Any]) -> int:
    return max(-(-len(one["blocks"]) // SHORT) for one in kept)


def _nth(kept: Mapping[str, Any], place: int) -> str:
    return str(kept["blocks"][place * SHORT : (place + 1) * SHORT])

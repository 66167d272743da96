"""Damage: bytes flipped, cut, repeated, and replaced by what readers trip over."""

from __future__ import annotations

import random

NASTY = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b"\t", b",", b"{", b"}", b"[[[[", b"]", b"null", b"NaN",
    b"Infinity", b"-1", b"1e999", b"1e30", b"99999999999999999999", b"0", b"true", b'"\\ud83d"', b"\xed\xa0\xbd", b"=1+1", b"../../x",
    b"http://x.test", b"a" * 5000, b"[" * 3000, b'{"a":' * 1500, b"\x1f\x8b\x08", b"PK\x03\x04", "\u202e".encode(), b"%s%n", b"None",
)  # fmt: skip


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Damage some bytes, one to six times."""
    for _ in range(rng.randint(1, 6)):
        data = rng.choice(_WAYS)(data, rng)
    return data


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _drop(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + data[start + rng.randint(1, 20) :]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.choices(range(len(data) + 1), k=2))
    return data[:end] + data[start:end] * rng.randint(1, 3) + data[end:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(NASTY) + data[at:]


def _replace(data: bytes, rng: random.Random) -> bytes:
    """Put something nasty in the place of a word or a number."""
    start = rng.randint(0, len(data))
    return data[:start] + rng.choice(NASTY) + data[start + rng.randint(1, 8) :]


_WAYS = (_flip, _cut, _drop, _repeat, _insert, _insert, _replace, _replace)

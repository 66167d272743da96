"""Words as integers, a whole batch of text at a time.

A Python loop over words takes most of an indexer's time. Here a batch of documents is one array of bytes:
word borders come from a table of word bytes, every word's 64-bit hash from differences of one running sum,
and ids from an open-addressing table that is looked up for all words at once. With v distinct words, the
chance that any two share a hash is about v^2 / 2^65: 3 in a million for ten million words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Hashes = NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C2B)  # odd, so it has an inverse modulo 2^64; 3 modulo 8 keeps swaps apart
_INVERSE = np.uint64(pow(int(_FACTOR), -1, 1 << 64))
_BYTE_KEYS: Hashes = np.random.default_rng(0).integers(1, 1 << 64, 256, dtype=np.uint64)


def word_hashes(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Hashes:
    """Return the 64-bit hash of data[start:end] for every word, modulo 2^64.

    With running sums S[i] = sum of key(byte j) f^j over j < i, a word's hash (S[end] - S[start]) f^-start
    depends on its bytes alone, not on where it stands.
    """
    powers = _powers(_FACTOR, len(data))
    sums = np.empty(len(data) + 1, np.uint64)
    sums[0] = 0
    np.cumsum(_BYTE_KEYS[data] * powers, out=sums[1:])
    return (sums[ends] - sums[starts]) * _powers(_INVERSE, len(data))[starts]


_known_powers: dict[int, Hashes] = {}


def _powers(factor: np.uint64, count: int) -> Hashes:
    """Return factor^0 ... factor^(count - 1) modulo 2^64; the longest asked for is kept."""
    kept = _known_powers.get(int(factor))
    if kept is None or len(kept) < count:
        kept = np.full(count, factor, np.uint64)
        kept[:1] = 1
        np.cumprod(kept, out=kept)
        _known_powers[int(factor)] = kept
    return kept[:count]


class Vocabulary:
    """Words and their ids, 0, 1, 2 ... in the order they were first seen."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._keys: Hashes = np.zeros(1 << 16, np.uint64)
        self._ids: Ids = np.zeros(1 << 16, np.int32)

    def __len__(self) -> int:
        return len(self.words)

    def find(self, hashes: Hashes) -> Ids:
        """Return each hash's id, or -1 where it is new."""
        hashes = np.maximum(hashes, np.uint64(1))  # 0 marks an empty slot
        slots = self._slots(hashes)
        found = self._keys[slots]
        ids = np.where(found == hashes, self._ids[slots], np.int32(-1))
        # A slot held by another word: look in the next one, until the word or an empty slot is met.
        left = np.flatnonzero((found != hashes) & (found != 0))
        while len(left):
            slots[left] = (slots[left] + 1) & (len(self._keys) - 1)
            found = self._keys[slots[left]]
            hit = found == hashes[left]
            ids[left[hit]] = self._ids[slots[left[hit]]]
            left = left[~hit & (found != 0)]
        return ids

    def add(self, hashes: Hashes, words: list[str]) -> None:
        """Give new, distinct hashes the next ids."""
        ids = np.arange(len(self.words), len(self.words) + len(words), dtype=np.int32)
        self.words.extend(words)
        if 3 * len(self.words) > len(self._keys):
            self._grow()
        self._insert(np.maximum(hashes, np.uint64(1)), ids)

    def _slots(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return the first slot of each hash: its top bits after mixing."""
        bits = np.uint64(64 - (len(self._keys).bit_length() - 1))
        return ((hashes * np.uint64(0xBF58476D1CE4E5B9)) >> bits).astype(np.int64)

    def _insert(self, hashes: Hashes, ids: Ids) -> None:
        """Put each hash into the first free slot from its own; of two that want one, the first has it."""
        slots = self._slots(hashes)
        while len(hashes):
            free = self._keys[slots] == 0
            wanted, first = np.unique(slots[free], return_index=True)
            placed = np.flatnonzero(free)[first]
            self._keys[wanted], self._ids[wanted] = hashes[placed], ids[placed]
            left = np.ones(len(hashes), bool)
            left[placed] = False
            hashes, ids, slots = hashes[left], ids[left], (slots[left] + 1) & (len(self._keys) - 1)

    def _grow(self) -> None:
        """Make room: at least six slots a word, so that few words share one."""
        keys, ids = self._keys, self._ids
        size = 1 << (6 * len(self.words)).bit_length()
        self._keys, self._ids = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        self._insert(keys[keys != 0], ids[keys != 0])

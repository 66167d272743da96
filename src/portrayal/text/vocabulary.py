"""Words as integers, a whole batch of text at a time.

A Python loop over words takes most of an indexer's time. Here a batch of documents is one array of bytes:
word borders come from a table of word bytes, every word's 64-bit hash from its bytes taken eight at a time,
and ids from an open-addressing table that is looked up for all words at once. Words of up to eight bytes never
share a hash among themselves; with v longer ones, the chance that any two do is about v^2 / 2^65: 3 in a
million for ten million words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Hashes = NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C2B)  # odd, so that multiplying keeps different words different
_FOLD = np.uint64(29)
_WIDE = 8  # bytes taken at a time
_MASKS: Hashes = np.array([(1 << 8 * size) - 1 for size in range(_WIDE + 1)], np.uint64)


def word_hashes(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Hashes:
    """Return the 64-bit hash of data[start:end] for every word, of one byte or more, modulo 2^64."""
    padded = np.concatenate([data, np.zeros(_WIDE, np.uint8)])
    eights: Hashes = np.ndarray(
        len(data) + 1, "<u8", padded, strides=(1,)
    )  # the eight bytes from each byte on
    lengths = ends - starts
    hashes = (eights[starts] & _MASKS[np.minimum(lengths, _WIDE)]) * _FACTOR
    long = np.flatnonzero(lengths > _WIDE)
    done = _WIDE
    while len(long):
        left = lengths[long] - done
        more = eights[starts[long] + done] & _MASKS[np.minimum(left, _WIDE)]
        folded = hashes[long]
        folded ^= folded >> _FOLD
        hashes[long] = (folded + more) * _FACTOR
        long, done = long[left > _WIDE], done + _WIDE
    return hashes


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
        found, ids = self._keys[slots], self._ids[slots]
        others = np.flatnonzero(found != hashes)
        ids[others] = -1
        # A slot held by another word: look in the next one, until the word or an empty slot is met.
        left = others[found[others] != 0]
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

"""Words as integers, a whole batch of text at a time.

A Python loop over words takes most of an indexer's time, so hashes are taken eight bytes at a time and looked up together.
With v words of over eight bytes the chance that any two share a hash is v^2 / 2^65: 3 in a million for ten million words.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Hashes = NDArray[np.uint64]

_FACTOR = np.uint64(0x9E3779B97F4A7C2B)  # odd, so that multiplying keeps different words different
_FOLD = np.uint64(29)
_WIDE = 8  # bytes taken at a time
_MASKS: Hashes = np.array([(1 << 8 * size) - 1 for size in range(_WIDE + 1)], np.uint64)


def word_hashes(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Hashes:
    """Return the 64-bit hash of data[start:end] for every word, modulo 2^64."""
    padded = np.concatenate([data, np.zeros(_WIDE, np.uint8)])
    # The eight bytes from each byte on: as bytes, for numpy takes its time with numbers that are not aligned.
    eights = np.ndarray(len(data) + 1, f"V{_WIDE}", padded, strides=(1,))
    lengths = ends - starts
    hashes: Hashes = eights[starts].view("<u8")
    hashes &= _MASKS.take(lengths, mode="clip")
    hashes *= _FACTOR
    long = np.flatnonzero(lengths > _WIDE)
    done = _WIDE
    while len(long):
        left = lengths[long] - done
        more = eights[starts[long] + done].view("<u8") & _MASKS[np.minimum(left, _WIDE)]
        folded = hashes[long]
        folded ^= folded >> _FOLD
        hashes[long] = (folded + more) * _FACTOR
        long, done = long[left > _WIDE], done + _WIDE
    return hashes


class Vocabulary:
    """Words and ids in order of appearance; other threads may look up meanwhile."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._table = _empty(1 << 17)

    def __len__(self) -> int:
        return len(self.words)

    def find(self, hashes: Hashes) -> Ids:
        """Return each hash's id, or -1 where it is new."""
        slots, keys = self._table  # taken together: a table that grew meanwhile is another one
        places = _places(hashes, slots)
        ids = slots.take(places, mode="clip")  # no place is out of range, and this is the way that does not look
        # The keys lie by id, so that those of frequent words, which are seen early, share a few lines of the cache.
        left = np.flatnonzero(keys.take(ids, mode="clip") != hashes)
        left = left[ids[left] >= 0]
        # A slot held by another word: look in the next one, until the word or an empty slot is met.
        at, wanted = places[left], hashes[left]
        while len(left):
            at = (at + 1) & (len(slots) - 1)
            ids[left] = met = slots.take(at, mode="clip")
            other = (met >= 0) & (keys.take(met, mode="clip") != wanted)
            left, at, wanted = left[other], at[other], wanted[other]
        return ids

    def complete(self, ids: Ids, hashes: Hashes, spelled: Callable[[NDArray[np.int64]], list[str]]) -> None:
        """Fill in the ids that are -1, adding new words in their order."""
        missing = np.flatnonzero(ids < 0)
        if not len(missing):
            return
        ids[missing] = self.find(hashes[missing])  # others may have been added since
        new = missing[ids[missing] < 0]
        distinct, first = np.unique(hashes[new], return_index=True)
        order = np.argsort(first)
        self.add(distinct[order], spelled(new[first[order]]))
        ids[new] = self.find(hashes[new])

    def add(self, hashes: Hashes, words: list[str]) -> None:
        """Give new, distinct hashes the next ids."""
        ids = np.arange(len(self.words), len(self.words) + len(words), dtype=np.int32)
        self.words.extend(words)
        if 3 * len(self.words) > len(self._table[0]):
            self._grow(len(self.words) - len(words))
        _insert(self._table, hashes, ids)

    def _grow(self, known: int) -> None:
        """Make room: at least six slots a word, so that few words share one."""
        keys, table = self._table[1][:known], _empty(1 << (6 * len(self.words)).bit_length())
        _insert(table, keys, np.arange(known, dtype=np.int32))
        self._table = table


_Table = tuple[Ids, Hashes]  # the id in each slot, -1 where it is empty; the hash of each id


def _empty(size: int) -> _Table:
    return np.full(size, -1, np.int32), np.zeros(size, np.uint64)


def _places(hashes: Hashes, slots: Ids) -> NDArray[np.int64]:
    """Return the first slot of each hash: its top bits, which the multiplication mixed best."""
    return (hashes >> np.uint64(65 - len(slots).bit_length())).view(np.int64)


def _insert(table: _Table, hashes: Hashes, ids: Ids) -> None:
    """Put each hash into the first free slot from its own."""
    slots, keys = table
    keys[ids] = hashes
    places = _places(hashes, slots)
    while len(ids):
        free = np.flatnonzero(slots[places] < 0)
        slots[places[free][::-1]] = ids[free][::-1]
        left = slots[places] != ids
        ids, places = ids[left], (places[left] + 1) & (len(slots) - 1)

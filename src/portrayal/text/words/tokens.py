"""Words of a text, stop lists, and integers for words.

A Python loop over words takes most of an indexer's time, so hashes are taken eight bytes at a time and looked up together.
With v words of over eight bytes the chance that any two share a hash is v^2 / 2^65: 3 in a million for ten million words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError, nearest
from portrayal.text.lexicons import read_lexicon

STOP_LISTS = ("lucene", "snowball", "none")

_WORD = re.compile(r"[^\W_]+")
_NOT_WORD = re.compile(r"[\W_]+")

# In prepared text a word byte is a letter or digit of ASCII, or any byte of a longer UTF-8 character; the rest becomes 0.
_SPELLED = bytes(byte if byte >= 128 else ord(chr(byte).lower()) * chr(byte).isalnum() for byte in range(256))


def words(text: str) -> list[str]:
    """Return the words of a text: lower-case runs of letters and digits of any script."""
    return _WORD.findall(text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower())


def stop_words(name: str = "lucene", folder: Path | str = ".") -> frozenset[str]:
    """Return a stop list: 'lucene' (33 words), 'snowball' (148), 'none', or a file, Indri's too."""
    path = Path(folder) / name
    if name not in STOP_LISTS and path.is_file():
        return _own_list(path)
    if name not in STOP_LISTS:
        known = ", ".join(STOP_LISTS)
        expected = f"Expected one of {known}, or the path of a file with one word a line."
        raise PortrayalError(f"no stop list {name!r}.{nearest(name, STOP_LISTS)} {expected}")
    return _shipped_list(name)


@cache
def _shipped_list(name: str) -> frozenset[str]:
    return frozenset() if name == "none" else frozenset(read_lexicon(f"stop_words_{name}")["word"])


def _own_list(path: Path) -> frozenset[str]:
    """Read a user's list without what is no single word here ("can't" is two)."""
    text = path.read_text(encoding="utf-8", errors="replace")
    listed = re.findall(r"<word>\s*([^<]*?)\s*</word>", text) or text.splitlines()
    own = frozenset(split[0] for split in map(words, listed) if len(split) == 1)
    if not own:
        raise PortrayalError(f"{path} has no stop words. Expected one word a line.")
    return own


class LookedUp(NamedTuple):
    """The words of a batch of texts; text i starts at borders[i]."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]  # where words begin and end
    ends: NDArray[np.int64]
    hashes: Hashes
    ids: Ids  # -1 where a word was new when it was looked up
    borders: NDArray[np.int64]

    def spelled(self, places: NDArray[np.int64]) -> list[str]:
        """Return the words at these places."""
        raw, spans = (self.data.tobytes(), zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True))
        return [raw[start:end].decode() for start, end in spans]


class Tokeniser:
    """Turns batches of texts into word ids, growing one vocabulary; stop words are left out."""

    def __init__(self, stop: Iterable[str] = ()) -> None:
        self.stop = frozenset(stop)
        self.vocabulary = Vocabulary()
        self._stopped: list[int] = []
        if self.stop:
            self.encode([" ".join(sorted(self.stop))])
            self._stopped = list(range(len(self.vocabulary)))

    def encode(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """Return all word ids in one array, and the borders of texts."""
        return self.number(self.look_up(texts))

    def look_up(self, texts: Sequence[str]) -> LookedUp:
        """Find the words of texts and look up known ones; several threads may."""
        data, offsets = _joined(texts)
        starts, ends = _borders(data)
        hashes = word_hashes(data, starts, ends)
        borders = np.searchsorted(starts, offsets)
        return LookedUp(data, starts, ends, hashes, self.vocabulary.find(hashes), borders)

    def number(self, words: LookedUp) -> tuple[Ids, NDArray[np.int64]]:
        """Number words that were looked up; one thread, in the order of the texts."""
        self.vocabulary.complete(words.ids, words.hashes, words.spelled)
        # Stop words were seen first, so theirs are the lowest ids.
        counted = words.ids >= len(self._stopped)
        if counted.all():
            return words.ids, words.borders
        return words.ids[counted], np.concatenate([[0], np.cumsum(counted)])[words.borders]


def _joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the prepared texts as one array of bytes, and their borders."""
    joined = "\n".join([*texts, ""])
    if joined.isascii():
        raw, sizes = joined.encode(), map(len, texts)
    else:
        prepared = [_prepared(text) for text in texts]
        raw, sizes = b"\n".join([*prepared, b""]), map(len, prepared)
    lengths = np.fromiter(sizes, np.int64, len(texts))
    return np.frombuffer(raw.translate(_SPELLED), np.uint8), np.concatenate([[0], np.cumsum(lengths + 1)])


def _prepared(text: str) -> bytes:
    """Return the text in bytes, other signs than letters and digits as spaces."""
    if text.isascii():
        return text.encode()
    plain = _NOT_WORD.sub(" ", unicodedata.normalize("NFC", text).lower())
    return plain.encode("utf-8", "replace")


def _borders(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where words begin and end, in bytes whose last is none of a word."""
    ends = np.flatnonzero(data == 0)
    starts = np.empty_like(ends)
    starts[:1], starts[1:] = 0, ends[:-1] + 1
    some = starts < ends
    return (starts, ends) if some.all() else (starts[some], ends[some])


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

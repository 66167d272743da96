"""Words of a text, stop lists, and stems (Porter 1980, Program 14, 130-137)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import MissingExtra, PortrayalError, check_name, nearest
from portrayal.text.lexicons import read_lexicon
from portrayal.text.words.vocabulary import Hashes, Ids, Vocabulary, word_hashes

STOP_LISTS = ("lucene", "snowball", "none")
STEMMERS = ("none", "porter", "english")

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
        raise PortrayalError(
            f"no stop list {name!r}.{nearest(name, STOP_LISTS)} Expected one of {', '.join(STOP_LISTS)}, or the path of a "
            "file with one word a line."
        )
    return _shipped_list(name)


@cache
def _shipped_list(name: str) -> frozenset[str]:
    return frozenset() if name == "none" else frozenset(read_lexicon(f"stop_words_{name}")["word"])


def _own_list(path: Path) -> frozenset[str]:
    """Read a user's list without what is no single word here ("can't" is two)."""
    text = path.read_text(encoding="utf-8", errors="replace")
    listed = re.findall(r"<word>\s*([^<]*?)\s*</word>", text) or text.splitlines()
    found = frozenset(split[0] for split in map(words, listed) if len(split) == 1)
    if not found:
        raise PortrayalError(f"{path} has no stop words. Expected one word a line.")
    return found


def stems(words: Sequence[str], stemmer: str) -> list[str]:
    """Return the stem of each word; with 'none' the words themselves."""
    check_name(stemmer, STEMMERS, "stemmer")
    if stemmer == "none":
        return list(words)
    try:
        import snowballstemmer
    except ImportError:
        raise MissingExtra(f"the stemmer {stemmer!r}", "stem") from None
    found: list[str] = snowballstemmer.stemmer(stemmer).stemWords(list(words))
    return found


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

    def number(self, found: LookedUp) -> tuple[Ids, NDArray[np.int64]]:
        """Number words that were looked up; one thread, in the order of the texts."""
        self.vocabulary.complete(found.ids, found.hashes, found.spelled)
        # Stop words were seen first, so theirs are the lowest ids.
        kept = found.ids >= len(self._stopped)
        if kept.all():
            return found.ids, found.borders
        return found.ids[kept], np.concatenate([[0], np.cumsum(kept)])[found.borders]


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

"""Words of a text: lower case, runs of letters and digits; stop lists."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError, nearest
from portrayal.text.lexicons import read_lexicon
from portrayal.text.vocabulary import Hashes, Ids, Vocabulary, word_hashes

STOP_LISTS = ("lucene", "snowball", "none")

_WORD = re.compile(r"[^\W_]+")
_NOT_WORD = re.compile(r"[\W_]+")

# In prepared text a word byte is a letter or digit of ASCII, or any byte of a longer UTF-8 character.
_WORD_BYTES = bytes(byte >= 128 or chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" for byte in range(256))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters and digits, of any script.

    Examples
    --------
    >>> words("The U.S. nurse's 2 cafés")
    ['the', 'u', 's', 'nurse', 's', '2', 'cafés']
    """
    return _WORD.findall(text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower())


def stop_words(name: str = "lucene", folder: Path | str = ".") -> frozenset[str]:
    """Return a stop list: 'lucene' (33 English words), 'snowball' (148), 'none', or the file at a path.

    Each shipped list's origin is in `text/lexicons/stop_words_NAME.source.md`. A file has one word a line, or is a parameter file of
    Indri's (<word>...</word>); `folder` is where relative paths start.
    """
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
    """Read a user's list; what is no word of its own here ("can't" is two) can match nothing and is left out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    listed = re.findall(r"<word>\s*([^<]*?)\s*</word>", text) or text.splitlines()
    found = frozenset(split[0] for split in map(words, listed) if len(split) == 1)
    if not found:
        raise PortrayalError(f"{path} has no stop words. Expected one word a line.")
    return found


class Found(NamedTuple):
    """The words of a batch of texts: where they stand, and their hashes; text i has words borders[i] to borders[i + 1]."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    hashes: Hashes
    borders: NDArray[np.int64]


def found_words(texts: Sequence[str]) -> Found:
    """Find the words of texts; this needs no vocabulary, so that batches can be looked at side by side."""
    data, offsets = _joined(texts)
    starts, ends = _borders(data)
    return Found(data, starts, ends, word_hashes(data, starts, ends), np.searchsorted(starts, offsets))


class Tokeniser:
    """Turns batches of texts into word ids, growing one vocabulary; stop words are left out.

    Parameters
    ----------
    stop
        Words to leave out, in lower case.
    """

    def __init__(self, stop: Iterable[str] = ()) -> None:
        self.stop = frozenset(stop)
        self.vocabulary = Vocabulary()
        self._stopped: list[int] = []
        if self.stop:
            self.encode([" ".join(sorted(self.stop))])
            self._stopped = list(range(len(self.vocabulary)))

    def encode(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """Return all word ids in one array, and the borders: text i is ids[borders[i]:borders[i + 1]]."""
        return self.number(found_words(texts))

    def number(self, found: Found) -> tuple[Ids, NDArray[np.int64]]:
        """Do what `encode` does with words that were found beforehand."""
        ids = self._ids(found.hashes, found.data, found.starts, found.ends)
        if not self._stopped:
            return ids, found.borders
        # Stop words were seen first, so theirs are the lowest ids.
        kept = ids >= len(self._stopped)
        return ids[kept], np.concatenate([[0], np.cumsum(kept)])[found.borders]

    def _ids(
        self, hashes: Hashes, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> Ids:
        """Return the ids of the words, adding those never seen before in the order of the text."""
        ids = self.vocabulary.find(hashes)
        new = np.flatnonzero(ids < 0)
        if len(new):
            distinct, first = np.unique(hashes[new], return_index=True)
            order = np.argsort(first)
            places = new[first[order]]
            raw, spans = data.tobytes(), zip(starts[places].tolist(), ends[places].tolist(), strict=True)
            self.vocabulary.add(distinct[order], [raw[start:end].decode() for start, end in spans])
            ids[new] = self.vocabulary.find(hashes[new])
        return ids


def _joined(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the prepared texts as one array of bytes, and where each begins; the last border is the end."""
    prepared = [_prepared(text) for text in texts]
    lengths = np.fromiter((len(text) + 1 for text in prepared), np.int64, len(prepared))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return np.frombuffer(b"\n".join([*prepared, b""]), np.uint8), offsets


def _prepared(text: str) -> bytes:
    """Return the text in lower case; if it is not ASCII, whatever is no letter or digit becomes a space."""
    if text.isascii():
        return text.lower().encode()
    plain = _NOT_WORD.sub(" ", unicodedata.normalize("NFC", text).lower())
    return plain.encode("utf-8", "replace")


def _borders(data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where words begin and end."""
    inside = np.zeros(len(data) + 2, bool)
    inside[1:-1] = np.frombuffer(data.tobytes().translate(_WORD_BYTES), bool)
    borders = np.flatnonzero(inside[1:] != inside[:-1])  # into a word, out of it, into the next ...
    return borders[::2], borders[1::2]

"""Inverted index: a sparse matrix of word counts in documents; stems (Porter 1980, Program 14).

On disk an index is .npy arrays that are mapped into memory.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from portrayal.edges.folders import claim
from portrayal.edges.sizes import parse_json
from portrayal.edges.writing import replacing, write_text
from portrayal.engine import current_engine
from portrayal.errors import MissingExtra, PortrayalError, check_name
from portrayal.text.collections.numbering import Batch, check_names, number_batches, numbers_of, spread_batches
from portrayal.text.words.tokens import Tokeniser, stop_words, words

if TYPE_CHECKING:
    from scipy import sparse

STEMMERS = ("none", "porter", "english")
ARRAYS = ("borders", "postings", "counts", "lengths")  # of an index on disk
FORM = 1  # raised when these files change


@dataclass(frozen=True)
class Index:
    """Counts of words in documents, kept by word: word w occurs in `postings[borders[w]:borders[w + 1]]`."""

    documents: Sequence[str]  # ids, in the order they were read
    words: Sequence[str]
    borders: NDArray[np.int64]
    postings: NDArray[np.int32]  # document numbers, ascending within a word
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]  # words of each document, stop words not counted
    stop: frozenset[str] = field(default_factory=frozenset)
    stem: str = "none"  # how words were cut to stems, which then are the `words`

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Words to their ids without stop words; stems may look like one ("do" of "doing")."""
        left_out = self.stop if self.stem == "none" else ()
        return {word: number for number, word in enumerate(self.words) if word not in left_out}

    @cached_property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many documents each word occurs."""
        return np.diff(self.borders)

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The number of times each word occurs in all documents."""
        sums = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        return sums[self.borders[1:]] - sums[self.borders[:-1]]

    @cached_property
    def tie_order(self) -> NDArray[np.int64]:
        """Each document's place among ids in descending order; see `tie_order`."""
        return tie_order(self.documents)

    @cached_property
    def matrix(self) -> sparse.csc_array:
        """Documents by words, counts."""
        return self.weighted(self.counts)

    def weighted(self, weights: NDArray[Any]) -> sparse.csc_array:
        """Return documents by words with another weight in each posting's place."""
        from scipy import sparse

        shape = (len(self.documents), len(self.words))
        # Both index arrays must be of one type, or scipy copies the postings into the wider.
        borders = self.borders.astype(np.int32) if self.borders[-1] < 2**31 else self.borders
        return sparse.csc_array((weights, self.postings, borders), shape=shape)

    def encode(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids of the text's known words, each once, and how often each occurs."""
        terms = stems([word for word in words(text) if word not in self.stop], self.stem)
        # A query is a few words: counting them in Python is faster than sorting an array.
        counted = sorted(Counter(self.numbers[word] for word in terms if word in self.numbers).items())
        ids, counts = np.array(counted, np.int64).reshape(-1, 2).T
        return np.ascontiguousarray(ids), np.ascontiguousarray(counts)


def tie_order(documents: Sequence[str]) -> NDArray[np.int64]:
    """Return each document's place among ids in descending order: trec_eval orders equal scores so."""
    return pl.Series(documents).rank("ordinal", descending=True).to_numpy().astype(np.int64)


def build_index(documents: Iterable[tuple[str, str]], stop: Iterable[str] | None = None) -> Index:
    """Index documents given as (id, text)."""
    left_out = frozenset(stop_words() if stop is None else stop)
    tokeniser, names, blocks = Tokeniser(left_out), list[str](), list[_Block]()
    if current_engine().named:
        numbers = numbers_of(left_out)
        for own, block in spread_batches(_count, documents, left_out, names, numbers):
            blocks.append(replace(block, words=own[block.words]))
        vocabulary = list(numbers)
    else:
        for some, ids, borders in number_batches(documents, tokeniser):
            blocks.append(_block(ids, borders, len(names)))
            names.extend(some)
        vocabulary = tokeniser.vocabulary.words
    check_names(names)
    return _join(names, vocabulary, left_out, blocks)


def _count(stop: frozenset[str], batch: Batch) -> tuple[list[str], _Block]:
    """Return the words of a batch in the order they were seen, and their counts."""
    first, texts = batch
    tokeniser = Tokeniser(stop)
    block = _block(*tokeniser.encode(texts), first)
    return tokeniser.vocabulary.words, block


def stems(words: Sequence[str], stemmer: str) -> list[str]:
    """Return the stem of each word; with 'none' the words themselves."""
    check_name(stemmer, STEMMERS, "stemmer")
    if stemmer == "none":
        return list(words)
    try:
        import snowballstemmer
    except ImportError:
        raise MissingExtra(f"the stemmer {stemmer!r}", "stem") from None
    return list(snowballstemmer.stemmer(stemmer).stemWords(list(words)))


def stemmed(index: Index, stemmer: str) -> Index:
    """Return the index with words of the same stem counted as one."""
    from scipy import sparse

    content = [number for number, word in enumerate(index.words) if word not in index.stop]
    cut = stems([index.words[number] for number in content], stemmer)
    numbers = {stem: number for number, stem in enumerate(dict.fromkeys(cut))}
    places = (content, [numbers[stem] for stem in cut])
    merge = sparse.coo_array((np.ones(len(content), np.int32), places), shape=(len(index.words), len(numbers))).tocsc()
    counts = (index.matrix @ merge).tocsc().sorted_indices()
    borders, postings = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
    return Index(
        index.documents,
        list(numbers),
        borders,
        postings,
        counts.data.astype(np.int32),
        index.lengths,
        index.stop,
        stemmer,
    )


@dataclass(frozen=True)
class _Block:
    """One batch's postings, by word; only words that occur in it are listed."""

    words: NDArray[np.int32]
    sizes: NDArray[np.int32]
    postings: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]


def _block(ids: NDArray[np.int32], borders: NDArray[np.int64], first: int) -> _Block:
    """Count the words of a batch whose first document has number `first`."""
    lengths = np.diff(borders)
    # Word and document in one number: sorted, every word's documents ascend and repeats lie side by side.
    bits = len(lengths).bit_length()
    kind = np.int32 if (int(ids.max(initial=0)) + 1) << bits < 2**31 else np.int64  # the smaller, the faster sorted
    keys: NDArray[Any] = ids.astype(kind)
    keys <<= bits
    keys |= np.repeat(np.arange(len(lengths), dtype=kind), lengths)
    keys.sort()
    places = _starts(keys)
    counts = np.diff(places, append=len(keys)).astype(np.int32)
    distinct = keys[places]
    words, documents = distinct >> bits, distinct & ((1 << bits) - 1)
    begins = _starts(words)
    sizes = np.diff(begins, append=len(words)).astype(np.int32)
    return _Block(words[begins].astype(np.int32), sizes, (documents + first).astype(np.int32), counts, lengths)


def _starts(values: NDArray[np.signedinteger]) -> NDArray[np.int64]:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])[: len(values)])


def _join(names: list[str], vocabulary: list[str], stop: frozenset[str], blocks: list[_Block]) -> Index:
    """Join the blocks' postings within each word, letting blocks go."""
    frequencies = np.zeros(len(vocabulary), np.int64)
    for block in blocks:
        frequencies[block.words] += block.sizes
    borders = np.concatenate([[0], np.cumsum(frequencies)])
    postings, counts = np.empty(borders[-1], np.int32), np.empty(borders[-1], np.int32)
    lengths = np.concatenate([block.lengths for block in blocks])

    def place(block: _Block, shifts: NDArray[np.int64]) -> None:
        places = np.arange(len(block.postings)) + np.repeat(shifts, block.sizes)
        postings[places], counts[places] = block.postings, block.counts

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda pair: place(*pair), _shifted(blocks, borders[:-1].copy())):
            pass
    return Index(names, vocabulary, borders, postings, counts, lengths, stop)


def _shifted(blocks: list[_Block], cursor: NDArray[np.int64]) -> Iterator[tuple[_Block, NDArray[np.int64]]]:
    """Yield the blocks with the shift of each word's postings; `cursor` moves on."""
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        yield block, cursor[block.words] - (np.cumsum(block.sizes) - block.sizes)
        cursor[block.words] += block.sizes


def save_index(index: Index, folder: Path | str, source: str = "") -> None:
    """Write the index into a folder, `index.json` last; `source` is a mark of the collection."""
    folder = Path(folder)
    claim(folder, "index")
    (folder / "index.json").unlink(missing_ok=True)
    for name in ARRAYS:
        with replacing(folder / f"{name}.npy") as part, part.open("wb") as file:
            np.save(file, getattr(index, name))
    for name in ("documents", "words"):
        write_text(folder / f"{name}.json", json.dumps(list(getattr(index, name))))
    about = {"form": FORM, "documents": len(index.documents), "stop": sorted(index.stop), "stem": index.stem}
    write_text(folder / "index.json", json.dumps(about | {"source": source}))


def load_index(folder: Path | str, source: str = "") -> Index:
    """Open a saved index; the arrays stay on disk."""
    folder = Path(folder)
    try:
        about = parse_json((folder / "index.json").read_text(encoding="utf-8"))
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        texts = {name: parse_json((folder / f"{name}.json").read_text("utf-8")) for name in ("documents", "words")}
    except (OSError, ValueError):
        raise PortrayalError(f"{folder} holds no whole index. Save one with save_index.") from None
    if about.get("form") != FORM:
        raise PortrayalError(f"{folder} holds an index of form {about.get('form')}. Expected {FORM}: index again.")
    if source and about.get("source") != source:
        raise PortrayalError(f"{folder} holds the index of another collection or of its earlier state. Remove it.")
    return Index(**texts, **arrays, stop=frozenset(about["stop"]), stem=about.get("stem", "none"))

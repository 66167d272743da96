"""Documents as numbers of their words, looked up by threads or by the engine's workers.

New words get their numbers in the order of the documents, so that numbers do not depend on who looked them up.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from portrayal.engine import Shard, current_engine, run
from portrayal.errors import PortrayalError
from portrayal.text.collections import in_batches
from portrayal.text.words.tokens import Ids, LookedUp, Tokeniser

# About a megabyte of text: the arrays of a batch stay in the processor's cache, and long documents come alone.
BATCH, CHARACTERS = 1000, 2_000_000
AHEAD = 2  # batches for each thread that are looked up while earlier ones are taken
Batch = tuple[int, list[str]]  # the number of the first document, and the texts
Result = TypeVar("Result")


def read_numbered(
    documents: Iterable[tuple[str, str]], stop: frozenset[str]
) -> tuple[list[str], list[str], Ids, NDArray[np.int64]]:
    """Return names, words, ids and borders: the words of document d are `ids[borders[d]:borders[d + 1]]`."""
    names, numbers, parts, lengths = list[str](), numbers_of(stop), list[Ids](), list[NDArray[np.int64]]()
    if current_engine().named:
        for own, (ids, borders) in spread_batches(_encode, documents, stop, names, numbers):
            parts.append(own[ids])
            lengths.append(np.diff(borders))
        words = list(numbers)
    else:
        tokeniser = Tokeniser(stop)
        for some, ids, borders in number_batches(documents, tokeniser):
            names.extend(some)
            parts.append(ids)
            lengths.append(np.diff(borders))
        words = tokeniser.vocabulary.words
    check_names(names)
    every = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return names, words, np.concatenate(parts), every


def number_batches(
    documents: Iterable[tuple[str, str]], tokeniser: Tokeniser
) -> Iterator[tuple[list[str], Ids, NDArray[np.int64]]]:
    """Yield names, word numbers and document borders of each batch, looked up by threads."""
    workers, waiting = os.cpu_count() or 1, deque[tuple[list[str], Future[LookedUp]]]()
    with ThreadPoolExecutor(workers) as pool:
        for place, batch in enumerate(in_batches(documents, BATCH, CHARACTERS)):
            names, texts = [name for name, _ in batch], [text for _, text in batch]
            if place == 0:  # those looked up ahead find the common words, which are in the first
                yield names, *tokeniser.encode(texts)
                continue
            waiting.append((names, pool.submit(tokeniser.look_up, texts)))
            if len(waiting) > AHEAD * workers:
                some, looked_up = waiting.popleft()
                yield some, *tokeniser.number(looked_up.result())
        while waiting:
            some, looked_up = waiting.popleft()
            yield some, *tokeniser.number(looked_up.result())


def numbers_of(stop: frozenset[str]) -> dict[str, int]:
    """Return the words that a vocabulary begins with, numbered: the stop words."""
    return {word: number for number, word in enumerate(Tokeniser(stop).vocabulary.words)}


def spread_batches(
    count: Callable[[frozenset[str], Batch], tuple[list[str], Result]], documents: Iterable[tuple[str, str]],
    stop: frozenset[str], names: list[str], numbers: dict[str, int],
) -> Iterator[tuple[Ids, Result]]:  # fmt: skip
    """Yield the engine's results for batches, in order, with the numbers of each worker's words.

    `count` returns a batch's words in the order they were seen, and its result; `names` and `numbers` grow on the way.
    """

    def shards() -> Iterator[Shard]:
        for place, batch in enumerate(in_batches(documents, BATCH, CHARACTERS)):
            first = len(names)
            names.extend(name for name, _ in batch)
            yield Shard(f"documents from {batch[0][0]!r}", (first, [text for _, text in batch]), place)

    following, early = 0, dict[int, tuple[list[str], Result]]()
    for shard, counted in run(partial(partial, count, stop), shards()):
        early[shard.place] = counted
        while following in early:
            seen, result = early.pop(following)
            following += 1
            yield np.array([numbers.setdefault(word, len(numbers)) for word in seen], np.int32), result


def _encode(stop: frozenset[str], batch: Batch) -> tuple[list[str], tuple[Ids, NDArray[np.int64]]]:
    tokeniser = Tokeniser(stop)
    encoded = tokeniser.encode(batch[1])
    return tokeniser.vocabulary.words, encoded


def check_names(names: list[str]) -> None:
    """Refuse documents that are none, or of which two have one name."""
    if not names:
        raise PortrayalError("the collection has no documents to index. Expected at least one.")
    series = pl.Series(names)
    if series.n_unique() < len(names):
        twice = series.filter(series.is_duplicated())[0]
        raise PortrayalError(f"document {twice!r} is there twice. Give every document its own id.")

"""Documents as word numbers, in the order of their texts: what the index counts and the genderedness of documents sums.

Several threads find and look up the words of the next batches while earlier ones are taken; words never seen before get
their numbers here, in the order of the documents, so that the numbers do not depend on the threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from portrayal.errors import PortrayalError
from portrayal.text.collections import in_batches
from portrayal.text.words.tokens import LookedUp, Tokeniser
from portrayal.text.words.vocabulary import Ids

# About a megabyte of text: the arrays of a batch stay in the processor's cache, and long documents come alone.
BATCH, CHARACTERS = 1000, 2_000_000
AHEAD = 2  # batches for each thread that are looked up while earlier ones are taken


@dataclass(frozen=True)
class Numbered:
    """Documents whose words are numbers: those of document d are `ids[borders[d]:borders[d + 1]]`."""

    documents: list[str]
    words: list[str]
    ids: Ids
    borders: NDArray[np.int64]


def read_numbered(documents: Iterable[tuple[str, str]], stop: Iterable[str]) -> Numbered:
    """Read documents given as (id, text), without these stop words."""
    tokeniser, names = Tokeniser(stop), list[str]()
    parts, lengths = list[Ids](), list[NDArray[np.int64]]()
    for some, ids, borders in number_batches(documents, tokeniser):
        names.extend(some)
        parts.append(ids)
        lengths.append(np.diff(borders))
    check_names(names)
    every = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Numbered(names, tokeniser.vocabulary.words, np.concatenate(parts), every)


def number_batches(
    documents: Iterable[tuple[str, str]], tokeniser: Tokeniser
) -> Iterator[tuple[list[str], Ids, NDArray[np.int64]]]:
    """Yield the names of each batch of documents, the numbers of their words, and where each document's begin."""
    workers, started = os.cpu_count() or 1, False
    waiting: deque[tuple[list[str], Future[LookedUp]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for batch in in_batches(documents, BATCH, CHARACTERS):
            names, texts = [name for name, _ in batch], [text for _, text in batch]
            if not started:  # those looked up ahead find the common words, which are in the first
                started = True
                yield names, *tokeniser.encode(texts)
                continue
            waiting.append((names, pool.submit(tokeniser.look_up, texts)))
            if len(waiting) > AHEAD * workers:
                some, looked_up = waiting.popleft()
                yield some, *tokeniser.number(looked_up.result())
        while waiting:
            some, looked_up = waiting.popleft()
            yield some, *tokeniser.number(looked_up.result())


def check_names(names: list[str]) -> None:
    """Refuse documents that are none, or of which two have one name."""
    if not names:
        raise PortrayalError("the collection has no documents to index. Expected at least one.")
    series = pl.Series(names)
    if series.n_unique() < len(names):
        twice = series.filter(series.is_duplicated())[0]
        raise PortrayalError(f"document {twice!r} is there twice. Give every document its own id.")

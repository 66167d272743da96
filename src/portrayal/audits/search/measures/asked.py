"""What rows over queries need to know of the queries themselves: a few numbers each, and the words that are asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from portrayal.audits.search.measures.history import History


@dataclass(frozen=True, eq=False)
class Asked:
    """The queries, one number each in the order of the history."""

    units: np.ndarray  # queries of the same words have the same
    judged: np.ndarray  # whether the collection has a relevant document
    gendered: np.ndarray  # whether it names people of a group itself, such as 'women in parliaments'
    words: Mapping[str, int]  # how often each word is asked

    def __len__(self) -> int:
        return len(self.units)


def asked_of(history: History, mentions: Mapping[str, set[str]]) -> Asked:
    """Return what is known of the queries of a history; `mentions` are the words that name people of each group."""
    named = set().union(*mentions.values())
    return Asked(
        np.array(history.units, np.int64),
        np.array([bool(history.relevant(query)) for query in history.queries], bool),
        np.array([not named.isdisjoint(words) for words in history.queries.values()], bool),
        Counter(chain.from_iterable(history.queries.values())),
    )

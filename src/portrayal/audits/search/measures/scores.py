"""The score of every word a history is about: which words count, and their genderedness."""

from __future__ import annotations

from itertools import compress

import numpy as np

from portrayal.audits.search.measures.history import History
from portrayal.text.vectors.direction import Direction, score_words
from portrayal.text.vectors.space import WordSpace


def usable(word: str) -> bool:
    """Say whether a word is scored at all: two letters or more and no digit, as in the authors' tokeniser."""
    return len(word) > 1 and word.isalpha()


def word_scores(space: WordSpace, direction: Direction, history: History) -> dict[str, float]:
    """Return the genderedness of all usable words of a history's queries and documents that the vectors have."""
    asked = {word for words in history.queries.values() for word in words}
    new = sorted(asked - history.bags.column_of.keys())
    words = list(filter(usable, (*history.bags.words, *new)))
    scores = score_words(space, direction, words)
    known = ~np.isnan(scores)
    return dict(zip(compress(words, known.tolist()), scores[known].tolist(), strict=True))

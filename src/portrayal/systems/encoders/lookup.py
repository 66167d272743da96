"""Look-up of texts in a vocabulary: as written, lowered, with underscores, or word by word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from portrayal.settings import Settings


class Lookup(Settings):
    """Rules for looking words up.

    `phrases`: a text of several words that is not in the vocabulary is missing, or gets the mean of its
    words' vectors when all of them are there.
    """

    lowercase: bool = False
    phrases: Literal["missing", "mean"] = "missing"


def needed_words(texts: Sequence[str], lookup: Lookup) -> set[str]:
    """Return every vocabulary entry that could answer these texts."""
    return {form for text in texts for form in (*_forms(text, lookup), *_words(text, lookup))}


def look_up(texts: Sequence[str], vectors: Mapping[str, np.ndarray], lookup: Lookup) -> list[np.ndarray | None]:
    """Return one vector per text, or None where there is none."""
    return [_find(text, vectors, lookup) for text in texts]


def _find(text: str, vectors: Mapping[str, np.ndarray], lookup: Lookup) -> np.ndarray | None:
    for form in _forms(text, lookup):
        if form in vectors:
            return vectors[form]
    words = _words(text, lookup)
    if words and all(word in vectors for word in words):
        return np.mean([vectors[word] for word in words], axis=0)
    return None


def _forms(text: str, lookup: Lookup) -> list[str]:
    text = text.lower() if lookup.lowercase else text
    return [text, text.replace(" ", "_")] if " " in text else [text]  # word2vec joins phrases with underscores


def _words(text: str, lookup: Lookup) -> list[str]:
    if lookup.phrases == "missing" or " " not in text:
        return []
    return (text.lower() if lookup.lowercase else text).split()

"""Words cut to their stems, by the package snowballstemmer: Porter's algorithm [1]_ and its successor for English.

References
----------
.. [1] Porter (1980), An algorithm for suffix stripping, Program 14, 130-137.
"""

from __future__ import annotations

from collections.abc import Sequence

from portrayal.errors import MissingExtra, check_name

STEMMERS = ("none", "porter", "english")


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

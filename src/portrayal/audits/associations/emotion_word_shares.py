"""Emotion words in any number of captions, from a folder of Parquet files: counts of every cell and person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from portrayal.audits.associations.datasets.sobem import emotion_lexicon
from portrayal.audits.associations.measures.emotion_words import (
    CAPTIONS,
    CELL,
    HINT,
    CaptionCounts,
    count_captions,
    words_of_counts,
)
from portrayal.audits.associations.measures.people import check_people
from portrayal.batches import ROWS, Source, Sums, batches
from portrayal.tables import check


def emotion_word_shares(
    captions: Source,
    words: Mapping[str, Sequence[str]] | None = None,
    minimum: int = 100,
    baseline: str = "nonobjectified",
    neutral: str = "neutral",
    rows: int = ROWS,
) -> pl.DataFrame:
    """Measure captioners on more captions than memory holds: words for the emotion a person shows, by condition.

    Parameters
    ----------
    captions
        A folder of Parquet files, a lazy table or a table: system, person, emotion (shown), intensity, condition, status and
        caption, one row per caption, in any order.
    words
        The words of each emotion; the paper's lists by default.
    minimum
        A word that occurs fewer times over all of a system's captions is left out.
    baseline
        The condition the others are compared with.
    neutral
        The `emotion` of photographs that show none.
    rows
        Read at a time; memory grows with it and with the number of people, not with the number of captions.

    Returns
    -------
    polars.DataFrame
        A Results table with all rows of an emotion words audit, the same as in memory: counts equal, floats within 1e-12.

    Raises
    ------
    PortrayalError
        When a column is missing, a row does not say who is shown, or no caption has the baseline's condition.

    Examples
    --------
    >>> import polars as pl
    >>> from portrayal import emotion_word_shares
    >>> said = {"system": "s", "person": ["a", "a", "b"], "emotion": "anger", "intensity": "", "condition": ["x", "y", "y"],
    ...     "status": "answered", "caption": ["An angry person.", "A wall", "A person"]}
    >>> found = emotion_word_shares(pl.DataFrame(said), {"anger": ["angry"]}, minimum=1, baseline="x")
    >>> found.filter(measure="emotion_words").select("group", "value", "n").rows()
    [('x', 1000.0, 1), ('y', 0.0, 2)]
    """
    listed = emotion_lexicon() if words is None else words
    nothing = count_captions(pl.DataFrame(schema=CAPTIONS), listed)
    asked, said, before = Sums(nothing.cells, CELL), Sums(nothing.words, [*CELL, "word"]), 0
    for batch in batches(captions, list(CAPTIONS), rows, "captions"):
        frame = check(batch, CAPTIONS, "captions", HINT)
        check_people(frame, "captions", before)
        before += frame.height
        counts = count_captions(frame, listed)
        asked.add(counts.cells)
        said.add(counts.words)
    total = CaptionCounts(asked.total(), said.total())
    return words_of_counts(total, listed, minimum, baseline, neutral).results

"""Validation of a direction on four dichotomies known from psychology, by one-tailed permutation tests (Figure 1).

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 3.2.1 and Tables A.4 to A.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from portrayal.stats.estimate import Estimate
from portrayal.stats.models.groups import welch
from portrayal.stats.tests.permutation import two_sample
from portrayal.text.lexicons import READ_AS, read_lexicon
from portrayal.text.vectors.direction import Direction, score_words
from portrayal.text.vectors.space import WordSpace

# Lexicon, its word for the positive pole first; the published p with word2vec.
DICHOTOMIES = {"agency_communion": 2.2e-2, "science_arts": 1.8e-3, "career_family": 5.5e-4, "gendered_jobs": 0.0}


@dataclass(frozen=True, eq=False)
class Dichotomy(Estimate):
    """The mean of the positive pole's words minus that of the negative pole's, with the test that it lies higher."""

    unit: str = "difference of mean genderedness, words"
    name: str = ""
    words: pl.DataFrame = field(
        default_factory=pl.DataFrame
    )  # word, group, pole, score (null where there is no vector)


def compare_poles(
    space: WordSpace, direction: Direction, name: str, positive: str = "female", literal: bool = False
) -> Dichotomy:
    """Test one of `DICHOTOMIES`."""
    table = read_lexicon(name).select("word", "group", "pole")
    if not literal:
        table = table.with_columns(pl.col("word").replace(READ_AS))
    scores = score_words(space, direction, table["word"].to_list())
    table = table.with_columns(pl.Series("score", scores).fill_nan(None))
    found = table.drop_nulls("score")
    high = found.filter(pl.col("pole") == positive)["score"].to_numpy()
    low = found.filter(pl.col("pole") != positive)["score"].to_numpy()
    tested = two_sample(high, low, alternative="greater")
    note = f"one-sided, {tested.method} permutation test over the words; interval by Welch's t"
    missing = len(table) - len(found)
    gap = welch(high, low)
    ends, counts = (gap.value, gap.low, gap.high), (len(found), missing)
    return Dichotomy(*ends, tested.p, *counts, note=note, name=name, words=table)

"""Image-search queries for occupations, crossed with gender and race words, as in the counterfactuals paper."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from portrayal.errors import PortrayalError

# Plain, then the six words of the paper.
WORDS = ("", "male", "female", "African American", "Asian", "Caucasian", "Hispanic")


def occupation_queries(titles: Sequence[str], words: Sequence[str] = WORDS) -> pl.DataFrame:
    """Cross job titles with words.

    Returns
    -------
    polars.DataFrame
        Columns occupation, word and query, one row per query.

    Examples
    --------
    >>> occupation_queries(["nurse"])["query"].to_list()[:3]
    ['nurse', 'male nurse', 'female nurse']
    """
    kept = [title.strip() for title in titles if title.strip()]
    if not kept:
        raise PortrayalError("no job title was given. Expected at least one, such as 'nurse'.")
    rows = [(title, word, f"{word} {title}".strip()) for title in dict.fromkeys(kept) for word in words]
    return pl.DataFrame(rows, schema=["occupation", "word", "query"], orient="row")

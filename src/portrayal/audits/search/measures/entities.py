"""Direct stereotypes: documents that mention people of one group more than of another (section 4.2.5, Figure 12).

A document belongs to the group it mentions most, or to none. gap(q) is the ratio of the two poles'
documents in a list. Two gaps are compared by cross-multiplication, so a list without women is no division
by zero; 0/0 on either side is an outcome of its own.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing &
   Management 57.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from portrayal.audits.search.measures.bags import Bags

Mentions = Mapping[str, Collection[str]]  # group to the words that name its people

NEITHER, UNDEFINED = "neither", "no documents of either"


def without_shared(mentions: Mentions) -> dict[str, set[str]]:
    """Drop words that stand in the lists of more than one group, names mostly.

    Examples
    --------
    >>> without_shared({"female": ["mary", "kim"], "male": ["john", "kim"]})
    {'female': {'mary'}, 'male': {'john'}}
    """
    groups_of = Counter(word for words in mentions.values() for word in set(words))
    shared = {word for word, groups in groups_of.items() if groups > 1}
    return {group: set(words) - shared for group, words in mentions.items()}


def count_mentions(bags: Bags, mentions: Mentions) -> np.ndarray:
    """Return how often each document (row) mentions each group (column)."""
    weights = np.zeros((len(bags.words), len(mentions)), np.int64)
    for column, words in enumerate(mentions.values()):
        weights[bags.columns(words), column] = 1
    return bags.times(weights).astype(np.float64)


def document_groups(counts: np.ndarray) -> np.ndarray:
    """Return the column each document mentions most, -1 where none or several lead."""
    most = counts.max(axis=1, initial=0.0)
    leads = (counts == most[:, None]) & (most[:, None] > 0)
    return np.where(leads.sum(axis=1) == 1, leads.argmax(axis=1), -1)


def compare_gaps(
    system: tuple[int, int], reference: tuple[int, int], poles: tuple[str, str] = ("female", "male")
) -> str:
    """Return which pole's documents the system over-represents against the reference.

    Examples
    --------
    >>> compare_gaps((0, 3), (1, 3)), compare_gaps((2, 2), (3, 3)), compare_gaps((0, 0), (1, 1))
    ('male', 'neither', 'no documents of either')
    """
    if not any(system) or not any(reference):
        return UNDEFINED
    # m_s / f_s against m_r / f_r, multiplied out
    more = system[1] * reference[0] - reference[1] * system[0]
    return poles[1] if more > 0 else poles[0] if more < 0 else NEITHER


def representation(
    scores: np.ndarray, outcomes: Sequence[str], edges: Sequence[float], poles: tuple[str, str]
) -> pl.DataFrame:
    """Return, per bin of query genderedness, the share of queries with each outcome (the bars of Figure 12).

    Returns
    -------
    DataFrame
        Columns `bin`, `position`, `outcome`, `queries`, `share`; a bin without queries has share null.
    """
    places = np.searchsorted(np.asarray(edges, dtype=float), scores, side="right")
    rows = []
    for position, name in enumerate(_bin_names(edges)):
        inside = [outcome for outcome, place in zip(outcomes, places, strict=True) if place == position]
        for outcome in (*poles, NEITHER, UNDEFINED):
            count = inside.count(outcome)
            rows.append((name, position, outcome, count, count / len(inside) if inside else None))
    schema = {"bin": str, "position": int, "outcome": str, "queries": int, "share": float}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _bin_names(edges: Sequence[float]) -> list[str]:
    ends = [f"{edge:.3g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"below {ends[0]}", *between, f"{ends[-1]} and above"]

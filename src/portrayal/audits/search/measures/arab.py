"""Average rank bias of gendered terms (ARaB) [1]_, which counts words instead of using vectors.

RaB_t is the mean over the first t documents of (magnitude of the positive pole - that of the negative);
ARaB_t is the mean of RaB_1 to RaB_t. The magnitude of a document is its number of the pole's words, the
logarithm of one plus that, or whether it has any. The sign follows this package: positive leans to the
positive pole (female); the paper's tables print male minus female.

References
----------
.. [1] Rekabsaz, Schedl (2020), Do neural ranking models intensify gender bias?, SIGIR, 2065-2068.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import polars as pl

from portrayal.audits.search.measures.per_query import PerQuery
from portrayal.audits.search.measures.representation import count_mentions, names_people
from portrayal.audits.search.measures.scored_runs import Row, ScoredQueries, ScoredRuns
from portrayal.errors import check_name
from portrayal.stats.intervals.intervals import clustered_mean
from portrayal.text.lexicons import read_lexicon

MAGNITUDES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "count": lambda counts: counts,
    "log": np.log1p,
    "any": lambda counts: np.minimum(counts, 1.0),
}


def rank_bias(counts: np.ndarray, magnitude: str = "log", cutoff: int = 10) -> float:
    """Return ARaB of one list.

    Examples
    --------
    >>> rank_bias(np.array([[2, 0], [0, 1]]), "count")  # RaB_1 = 2, RaB_2 = (2 - 1) / 2
    1.25
    """
    check_name(magnitude, MAGNITUDES, "magnitude")
    sizes = MAGNITUDES[magnitude](np.asarray(counts[:cutoff], dtype=np.float64))
    if not len(sizes):
        return float("nan")
    running = np.cumsum(sizes[:, 0] - sizes[:, 1]) / np.arange(1, len(sizes) + 1)
    return float(running.mean())


def _per_query(scored: ScoredRuns, system: str) -> pl.DataFrame:
    """Return each query's rank bias, by magnitude."""
    counts = count_mentions(scored.bags, _terms(scored))
    listed = [counts[scored.bags.rows(docs)] for docs in scored.cut(system).values()]
    biases = {name: np.array([rank_bias(part, name) for part in listed], np.float64) for name in MAGNITUDES}
    return pl.DataFrame({"query": list(scored.history.queries), **biases})


def _rows(scored: ScoredQueries, system: str, table: pl.DataFrame) -> list[Row]:
    """Return ARaB: the mean of the queries' rank biases."""
    positive, negative = scored.settings.poles
    about = {"system": system, "group": positive, "versus": negative, "counted": "queries", "unit": "ARaB at 10, mean"}
    known = {name: table[name].drop_nans().to_numpy() for name in MAGNITUDES}
    return [
        clustered_mean(values).row("arab", magnitude=name, n_missing=table.height - len(values), **about)
        for name, values in known.items()
    ]


def _terms(scored: ScoredRuns) -> dict[str, Collection[str]]:
    """Return ARaB's own 64 words (gender), else the study's mentions."""
    poles = scored.settings.poles
    if not scored.settings.about_gender or scored.settings.mentions is not None:
        return {pole: scored.mentions[pole] for pole in poles}
    table = read_lexicon("arab_terms")
    return {pole: table.filter(group=pole)["word"].to_list() for pole in poles}


ARAB = PerQuery("arab", _per_query, _rows, names_people)

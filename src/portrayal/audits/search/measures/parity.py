"""How GSR relates to statistical parity: every reasonable search history of the toy collection (Figure 5).

Each query is answered with its stereotypical document (S), the counter-stereotypical one (CS), S then CS,
or CS then S. For six queries all 4^6 histories are looked at, for twenty a seeded sample.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), section 3.5.
.. [2] Gao, Shah (2020), Toward creating a fairer ranking in search engine results, Information Processing &
   Management 57.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portrayal.audits.search.measures.lists import rank_weights

EXACT_UP_TO = 6  # queries
PUBLISHED = 0.92  # Pearson's r, Figure 5


@dataclass(frozen=True)
class Parity:
    """One row per history: its GSR and its share of stereotypical documents."""

    slopes: np.ndarray
    shares: np.ndarray
    exact: bool

    @property
    def pearson(self) -> float:
        """Pearson's r between the two."""
        return float(np.corrcoef(self.slopes, self.shares)[0, 1])


def enumerate_histories(
    queries: np.ndarray,
    stereotypical: np.ndarray,
    counter: np.ndarray,
    draws: int = 100_000,
    seed: int = 0,
    discount: str = "definition",
) -> Parity:
    """Return slope and share of stereotypical documents of all histories, or of seeded draws."""
    n = len(queries)
    exact = n <= EXACT_UP_TO
    if exact:
        choices = np.stack(np.unravel_index(np.arange(4**n), (4,) * n), axis=1)
    else:
        choices = np.random.default_rng(seed).integers(0, 4, (draws, n))
    first, second = rank_weights(2, discount) / rank_weights(2, discount).sum()
    both = first * stereotypical + second * counter, first * counter + second * stereotypical
    lists = np.stack([stereotypical, counter, *both])[choices, np.arange(n)]
    centred = queries - queries.mean()
    slopes = lists @ centred / (centred @ centred)
    return Parity(slopes, _shares(choices), exact)


def _shares(choices: np.ndarray) -> np.ndarray:
    """Return stereotypical over retrieved documents: S has 1 of 1, CS 0 of 1, both orders 1 of 2."""
    ones = (choices != 1).sum(axis=1)
    return ones / (1 + (choices >= 2)).sum(axis=1)

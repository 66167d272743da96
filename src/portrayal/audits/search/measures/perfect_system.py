"""The perfect system of GSR: the relevant documents of each query (Definition 3.6 of [1]_).

A ranker's slope is compared with the perfect system's: what is left of the stereotype when every answer is right. Documents of
equal relevance share the mean weight of their ranks (`genderedness.shared_weights`), so that their order does not matter.

References
----------
.. [1] Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
"""

from __future__ import annotations

from portrayal.audits.search.measures.history import History


def perfect_lists(history: History) -> dict[str, list[str]]:
    """Return all and only the relevant documents of each judged query, best first."""
    return {query: list(history.relevant(query)) for query in history.queries}

"""The perfect system, whose GSR is the baseline (Fabris et al. 2020, Definition 3.6)."""

from __future__ import annotations

from portrayal.audits.search.measures.history import History


def perfect_lists(history: History) -> dict[str, list[str]]:
    """Return all and only the relevant documents of each judged query, best first (Definition 3.6)."""
    return {query: list(history.relevant(query)) for query in history.queries}

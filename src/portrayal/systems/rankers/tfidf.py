"""tf-idf and the cosine [1]_: weights (1 + ln tf) ln(n / df) for documents and queries, scaled to length 1.

References
----------
.. [1] Salton, Buckley (1988), Term-weighting approaches in automatic text retrieval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from portrayal.systems.rankers.lexical import Lexical
from portrayal.text.index import Index


def tfidf(index: Index) -> Lexical:
    """Return a tf-idf ranker; a word of every document weighs ln(1 + 1/n), not 0, so that it still matches."""
    documents = len(index.documents)
    words = np.log((documents + 1) / np.maximum(index.frequencies, 1))
    weights = (1 + np.log(index.counts)) * np.repeat(words, index.frequencies)
    lengths = np.sqrt(np.bincount(index.postings, weights**2, minlength=documents))
    weights /= lengths[index.postings]

    def weigh(ids: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        query = (1 + np.log(counts)) * words[ids]
        return query / max(float(np.linalg.norm(query)), np.finfo(float).tiny)

    return Lexical(index, index.weighted(weights), weigh)

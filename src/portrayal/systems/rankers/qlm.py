"""Query likelihood with Dirichlet smoothing [1]_.

References
----------
.. [1] Zhai, Lafferty (2001), A study of smoothing methods for language models applied to ad hoc retrieval, SIGIR.
"""

from __future__ import annotations

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.rankers.lexical import Lexical
from portrayal.text.index import Index


def qlm(index: Index, mu: float = 2000.0) -> Lexical:
    """Return a query-likelihood ranker.

    log p(q | d), up to what is the same for every document, is the sum over query words w of
    ln(1 + tf / (mu p(w))) + ln(mu / (|d| + mu)), p(w) being the word's share of the whole collection. Documents that
    share no word with the query are not ranked.

    Parameters
    ----------
    index
        The index to search.
    mu
        How many words of the collection each document is smoothed with.
    """
    if mu <= 0:
        raise PortrayalError(f"query likelihood has mu {mu}. Expected a number above 0.")
    shares = index.totals / max(int(index.totals.sum()), 1)
    weights = np.log1p(index.counts / (mu * np.repeat(shares, index.frequencies)))
    return Lexical(index, index.weighted(weights), shift=np.log(mu / (index.lengths + mu)))

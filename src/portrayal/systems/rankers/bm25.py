"""BM25 [1]_: Lucene's variant by default, and two older ones that differ in the weight of a word [2]_.

References
----------
.. [1] Robertson, Zaragoza (2009), The probabilistic relevance framework: BM25 and beyond.
.. [2] Kamphuis, de Vries, Boytsov, Lin (2020), Which BM25 do you mean?, ECIR.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import PortrayalError, nearest
from portrayal.systems.rankers.lexical import Lexical
from portrayal.text.index import Index

Array = NDArray[np.float64]

# The weight of a word that occurs in f of n documents. Robertson's can fall below 0 for words in over half of the
# documents, where it is held at 0.
VARIANTS: dict[str, Callable[[int, Array], Array]] = {
    "lucene": lambda n, f: np.log1p((n - f + 0.5) / (f + 0.5)),
    "robertson": lambda n, f: np.log(np.maximum((n - f + 0.5) / (f + 0.5), 1.0)),
    "atire": lambda n, f: np.log(n / f),
}


def bm25(index: Index, k1: float = 1.2, b: float = 0.75, variant: str = "lucene") -> Lexical:
    """Return a BM25 ranker.

    The score of document d is the sum over query words w of idf(w) tf / (tf + k1 (1 - b + b |d| / mean |d|)),
    with idf(w) = ln(1 + (n - df + 0.5) / (df + 0.5)). Lucene leaves out the factor k1 + 1, which changes no order;
    'atire' keeps it.

    Parameters
    ----------
    index
        The index to search.
    k1, b
        Saturation of the count, and how much the length counts.
    variant
        'lucene', 'robertson' or 'atire'.
    """
    if variant not in VARIANTS:
        raise PortrayalError(
            f"no BM25 variant {variant!r}.{nearest(variant, VARIANTS)} Known: {', '.join(VARIANTS)}."
        )
    if k1 < 0 or not 0 <= b <= 1:
        raise PortrayalError(f"BM25 has k1 {k1} and b {b}. Expected k1 of at least 0 and b from 0 to 1.")
    frequencies = index.frequencies.astype(np.float64)
    with np.errstate(divide="ignore"):  # a stop word kept in the vocabulary occurs in no document
        words = VARIANTS[variant](len(index.documents), frequencies)
    lengths = k1 * (1 - b + b * index.lengths / max(index.lengths.mean(), 1.0))
    weights = index.counts / (index.counts + lengths[index.postings])
    weights *= np.repeat(words, index.frequencies) * (k1 + 1 if variant == "atire" else 1.0)
    return Lexical(index, index.weighted(weights))

"""The embedding association test and its single-category form, as one Results row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from portrayal.audits.associations.measures.comparison import compare
from portrayal.audits.associations.measures.effect import association, cosines, vectors
from portrayal.errors import PortrayalError
from portrayal.stats.tests.permutation import two_sample
from portrayal.tables import results
from portrayal.text.formatting import number


def eat(
    x: Any,
    y: Any,
    a: Any,
    b: Any,
    *,
    alternative: str = "greater",
    permutations: int | None = None,
    ddof: int = 1,
    cluster: Any = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Test whether targets X go with attributes A, and Y with B.

    d = (mean s(x) - mean s(y)) / deviation of s over X and Y together, with s(w) = mean cosine with A minus that with B [1]_.

    Parameters
    ----------
    x, y, a, b
        Embeddings of the two target sets (one row a stimulus, at least two each) and of the two attribute sets.
    alternative
        'greater' (X goes with A), 'less' or 'two-sided'.
    permutations
        Arrangements to draw where there are more than 40 targets; up to 40 the p-value is exact.
    ddof
        1 divides by the sample deviation, 0 by the population deviation; the other is named in the note.
    cluster
        Who each target shows, where people repeat: a pair (ids of x, ids of y), one list for x and then y, or one list for both
        in the same order. p is then by sign flips of the persons' differences (by permutation of whole persons where nobody
        stands on both sides), the interval is by person, and the note gives the unpaired p.
    seed
        Seed of the bootstrap and of sampled permutations.

    Returns
    -------
    polars.DataFrame
        One Results row: `value` (d; null where all associations are equal), `low`, `high`, `p`, `n` (targets), and a `note` that
        names the method, the side, the value for the other ddof, the interval's estimand and where it may cover too little.

    References
    ----------
    .. [1] Caliskan, Bryson, Narayanan (2017), Science 356, 183-186.

    Examples
    --------
    >>> from portrayal import eat
    >>> x, y = [[1.0, 0.1], [1.0, 0.2]], [[0.1, 1.0], [0.2, 1.0]]
    >>> row = eat(x, y, [[1.0, 0.0]], [[0.0, 1.0]])
    >>> row["p"].item() == 1 / 6, row["n"].item()
    (True, 4)
    """
    x, y, a, b = vectors([("x", x, 2), ("y", y, 2), ("a", a, 1), ("b", b, 1)])
    people, associations = _people(cluster, len(x), len(y)), (association(x, a, b), association(y, a, b))
    drawn: dict[str, Any] = {"permutations": permutations, "seed": seed}
    estimate = compare(*associations, alternative=alternative, ddof=ddof, people=people, **drawn)
    if people is not None:
        free = two_sample(*associations, alternative=alternative, **drawn)
        beside = f"unpaired p = {number(free.p)} ({free.method}, as in the paper)"
        estimate = replace(estimate, note=f"{estimate.note}; {beside}")
    return results([estimate.row("eat", audit="associations", counted="targets")], facets=())


def scweat(w: Any, a: Any, b: Any, **options: Any) -> pl.DataFrame:
    """Test whether one target is nearer to attributes A than to B: the single-category test.

    Caliskan, Ajay, Charlesworth, Wolfe, Banaji (2022), Gender bias in word embeddings, AIES '22, 156-170. The attributes are
    permuted and resampled; the target is fixed. `options`: alternative, permutations, ddof and seed, as of `eat`.
    """
    w, a, b = vectors([("w", np.atleast_2d(np.asarray(w, dtype=float)), 1), ("a", a, 2), ("b", b, 2)])
    x, y = (cosines(w, side).mean(axis=0) for side in (a, b))
    row = compare(x, y, resampled="attributes within A and within B, target fixed", **options)
    return results([row.row("scweat", audit="associations", counted="attributes")], facets=())


def _people(cluster: Any, nx: int, ny: int) -> np.ndarray | None:
    """Return ids as text; refuse a blank one, which would merge or part people."""
    if cluster is None:
        return None
    parts = list(cluster)
    if len(parts) == 2 and not any(np.isscalar(part) or part is None for part in parts):
        pair = [list(part) for part in parts]
        people = [*pair[0], *pair[1]] if [*map(len, pair)] == [nx, ny] else None
    else:
        people = parts if len(parts) == nx + ny else parts * 2 if len(parts) == nx == ny else None
    if people is None:
        raise PortrayalError(
            f"cluster does not fit {nx} and {ny} targets. Give (ids of x, ids of y) or one list for x and then y."
        )
    for row, person in enumerate(people):
        if person is None or person != person or not str(person).strip():
            raise PortrayalError(f"cluster has no id in row {row} (x first, then y). Say who every target shows.")
    return np.array([str(person) for person in people])

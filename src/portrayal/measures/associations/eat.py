"""The embedding association test and its single-category form, as one Results row."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from portrayal.errors import PortrayalError
from portrayal.measures.associations.effect import association, cosines, effect_size, vectors
from portrayal.measures.associations.interval import effect_interval
from portrayal.stats.permutation import Permutation, two_sample, within_clusters
from portrayal.tables import results

# Where calibration (docs/associations.md) finds the interval short of 95% for skewed or heavy-tailed
# associations, a result says so.
FEW_STIMULI = 12
LARGE_EFFECT = 1.5


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
    """Test whether targets X are nearer to attributes A, and Y nearer to B, than the other way round.

    d = (mean s(x) - mean s(y)) / deviation of s over X and Y together, with s(w) = mean cosine with A minus
    mean cosine with B [1]_.

    Parameters
    ----------
    x, y
        Embeddings of the two target sets, one row a stimulus, at least two each.
    a, b
        Embeddings of the two attribute sets.
    alternative
        'greater' (X goes with A), 'less' or 'two-sided'.
    permutations
        Arrangements to draw where there are more than 40 targets; up to 40 the p-value is exact.
    ddof
        1 divides by the sample deviation, 0 by the population deviation; the other is named in the note.
    cluster
        Who each target shows, where people repeat: a pair (ids of x, ids of y), one list for x and then y, or
        one list that holds for both where x and y are in the same order. p is then a permutation within
        person (between persons where nobody stands on both sides), the interval is by person, and the note
        gives the unpaired p.
    seed
        Seed of the bootstrap and of sampled permutations.

    Returns
    -------
    polars.DataFrame
        One Results row: `value` (d), `low`, `high`, `p`, `n` (targets), and a `note` that names the method
        (exact or sampled), the side, the value for the other ddof, the interval's estimand and where it may
        cover too little. `value` is null where all associations are equal.

    References
    ----------
    .. [1] Caliskan, Bryson, Narayanan (2017), Science 356, 183-186.

    Examples
    --------
    >>> x, y = [[1.0, 0.1], [1.0, 0.2]], [[0.1, 1.0], [0.2, 1.0]]
    >>> row = eat(x, y, [[1.0, 0.0]], [[0.0, 1.0]])
    >>> row["p"].item() == 1 / 6, row["n"].item()
    (True, 4)
    """
    x, y, a, b = vectors([("x", x, 2), ("y", y, 2), ("a", a, 1), ("b", b, 1)])
    people = _people(cluster, len(x), len(y))
    row = compare(
        association(x, a, b),
        association(y, a, b),
        alternative=alternative,
        permutations=permutations,
        ddof=ddof,
        people=people,
        seed=seed,
    )
    return results([{"audit": "associations", "measure": "eat", "contrast": "X - Y", **row}])


def scweat(
    w: Any,
    a: Any,
    b: Any,
    *,
    alternative: str = "greater",
    permutations: int | None = None,
    ddof: int = 1,
    seed: int = 0,
) -> pl.DataFrame:
    """Test whether one target is nearer to attributes A than to B: the single-category test [1]_.

    d = (mean cosine with A - mean cosine with B) / deviation of the cosines with A and B together. What is
    divided anew by the permutations, and resampled for the interval, are the attributes; the target is fixed.

    Parameters
    ----------
    w
        One embedding, or several rows of one category: their mean cosine with each attribute is used.
    a, b
        Embeddings of the two attribute sets, at least two each.
    alternative, permutations, ddof, seed
        As in `eat`.

    Returns
    -------
    polars.DataFrame
        One Results row; `n` counts attributes.

    References
    ----------
    .. [1] Caliskan, Ajay, Charlesworth, Wolfe, Banaji (2022), Gender bias in word embeddings, AIES '22,
       156-170.
    """
    w, a, b = vectors([("w", np.atleast_2d(np.asarray(w, dtype=float)), 1), ("a", a, 2), ("b", b, 2)])
    row = compare(
        cosines(w, a).mean(axis=0),
        cosines(w, b).mean(axis=0),
        alternative=alternative,
        permutations=permutations,
        ddof=ddof,
        seed=seed,
        resampled="attributes within A and within B, target fixed",
    )
    return results([{"audit": "associations", "measure": "scweat", "contrast": "A - B", **row}])


def compare(
    x: np.ndarray,
    y: np.ndarray,
    *,
    alternative: str = "greater",
    permutations: int | None = None,
    ddof: int = 1,
    people: np.ndarray | None = None,
    seed: int = 0,
    resampled: str = "targets within X and within Y, attributes fixed",
) -> dict[str, Any]:
    """Return d, interval, p, n and note of two sides of numbers, as the columns of a Results row."""
    if ddof not in (0, 1):
        raise PortrayalError(f"ddof is {ddof!r}. Expected 1 (sample deviation) or 0 (population deviation).")
    options: dict[str, Any] = {"alternative": alternative, "permutations": permutations, "seed": seed}
    free = two_sample(x, y, **options)
    test, design = (free, "") if people is None else by_person(x, y, people, **options)
    value = effect_size(x, y, ddof)
    ends = effect_interval(x, y, clusters=people, seed=seed)
    notes = [
        _test_words(test, alternative, design),
        f"ddof={ddof} (ddof={1 - ddof}: d = {effect_size(x, y, 1 - ddof):.4f})",
        _interval_words(resampled if people is None else "people, attributes fixed"),
    ]
    if people is not None:
        notes.insert(1, f"unpaired p = {free.p:.4g} ({free.method}, as in the paper)")
    notes += _cautions(value, _sides(x, y, people))
    known = bool(np.isfinite(value))
    return {
        "value": value if known else None,
        "low": min(ends.low, value) if known else None,
        "high": max(ends.high, value) if known else None,
        "p": test.p,
        "n": len(x) + len(y),
        "n_missing": 0,
        "unit": "d",
        "note": "; ".join(notes),
    }


def unpaired_p(note: str) -> float | None:
    """Read the unpaired p back from a note of a clustered test; None where there is none."""
    _, found, rest = note.partition("unpaired p = ")
    return float(rest.split(" ", 1)[0]) if found else None


def by_person(x: np.ndarray, y: np.ndarray, people: np.ndarray, **options: Any) -> tuple[Permutation, str]:
    """Permute within person; where nobody stands on both sides, permute whole people by their means.

    Parameters
    ----------
    x, y
        Associations of both sides.
    people
        Who each one shows, x first.
    options
        Alternative, permutations and seed, as in `portrayal.stats.permutation`.

    Returns
    -------
    tuple
        The test, and its design in words.
    """
    in_x = np.arange(len(people)) < len(x)
    if set(people[in_x]) & set(people[~in_x]):
        test = within_clusters(np.concatenate([x, y]), in_x, people, **options)
        return test, "within person, "
    means = [_person_means(side, ids) for side, ids in ((x, people[in_x]), (y, people[~in_x]))]
    return two_sample(*means, **options), "between persons by their means, "


def _person_means(values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    codes = np.unique(ids, return_inverse=True)[1]
    return np.bincount(codes, values) / np.bincount(codes)


def _people(cluster: Any, nx: int, ny: int) -> np.ndarray | None:
    """Return one person id a target, x first; see `eat` for the three forms."""
    if cluster is None:
        return None
    parts = list(cluster)
    if len(parts) == 2 and not any(np.isscalar(part) for part in parts):
        ids = [list(part) for part in parts]
        if (len(ids[0]), len(ids[1])) == (nx, ny):
            return np.array([str(person) for side in ids for person in side])
    elif len(parts) == nx + ny:
        return np.array([str(person) for person in parts])
    elif len(parts) == nx == ny:
        return np.array([str(person) for person in parts * 2])
    raise PortrayalError(
        f"cluster does not fit {nx} and {ny} targets. Give (ids of x, ids of y) or one list for x and then y."
    )


def _sides(x: np.ndarray, y: np.ndarray, people: np.ndarray | None) -> int:
    """Return how many units stand on the smaller side: targets, or people."""
    if people is None:
        return min(len(x), len(y))
    return min(len(set(people[: len(x)])), len(set(people[len(x) :])))


def _test_words(test: Permutation, alternative: str, design: str) -> str:
    side = "two-sided" if alternative == "two-sided" else f"one-sided, {alternative}"
    counted = "all" if test.method == "exact" else "drawn"
    return f"{test.method} p ({design}{side}; {test.arrangements:,} arrangements, {counted})"


def _interval_words(resampled: str) -> str:
    return (
        f"95% interval: studentised bootstrap of {resampled}; "
        "estimand: d in the population these were drawn from"
    )


def _cautions(value: float, units: int) -> list[str]:
    if not np.isfinite(value):
        return ["d is undefined: all associations are equal"]
    why = []
    if units < FEW_STIMULI:
        why.append(f"fewer than {FEW_STIMULI} on a side")
    if abs(value) > LARGE_EFFECT:
        why.append(f"|d| above {LARGE_EFFECT}")
    short = f"low coverage: the interval may hold the truth in less than 95% of cases ({', '.join(why)})"
    return [short] if why else []

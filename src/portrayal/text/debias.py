"""Taking a direction out of word vectors: regular (neutralise and equalise [1]_) and strong (every word [2]_).

What is taken out is one direction, not the stereotype: neighbours still betray it [3]_, so these vectors
are named after what was done to them. A word keeps the length it had, so that means of vectors change by
the direction alone.

References
----------
.. [1] Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), Man is to computer programmer as woman is to
   homemaker?, NeurIPS.
.. [2] Prost, Thain, Bolukbasi (2019), Debiasing embeddings for reduced gender bias in text classification,
   ACL workshop.
.. [3] Gonen, Goldberg (2019), Lipstick on a pig, NAACL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from portrayal.errors import check_name
from portrayal.text.space import WordSpace

KINDS = ("none", "regular", "strong")


def debias(
    space: WordSpace,
    direction: np.ndarray,
    kind: str = "regular",
    specific: Iterable[str] = (),
    equalize: Sequence[tuple[str, str]] = (),
) -> WordSpace:
    """Return the space without the direction.

    Parameters
    ----------
    space
        Word vectors.
    direction
        The direction's unit vector in that space.
    kind
        'none'; 'regular': all words but the `specific` ones lose the direction, and the `equalize` pairs
        come to differ along it alone; 'strong': every word loses it.
    specific
        Words that are gendered by meaning and keep their component.
    equalize
        Pairs such as ("brother", "sister"); each spelling in lower, title and upper case that the vectors
        have is treated.
    """
    check_name(kind, KINDS, "debiasing")
    if kind == "none":
        return space
    lengths = np.linalg.norm(np.asarray(space.matrix, dtype=np.float64), axis=1)
    unit = np.asarray(space.matrix, dtype=np.float64) / np.where(lengths == 0, 1.0, lengths)[:, None]
    keep = _rows(space, specific) if kind == "regular" else np.array([], dtype=np.int64)
    changed = _neutralise(unit, direction, keep)
    if kind == "regular":
        _equalise(changed, direction, _pair_rows(space, equalize))
    return space.replace(changed * lengths[:, None], f"{space.name}-{kind}")


def _neutralise(unit: np.ndarray, direction: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Remove the direction and scale back to length 1, except in the rows of `keep`."""
    changed = unit - np.outer(unit @ direction, direction)
    lengths = np.linalg.norm(changed, axis=1, keepdims=True)
    changed /= np.where(lengths == 0, 1.0, lengths)
    changed[keep] = unit[keep]
    return changed


def _equalise(unit: np.ndarray, direction: np.ndarray, pairs: Iterable[tuple[int, int]]) -> None:
    """Give both words of a pair the same remainder and opposite components, in place.

    With mu the pair's mean and nu its part off the direction: w = nu +- sqrt(1 - |nu|^2) b, b the direction.
    """
    for first, second in pairs:
        mean = (unit[first] + unit[second]) / 2
        off = mean - (mean @ direction) * direction
        reach = np.sqrt(max(0.0, 1.0 - off @ off))
        sign = 1.0 if (unit[first] - unit[second]) @ direction >= 0 else -1.0
        unit[first], unit[second] = off + sign * reach * direction, off - sign * reach * direction


def _rows(space: WordSpace, words: Iterable[str]) -> np.ndarray:
    found = {row for row in map(space.row, words) if row is not None}
    return np.array(sorted(found), dtype=np.int64)


def _pair_rows(space: WordSpace, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Return the rows of each pair in lower, title and upper case, once each."""
    found: dict[tuple[int, int], None] = {}
    for first, second in pairs:
        for case in (str.lower, str.title, str.upper):
            rows = space.index.get(case(first)), space.index.get(case(second))
            if rows[0] is not None and rows[1] is not None and rows[0] != rows[1]:
                found[(rows[0], rows[1])] = None
    return list(found)

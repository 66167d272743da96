"""Debiasing of word vectors: regular (neutralise and equalise) or strong (every word).

Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), Man is to computer programmer as woman is to homemaker?, NeurIPS; Prost, Thain,
Bolukbasi (2019), Debiasing embeddings for reduced gender bias in text classification, ACL workshop. Neighbours still betray the
stereotype (Gonen, Goldberg, 2019, NAACL). A word keeps its length, so that means of vectors change by the direction alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portrayal.errors import check_name
from portrayal.text.vectors.space import Rows, WordSpace, unit_rows

KINDS = ("none", "regular", "strong")


def debias(
    space: WordSpace,
    direction: np.ndarray,
    kind: str = "regular",
    specific: Iterable[str] = (),
    equalize: Sequence[tuple[str, str]] = (),
) -> WordSpace:
    """Return the space without the direction."""
    check_name(kind, KINDS, "debiasing")
    if kind == "none":
        return space
    if kind == "strong":
        return space.replace(Without(space.matrix, direction), f"{space.name}-{kind}")
    own, pairs = {row for row in map(space.row, specific) if row is not None}, _pair_rows(space, equalize)
    rows = np.unique(np.array([*own, *(row for pair in pairs for row in pair)], dtype=np.int64))
    vectors = np.where(np.isin(rows, [*own])[:, None], space.matrix[rows], Without(space.matrix, direction)[rows])
    place = {int(row): number for number, row in enumerate(rows)}
    _equalise(vectors, direction, [(place[first], place[second]) for first, second in pairs])
    return space.replace(Without(space.matrix, direction, rows, vectors), f"{space.name}-{kind}")


@dataclass(frozen=True, eq=False)
class Without:
    """Lazily made vectors without a direction, each as long as it was."""

    vectors: Rows
    direction: np.ndarray
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # ascending
    others: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # what stands in these rows

    @property
    def shape(self) -> tuple[int, ...]:
        """As many rows and numbers as the vectors have."""
        return self.vectors.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """As precise as the vectors."""
        return np.result_type(self.vectors.dtype, np.float32)

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, rows: Any) -> np.ndarray:
        asked = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows) % len(self)
        vectors = np.asarray(self.vectors[asked], np.float64)
        rest = vectors - (vectors @ self.direction)[..., None] * self.direction
        lengths = np.linalg.norm(rest, axis=-1, keepdims=True)
        rest *= np.linalg.norm(vectors, axis=-1, keepdims=True) / np.where(lengths == 0, 1.0, lengths)
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, asked), len(self.rows) - 1)
            rest = np.where((self.rows[place] == asked)[..., None], self.others[place], rest)
        return rest.astype(self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype)


def _equalise(vectors: np.ndarray, direction: np.ndarray, pairs: Iterable[tuple[int, int]]) -> None:
    """Give both words of a pair the same remainder and opposite components, in place.

    With mu the mean of the two at length 1 and nu its part off the direction: w = nu +- sqrt(1 - |nu|^2) b, b the direction.
    """
    lengths = np.linalg.norm(vectors, axis=1)
    for first, second in pairs:
        one, other = unit_rows(vectors[[first, second]])
        mean = (one + other) / 2
        off = mean - (mean @ direction) * direction
        reach = np.sqrt(max(0.0, 1.0 - off @ off)) * (1.0 if (one - other) @ direction >= 0 else -1.0)
        vectors[first] = (off + reach * direction) * lengths[first]
        vectors[second] = (off - reach * direction) * lengths[second]


def _pair_rows(space: WordSpace, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Return the rows of each pair in lower, title and upper case, once each."""
    rows: dict[tuple[int, int], None] = {}
    for first, second in pairs:
        for case in (str.lower, str.title, str.upper):
            one, other = space.index.get(case(first)), space.index.get(case(second))
            if one is not None and other is not None and one != other:
                rows[one, other] = None
    return list(rows)

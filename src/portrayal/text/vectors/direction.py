"""The direction between two poles of word vectors, scores along it, and vectors without it.

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
Each pair is centred on its own mean and the first component of the resulting vectors is the direction (Bolukbasi et al., 2016,
NeurIPS). Centring the ten differences themselves, a literal reading of section 2.2, removes what the pairs share.

Debiasing is regular (neutralise and equalise; Bolukbasi et al.) or strong (every word; Prost, Thain, Bolukbasi, 2019, ACL workshop).
Neighbours still betray the stereotype (Gonen, Goldberg, 2019, NAACL). A word keeps its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError, check_name
from portrayal.text.vectors.space import Rows, WordSpace, unit_rows

Pairs = Sequence[tuple[str, str]]
KINDS = ("none", "regular", "strong")  # of debiasing
BLOCK = 2000  # words scored at a time: their vectors stay in the processor's cache


@dataclass(frozen=True)
class Direction:
    """A unit vector from the negative to the positive pole, and how it was found."""

    vector: np.ndarray
    method: str
    explained: float  # share of the variance of the centred pairs that lies along it
    used: Pairs
    missing: Pairs  # pairs with a word that the vectors lack


def find_direction(space: WordSpace, pairs: Pairs, method: str = "component") -> Direction:
    """Find the direction that the pairs define."""
    check_name(method, METHODS, "direction method")
    pairs = [(str(positive), str(negative)) for positive, negative in pairs]
    used = [pair for pair in pairs if all(space.row(word) is not None for word in pair)]
    missing = [pair for pair in pairs if pair not in used]
    if not used or (method == "first" and pairs[0] != used[0]):
        lost = ", ".join("-".join(pair) for pair in missing[:5]) or "none given"
        raise PortrayalError(
            f"the vectors {space.name!r} lack the words that define the poles ({lost}). Give pairs of words these vectors have."
        )
    positive, negative = (space.unit([pair[side] for pair in used]) for side in (0, 1))
    apart, vector = positive - negative, METHODS[method](positive, negative)
    length = np.linalg.norm(vector)
    if length == 0 or not apart.any():
        raise PortrayalError("the two poles are the same words, so there is no direction. Give two distinct poles.")
    vector = vector / length * (1.0 if (apart @ vector).sum() >= 0 else -1.0)  # the positive pole is positive
    return Direction(vector, method, float(np.sum((apart @ vector) ** 2) / np.sum(apart**2)), used, missing)


def score_words(space: WordSpace, direction: Direction, words: Sequence[str]) -> np.ndarray:
    """Return g(w) of Equation 1, the cosine with the direction; NaN for unknown words."""
    rows = space.rows(words)
    scores = np.full(len(rows), np.nan)
    known = np.flatnonzero(rows >= 0)
    for block in np.array_split(known, max(1, len(known) // BLOCK)):
        # Summed word by word: a matrix product's last digit would depend on the words beside it.
        scores[block] = (space.unit_rows(rows[block]) * direction.vector).sum(axis=1)
    return scores


def _component(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Return the first right singular vector of the centred pairs."""
    centre = (positive + negative) / 2
    return np.linalg.svd(np.vstack([positive - centre, negative - centre]), full_matrices=False)[2][0]


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "component": _component,
    "mean": lambda positive, negative: (positive - negative).mean(axis=0),
    "first": lambda positive, negative: positive[0] - negative[0],
}


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
        wanted = np.arange(len(self))[rows] if isinstance(rows, slice) else np.asarray(rows) % len(self)
        vectors = np.asarray(self.vectors[wanted], np.float64)
        rest = vectors - (vectors @ self.direction)[..., None] * self.direction
        lengths = np.linalg.norm(rest, axis=-1, keepdims=True)
        rest *= np.linalg.norm(vectors, axis=-1, keepdims=True) / np.where(lengths == 0, 1.0, lengths)
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
            rest = np.where((self.rows[place] == wanted)[..., None], self.others[place], rest)
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

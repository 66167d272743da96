"""The direction between two poles of word vectors, and scores along it.

Fabris, Purpura, Silvello, Susto (2020), Gender stereotype reinforcement, Information Processing & Management 57.
Each pair is centred on its own mean and the first component of the resulting vectors is the direction (Bolukbasi et al., 2016,
NeurIPS). Centring the ten differences themselves, a literal reading of section 2.2, removes what the pairs share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.errors import PortrayalError, check_name
from portrayal.text.vectors.space import WordSpace

Pairs = Sequence[tuple[str, str]]
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

"""Vectors of words in their surroundings, as spaCy's encoder gives them, worked out once for each run of words.

The encoder sees a word's neighbours, then their neighbours, four times: a vector depends on at most four words to each
side. Captions repeat themselves ('a man in a', 'standing next to a'), so that each layer is worked out for the distinct
runs of words only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

KEPT = 50_000  # words whose vectors are kept
ROWS = 1024  # worked out at a time: what a processor keeps at hand


class Maxout:
    """A layer of an encoder: the largest of several sums, normed to mean 0 and variance 1, then scaled."""

    def __init__(self, maxout: Any, norm: Any) -> None:
        weights, bias = maxout.get_param("W"), maxout.get_param("b")  # outputs, pieces, inputs
        self._width, self._pieces = bias.shape
        # All outputs of one piece beside each other, so that the largest is found row by row.
        self._weights = np.ascontiguousarray(weights.transpose(2, 1, 0).reshape(weights.shape[2], -1))
        self._bias = bias.T.reshape(-1)
        self._scale, self._shift = norm.get_param("G"), norm.get_param("b")

    def __call__(self, rows: Floats) -> Floats:
        """Return the layer's output for rows of input."""
        sums = rows @ self._weights
        sums += self._bias
        width = self._width
        found = sums[:, :width].copy()
        for piece in range(1, self._pieces):
            np.maximum(found, sums[:, piece * width : (piece + 1) * width], out=found)
        found -= found.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", found, found) / width + np.float32(1e-8)
        found *= (variance**-0.5)[:, None]
        found *= self._scale
        found += self._shift
        return found


class PhraseVectors:
    """The vectors of a pipeline's encoder."""

    def __init__(self, model: Any, vocab: Any) -> None:
        self._embed, encode = model.layers
        self._vocab = vocab
        self._layers = [Maxout(*_maxout_of(block)) for block in encode.layers[0].layers]
        self._pad = int(encode.attrs["pad"])
        self._forget()

    def _forget(self) -> None:
        width = self._embed.get_dim("nO")
        self._numbers: dict[str, int] = {}
        self._words: Floats = np.zeros((1, width), np.float32)  # 0: no word

    def __call__(self, texts: Sequence[Sequence[str]]) -> tuple[Floats, Numbers]:
        """Return distinct vectors, and for each word of the texts, one after the other, which of them it has."""
        numbers, places = self._laid_out(texts)
        vectors = self._words
        for layer in self._layers[:-1]:
            vectors, numbers = _wider(layer, vectors, numbers)
        around = [np.roll(numbers, 1)[places], numbers[places], np.roll(numbers, -1)[places]]
        return _distinct(self._layers[-1], vectors, around)

    def _laid_out(self, texts: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers]:
        """Return the numbers of all words in one row, with nothing between texts for as far as layers see; and their places."""
        self._learn({word for text in texts for word in text})
        known = self._numbers
        gap = [0] * self._pad
        row = list(gap)
        for text in texts:
            row += [known[word] for word in text]
            row += gap
        numbers = np.array(row, np.int64)
        return numbers, np.flatnonzero(numbers)

    def _learn(self, words: set[str]) -> None:
        """Have spaCy work out the vectors of words that are new; in order, so that nothing hangs on the order of a set."""
        if len(self._numbers) + len(words) > KEPT:
            self._forget()
        new = sorted(words.difference(self._numbers))
        if not new:
            return
        from spacy.tokens import Doc

        (vectors,) = self._embed.predict([Doc(self._vocab, words=new)])
        self._numbers.update(zip(new, range(len(self._words), len(self._words) + len(new)), strict=True))
        self._words = np.concatenate([self._words, vectors])


def _wider(layer: Maxout, vectors: Floats, numbers: Numbers) -> tuple[Floats, Numbers]:
    """Do a layer for a row of words, each with its neighbours."""
    return _distinct(layer, vectors, [np.roll(numbers, 1), numbers, np.roll(numbers, -1)])


def _distinct(layer: Maxout, vectors: Floats, around: list[Numbers]) -> tuple[Floats, Numbers]:
    """Return the layer's vectors of distinct neighbourhoods, and which of them each place has."""
    count = len(vectors)
    before, here, after = around
    _, first, which = np.unique((before * count + here) * count + after, return_index=True, return_inverse=True)
    seen = np.stack([part[first] for part in around], axis=1)
    found = np.empty((len(first), vectors.shape[1]), np.float32)
    for start in range(0, len(first), ROWS):
        part = seen[start : start + ROWS]
        rows = layer(vectors.take(part.reshape(-1), axis=0).reshape(len(part), -1))
        rows += vectors.take(part[:, 1], axis=0)
        found[start : start + ROWS] = rows
    return found, which


def _maxout_of(block: Any) -> tuple[Any, Any]:
    """Return the maxout and the norm inside a residual block of the encoder."""
    named = {layer.name: layer for layer in block.walk()}
    return named["maxout"], named["layernorm"]

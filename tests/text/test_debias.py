"""Taking a direction out of vectors, by hand and by what must hold after."""

from __future__ import annotations

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.text.vectors.direction import debias
from portrayal.text.vectors.space import WordSpace

WORDS = ["she", "he", "nurse", "brother", "sister", "table"]


@pytest.fixture
def space():
    return WordSpace.build("random", WORDS, np.random.default_rng(0).normal(size=(6, 5)))


def test_strong_takes_the_direction_from_every_word(space):
    direction = np.eye(5)[0]
    changed = debias(space, direction, "strong")
    assert np.allclose(changed.matrix @ direction, 0, atol=1e-12)
    # a word keeps its length, so a mean of vectors changes by the direction alone
    assert np.allclose(np.linalg.norm(changed.matrix, axis=1), np.linalg.norm(space.matrix, axis=1))
    assert changed.name == "random-strong"


def test_regular_keeps_gendered_words_and_equalises_pairs(space):
    direction = np.eye(5)[0]
    changed = debias(space, direction, "regular", specific=["she", "he"], equalize=[("Brother", "Sister")])
    unit = changed.matrix / np.linalg.norm(changed.matrix, axis=1, keepdims=True)
    kept = space.matrix / np.linalg.norm(space.matrix, axis=1, keepdims=True)
    assert np.allclose(unit[:2], kept[:2])
    assert np.allclose(unit[[2, 5]] @ direction, 0, atol=1e-12)
    # brother and sister differ along the direction alone, and are equally far from every neutral word
    gap = unit[3] - unit[4]
    assert np.allclose(gap, (gap @ direction) * direction, atol=1e-12)
    assert unit[3] @ unit[2] == pytest.approx(unit[4] @ unit[2])
    assert unit[3] @ direction == pytest.approx(-(unit[4] @ direction))


def test_equalising_by_hand():
    # Off the direction both are (0, 0.6): w = (+-sqrt(1 - 0.36), 0.6) = (+-0.8, 0.6)
    space = WordSpace.build("tiny", ["a", "b"], [[0.8, 0.6], [-0.8, 0.6]])
    changed = debias(space, np.array([1.0, 0.0]), "regular", specific=["a", "b"], equalize=[("a", "b")])
    assert np.allclose(changed.matrix, [[0.8, 0.6], [-0.8, 0.6]])


def test_none_changes_nothing_and_unknown_kinds_are_refused(space):
    assert debias(space, np.eye(5)[0], "none") is space
    with pytest.raises(PortrayalError, match="no debiasing 'weak'"):
        debias(space, np.eye(5)[0], "weak")

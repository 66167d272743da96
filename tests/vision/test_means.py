"""Photographs moved by differences of mean faces, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.vision.photographs.editor import CUES, SIDE
from portrayal.vision.photographs.means import Difference, Means, open_means

NOWHERE, NOTHING = np.zeros((2, SIDE, SIDE)), np.zeros((SIDE, SIDE, 3))
FACE = np.random.default_rng(0).integers(60, 200, (SIDE, SIDE, 3)).astype(np.uint8)


def means(difference: Difference, strength: float = 1.0) -> Means:
    """Everybody's difference is the same."""
    return Means(dict.fromkeys(CUES, difference), "x", strength)


def test_half_a_difference_is_added_at_one_and_nothing_at_zero() -> None:
    made = means(Difference(NOWHERE, NOTHING + 20)).series(FACE, "gender", [-2.0, 0.0, 1.0])
    assert (made.astype(int) - FACE == np.array([-20, 0, 10])[:, None, None, None]).all()


def test_a_flow_moves_every_pixel() -> None:
    flow = NOWHERE.copy()
    flow[1] = 3  # columns: what lies at x is 3 to the right in the second mean face
    made = means(Difference(flow, NOTHING)).series(FACE, "gender", [2.0])[0]
    assert (made[:, 3:] == FACE[:, :-3]).all()


def test_poles_the_other_way_round_go_the_other_way() -> None:
    twice = means(Difference(NOWHERE, NOTHING + 20), 2.0)
    there = twice.series(FACE, "race", [1.0], ("White", "Black")).astype(int) - FACE
    back = twice.series(FACE, "race", [1.0], ("Black", "White")).astype(int) - FACE
    assert (there == 20).all() and (back == -20).all()


def test_what_has_no_difference_is_refused(tmp_path: Path) -> None:
    for attribute, poles in (("age", ()), ("race", ("White", "Indian"))):
        with pytest.raises(PortrayalError, match="Known: gender"):
            means(Difference(NOWHERE, NOTHING)).series(FACE, attribute, [1.0], poles)
    with pytest.raises(PortrayalError, match=r"gone\.npz"):
        open_means(tmp_path / "gone.npz")


def test_a_file_is_read_in_the_order_of_the_cues(tmp_path: Path) -> None:
    colours = np.stack([NOTHING + 10 * place for place in range(len(CUES))])
    np.savez(tmp_path / "means.npz", flow=np.stack([NOWHERE] * len(CUES)), colour=colours)
    found = open_means(tmp_path / "means.npz")
    made = found.series(FACE, "race", [2.0 / found.strength], ("Black", "East Asian")).astype(int) - FACE
    assert (made == 30).all()

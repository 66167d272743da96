"""Photographs moved by differences of mean faces, by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal_faces.photographs.editor import CUES, SIDE
from portrayal_faces.photographs.means import Difference, Means, levels, log_odds, open_means, warp

NOWHERE, NOTHING = np.zeros((2, SIDE, SIDE)), np.zeros((SIDE, SIDE, 3))
FACE = np.random.default_rng(0).integers(60, 200, (SIDE, SIDE, 3)).astype(np.uint8)
MARKS = np.array([[98.0, 120.0], [160.0, 120.0], [129.0, 154.0], [101.0, 185.0], [156.0, 185.0]])


def means(difference: Difference, strength: float = 1.0) -> Means:
    """Everybody's difference is the same."""
    return Means(dict.fromkeys(CUES, difference), MARKS, dict.fromkeys(CUES, strength), "x")


def test_half_a_difference_is_added_at_one_and_nothing_at_zero() -> None:
    made = means(Difference(NOWHERE, NOTHING + 0.4)).series(FACE, "gender", [-2.0, 0.0, 1.0])
    moved = log_odds(made) - log_odds(FACE)
    # Levels are whole numbers: of log odds that is .02 at most here.
    assert np.abs(moved - np.array([-0.4, 0.0, 0.2])[:, None, None, None]).max() < 0.02
    assert (made[1] == FACE).all()


def test_dark_skin_stays_above_black_and_light_skin_below_white() -> None:
    """Added in levels, half of a dark photograph was black and half of a light one white."""
    dark, light = (np.full((SIDE, SIDE, 3), level, np.uint8) for level in (25, 230))
    for face, sign in ((dark, -1), (light, 1)):
        made = means(Difference(NOWHERE, NOTHING + 1.0), 1.75).series(face, "gender", [2.0 * sign])
        assert made.min() > 3 and made.max() < 252 and abs(int(made[0, 0, 0, 0]) - int(face[0, 0, 0])) > 10


def test_black_and_white_pixels_are_what_they_were_where_nothing_changes() -> None:
    face = FACE.copy()
    face[0], face[1] = 0, 255
    assert (means(Difference(NOWHERE, NOTHING)).series(face, "gender", [2.0])[0] == face).all()


def test_a_flow_moves_every_pixel() -> None:
    flow = NOWHERE.copy()
    flow[1] = 3  # columns: what lies at x is 3 to the right in the second mean face
    made = means(Difference(flow, NOTHING)).series(FACE, "gender", [2.0])[0]
    assert (made[:, 3:] == FACE[:, :-3]).all()


def test_poles_the_other_way_round_go_the_other_way() -> None:
    twice = means(Difference(NOWHERE, NOTHING + 0.4), 2.0)
    there = twice.series(FACE, "race", [1.0], ("White", "Black")).astype(int) - FACE
    back = twice.series(FACE, "race", [1.0], ("Black", "White")).astype(int) - FACE
    again = twice.series(FACE, "race", [-1.0], ("White", "Black")).astype(int) - FACE
    assert (there > 0).all() and (back < 0).all() and (back == again).all()


def test_a_difference_is_laid_onto_the_face_s_own_mouth() -> None:
    """A spot at the mean face's left corner of the mouth must lie at the person's."""
    colour = NOTHING.copy()
    x, y = MARKS[3].astype(int)
    colour[y - 1 : y + 2, x - 1 : x + 2] = 2.0
    own = MARKS.copy()
    own[3:] += [[9.0, 6.0], [-9.0, 6.0]]  # a narrower mouth, and lower
    flat = np.full((SIDE, SIDE, 3), 100, np.uint8)
    spot = means(Difference(NOWHERE, colour)).series(flat, "gender", [2.0], (), own)[0, :, :, 0].astype(float) - 100
    rows, columns = np.indices(spot.shape)
    centre = (spot * columns).sum() / spot.sum(), (spot * rows).sum() / spot.sum()
    assert np.abs(np.array(centre) - own[3]).max() < 1.5
    unmoved = means(Difference(NOWHERE, colour)).series(flat, "gender", [2.0], (), MARKS)[0]
    assert unmoved[y, x, 0] > 150


def test_a_warp_brings_landmarks_onto_landmarks_and_leaves_the_edge() -> None:
    off = MARKS + np.array([[2.0, -1.0], [-3.0, 0.0], [5.0, 4.0], [-4.0, 2.0], [1.0, -2.0]])
    places = warp(MARKS, off)
    for (x, y), (there, down) in zip(MARKS.astype(int), off, strict=True):
        assert abs(places[0, y, x] - down) < 0.8 and abs(places[1, y, x] - there) < 0.8
    edge = places - np.indices((SIDE, SIDE))
    assert np.abs(edge[:, (0, 0, -1, -1), (0, -1, 0, -1)]).max() < 0.05


def test_log_odds_and_back() -> None:
    shown = np.arange(6, 250)
    assert np.abs(levels(log_odds(shown)) - shown).max() < 1e-9


def test_what_has_no_difference_is_refused(tmp_path: Path) -> None:
    for attribute, poles in (("age", ()), ("race", ("White", "Indian"))):
        with pytest.raises(PortrayalError, match="Known: gender"):
            means(Difference(NOWHERE, NOTHING)).series(FACE, attribute, [1.0], poles)
    with pytest.raises(PortrayalError, match=r"gone\.npz"):
        open_means(tmp_path / "gone.npz")
    four = {"flow": np.stack([NOWHERE] * len(CUES)), "colour": np.stack([NOTHING] * len(CUES))}
    np.savez(tmp_path / "old.npz", **four)
    np.savez(tmp_path / "one.npz", flow=NOWHERE, colour=NOTHING, landmarks=MARKS, strengths=np.ones(len(CUES)))
    np.save(tmp_path / "array.npy", NOWHERE)
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    (tmp_path / "text.npz").write_text("x")
    for name, message in {
        "old": "expected 'landmarks' of (5, 2), but got nothing. Make one with python -m training",
        "one": "expected 'flow' of (4, 2, 256, 256), but got (2, 256, 256). Make one",
        "array": "is no file of arrays (.npz)",
        "text": "is no file of arrays (.npz)",
    }.items():
        with pytest.raises(PortrayalError, match=re.escape(message)) as refused:
            open_means(tmp_path / f"{name}.npz")
        assert "\n" not in str(refused.value)


def test_a_file_is_read_in_the_order_of_the_cues(tmp_path: Path) -> None:
    colours = np.stack([NOTHING + place / 10 for place in range(len(CUES))])
    kept = {"flow": np.stack([NOWHERE] * len(CUES)), "landmarks": MARKS}
    np.savez(tmp_path / "means.npz", **kept, colour=colours, strengths=np.arange(1.0, 1 + len(CUES)))
    found = open_means(tmp_path / "means.npz")
    assert list(found.strengths.values()) == [1, 2, 3, 4] and found.strengths["race", ("White", "Black")] == 2
    made = found.series(FACE, "race", [0.5], ("Black", "East Asian"))
    assert np.abs(log_odds(made) - log_odds(FACE) - 0.3).max() < 0.02  # .5 of half of .3, four times
    np.savez(tmp_path / "other.npz", **kept, colour=colours, strengths=np.ones(len(CUES)))
    assert open_means(tmp_path / "other.npz").identity != found.identity

"""Alignment, mask and paste: by hand, and bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal.pictures.faces import SIZE, TEMPLATE, Similarity, crop, fit_similarity, head_turn
from portrayal.pictures.series.manifest import stimulus_name
from portrayal.pictures.series.values import axis_title, even_values, steps
from portrayal_faces.series.mask import radius, skin_share
from portrayal_faces.series.paste import changed_region, paste


def turned(degrees: float, scale: float = 2.0, shift: tuple[float, float] = (40.0, 30.0)) -> np.ndarray:
    """The template's landmarks as they lie in a picture."""
    angle = np.deg2rad(degrees)
    matrix = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return TEMPLATE @ matrix.T + np.array(shift)


def oval() -> np.ndarray:
    """A feathered oval: 1 in the middle, exactly 0 outside."""
    inside = np.clip((1 - radius(SIZE)) / 0.22, 0.0, 1.0)
    return inside * inside * (3 - 2 * inside)


def test_the_similarity_brings_landmarks_back():
    landmarks = turned(25)
    found = fit_similarity(landmarks)
    np.testing.assert_allclose(found(landmarks), TEMPLATE, atol=1e-9)
    np.testing.assert_allclose(found.inverse()(TEMPLATE), landmarks, atol=1e-9)
    assert found.scale == pytest.approx(0.5)


def test_a_similarity_by_hand():
    # (0, 0) -> (1, 1) and (1, 0) -> (1, 3): a quarter turn, twice as large, moved by (1, 1).
    found = fit_similarity(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 3.0]]))
    np.testing.assert_allclose(found.matrix, [[0, -2], [2, 0]], atol=1e-12)
    np.testing.assert_allclose(found.shift, [1, 1], atol=1e-12)


def test_a_crop_by_the_identity_is_the_picture():
    pixels = np.random.default_rng(0).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    same = Similarity(np.eye(2), np.zeros(2))
    np.testing.assert_array_equal(crop(Image.fromarray(pixels), same), pixels)


def test_a_crop_over_the_edge_repeats_it():
    picture = Image.new("RGB", (20, 20), (10, 200, 30))
    wide = crop(picture, Similarity(np.eye(2), np.array([50.0, 50.0])))
    assert np.unique(wide.reshape(-1, 3), axis=0).tolist() == [[10, 200, 30]]


def test_a_nose_beside_the_middle_is_turned_away():
    assert head_turn(turned(10)) == pytest.approx(0, abs=1e-9)
    profile = TEMPLATE.copy()
    profile[2, 0] += 25
    assert head_turn(profile) > 0.4


def test_a_covered_face_has_little_skin():
    face = np.full((SIZE, SIZE, 3), (200, 150, 120), dtype=np.uint8)
    assert skin_share(face) == 1.0
    face[84:] = (40, 60, 200)  # a blue mask below the nose
    face[:60] = (30, 30, 30)  # and dark glasses
    assert skin_share(face) < 0.6


def test_outside_the_mask_nothing_changes_by_one_bit():
    rng = np.random.default_rng(1)
    picture = Image.fromarray(rng.integers(0, 255, (300, 260, 3), dtype=np.uint8))
    similarity, mask = fit_similarity(turned(12, 1.3)), oval()
    edit = rng.normal(0, 60, (SIZE, SIZE, 3))
    changed = np.asarray(paste(picture, edit, mask, similarity)) != np.asarray(picture)
    region = changed_region(picture.size, mask, similarity)
    assert changed.any(axis=2)[region].mean() > 0.9
    assert not changed[~region].any()


def test_an_edit_of_nothing_is_the_picture():
    picture = Image.fromarray(np.random.default_rng(2).integers(0, 255, (200, 200, 3), dtype=np.uint8))
    same = paste(picture, np.zeros((SIZE, SIZE, 3)), oval(), fit_similarity(turned(5, 1.0)))
    np.testing.assert_array_equal(np.asarray(same), np.asarray(picture))


def test_a_face_outside_the_picture_changes_nothing():
    picture = Image.new("RGB", (50, 50), "red")
    far = Similarity(np.eye(2), np.array([-900.0, -900.0]))
    assert paste(picture, np.full((SIZE, SIZE, 3), 50.0), oval(), far).tobytes() == picture.tobytes()


def test_axes_and_pictures_have_names():
    assert axis_title("gender") == "gender" and steps("race").tolist() == [-2.0, -1.0, 0.0, 1.0, 2.0]
    assert axis_title("placebo", "White", "Black") == "placebo beside race from White to Black"
    assert even_values([2, 0, -2, 0], "gender").tolist() == [-2.0, 0.0, 2.0]
    assert stimulus_name("p01/gender/-2.00.webp", ["gender"], False) == "p01/gender/-2.00"
    assert stimulus_name("p01/0.png", ["race", "White", "Black"], True) == "p01/0 race White Black"


def test_steps_have_a_centre():
    assert steps("gender").tolist()[3] == 0.0 and len(steps("gender")) == 7
    assert steps("gender")[[0, -1]].tolist() == [-2.0, 2.0]
    with pytest.raises(PortrayalError, match="no centre"):
        steps("gender", 4)


@pytest.mark.parametrize("attribute", ["age", "young", ""])
def test_nothing_but_gender_and_race_can_be_varied(attribute: str):
    with pytest.raises(PortrayalError, match="never varied"):
        steps(attribute)

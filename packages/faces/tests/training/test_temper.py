"""What keeps an edit decent, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from training.skin import oval
from training.temper import COLOUR, LEAST, light, slowest, tempered

from portrayal_faces.series.mask import TO_LUMA_CHROMA

GREY = np.full((128, 128, 3), 128, dtype=np.uint8)


def test_lightness_passes_and_colours_never_run():
    lighter = np.full((1, 128, 128, 3), 60.0)
    np.testing.assert_allclose(tempered(lighter, GREY), 60.0, atol=1e-9)  # grey: luma 60, no colour at all
    red = np.zeros((1, 128, 128, 3))
    red[..., 0] = 200.0
    assert np.abs(tempered(red, GREY) @ TO_LUMA_CHROMA[:, 1:]).max() < COLOUR + 0.1


def test_a_dark_picture_is_changed_by_less():
    assert light(GREY) == 1.0  # 128 is over 110
    assert light(np.full_like(GREY, 55)) == pytest.approx(0.5, abs=0.01)
    assert light(np.zeros_like(GREY)) == LEAST


def test_race_is_an_even_tint_without_features():
    rng = np.random.default_rng(0)
    mouth = np.zeros((1, 128, 128, 3))
    mouth[:, 85:98, 48:80] = 120.0
    painted = tempered(mouth + rng.normal(0, 5, mouth.shape), GREY, even=True)
    inside = painted[0, 40:110, 40:88, 1]
    assert np.ptp(inside) < 6.0  # 120 levels of a painted mouth become a slow gradient
    flat = np.full((1, 128, 128, 3), -30.0)
    np.testing.assert_allclose(tempered(flat, GREY, even=True), -30.0, atol=1e-9)


def test_the_projection_keeps_what_it_has_kept():
    keep = slowest()
    np.testing.assert_allclose(keep @ keep, keep, atol=1e-12)
    assert np.trace(keep) == pytest.approx(2.0)


@pytest.mark.parametrize("even", [False, True])
def test_training_and_use_temper_alike(even: bool):
    torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")
    from training import objective

    rng = np.random.default_rng(0)
    faces = rng.integers(0, 180, (2, 128, 128, 3)).astype(np.uint8)
    edits = rng.normal(0, 30, (2, 128, 128, 3))
    here = np.stack([tempered(edit, face, even) for edit, face in zip(edits, faces, strict=True)])
    there = objective.tempered(
        torch.tensor(edits / 127.5).permute(0, 3, 1, 2).float(),
        torch.tensor(faces).permute(0, 3, 1, 2).float() / 127.5 - 1,
        torch.from_numpy(oval()).float()[None, None],
        torch.tensor([even, even]),
    )
    np.testing.assert_allclose(there.permute(0, 2, 3, 1).numpy() * 127.5, here, atol=1e-3)


def test_the_dither_follows_from_the_picture():
    from training.manipulator import dithered

    soft = np.random.default_rng(0).uniform(-1, 1, (8, 8, 8))
    first = dithered(soft, GREY)
    np.testing.assert_array_equal(first, dithered(soft, GREY))
    assert set(np.unique(first)) <= {-1.0, 0.0, 1.0}
    assert (first != dithered(soft, GREY + 1)).any()  # another picture, another noise

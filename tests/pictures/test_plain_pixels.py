"""Cutting out and placing give, byte for byte, what the formulas give channel by channel on whole pictures."""

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from portrayal.pictures.compose import BAND, FRINGE, cut_out, fit_backdrop, flood, place

TOLERANCE = 24


def photograph(seed: int, high: int, wide: int, uneven: float, noise: float) -> Image.Image:
    """A person of any colours before a backdrop that darkens, with the noise of a camera."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:high, 0:wide]
    picture = np.repeat((244 - uneven * x / wide - uneven * y / high)[..., None], 3, axis=2)
    person = ((x - wide / 2) / (wide * 0.3)) ** 2 + ((y - high * 0.7) / (high * 0.5)) ** 2 < 1
    picture[person] = rng.integers(0, 256, 3) + rng.normal(0, 30, (person.sum(), 3))
    return Image.fromarray(np.clip(picture + rng.normal(0, noise, picture.shape), 0, 255).astype(np.uint8))


def plain_cut(image: Image.Image) -> tuple[np.ndarray, np.ndarray]:
    """The formulas, each over the whole picture."""
    colour = np.asarray(image).astype(int)
    backdrop = np.broadcast_to(np.asarray(fit_backdrop(image, TOLERANCE)).astype(int), colour.shape)
    distance = np.abs(colour - backdrop).max(axis=2)
    labels, _ = ndimage.label(distance <= TOLERANCE)
    flooded = np.isin(labels, [label for label in (labels[0, 0], labels[0, -1]) if label])
    near = ndimage.binary_dilation(flooded, np.ones((2 * FRINGE + 1, 2 * FRINGE + 1)))
    soft = np.clip((distance - TOLERANCE) * 255 // (2 * TOLERANCE), 0, 255)
    alpha = np.where(flooded, 0, np.where(near, soft, 255))
    share = alpha[..., None].astype(np.float32) / 255
    behind = backdrop.astype(np.float32)
    cleaned = (colour.astype(np.uint8) - (1 - share) * behind) / np.maximum(share, np.float32(0.2))
    mixed = (alpha > 0) & (alpha < 255)
    shown = np.where(mixed[..., None], np.clip(cleaned, 0, 255), colour)
    return np.dstack([shown, alpha]).astype(np.uint8), (distance <= TOLERANCE) & ~flooded


@pytest.mark.parametrize("noise", [0, 4])
@pytest.mark.parametrize("uneven", [0, 40])
@pytest.mark.parametrize("size", [(BAND, 50), (3 * BAND + 7, 81), (BAND - 1, 200), (60, 49)])
def test_a_cut_out_is_that_of_the_formulas(size, uneven, noise):
    image = photograph(1, *size, uneven, noise)
    picture, leftover = plain_cut(image)
    found = cut_out(image, TOLERANCE)
    assert found.image.mode == "RGBA"
    assert np.array_equal(np.asarray(found.image), picture)
    assert np.array_equal(found.leftover, leftover)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.75, 1.0])
def test_the_flood_is_that_of_labelled_pixels(share):
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (1, 9), (9, 1), (2, 2), (40, 33), (33, 40)):
        for _ in range(20):
            alike = rng.random(shape) < share
            labels, _ = ndimage.label(alike)
            corners = {int(labels[0, 0]), int(labels[0, -1])} - {0}
            assert np.array_equal(flood(alike), np.isin(labels, list(corners)))


@pytest.mark.parametrize("seed", range(30))
def test_a_placed_person_is_pasted_as_a_whole(seed):
    rng = np.random.default_rng(seed)
    high, wide = rng.integers(1, 40, 2)
    pixels = rng.integers(0, 256, (high, wide, 4), dtype=np.uint8)
    pixels[..., 3][rng.random((high, wide)) < (0, 0.5, 0.99, 1)[seed % 4]] = 0
    pixels[: high // 3, :, 3] = pixels[:, : wide // 3, 3] = 0
    person = Image.fromarray(pixels)
    background = Image.fromarray(rng.integers(0, 256, (*rng.integers(1, 40, 2), 3), dtype=np.uint8))
    left, top = (background.width - wide) // 2, background.height - high
    canvas = background.copy()
    canvas.paste(person, (left, top), person)
    # The window of the background, in the person's own pixels.
    seen = pixels[max(0, -top) :, max(0, -left) : background.width - left, 3]
    found = place(person, background)
    assert np.array_equal(np.asarray(found.image), np.asarray(canvas))
    assert found.person_share == pytest.approx(seen.sum() / 255 / (background.width * background.height))
    assert found.clipped == (wide > background.width or high > background.height)

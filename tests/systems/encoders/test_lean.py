"""The lean way gives what the plain way gives, which gradients take."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from portrayal.systems.encoders.clip.lean import is_lean, patches_of  # noqa: E402
from portrayal.systems.encoders.clip.network import Clip  # noqa: E402
from portrayal.systems.encoders.clip.sizes import Size  # noqa: E402

SMALL = Size(32, 64, 3, 64, 16, 64, 2, 2, context=12, vocabulary=50, vision_heads=2)
KINDS = {
    "token": SMALL,
    "average": replace(SMALL, pool="average"),
    "average, then norm": replace(SMALL, pool="average, then norm"),
    "exact": replace(SMALL, gelu="exact"),
    "scaled": replace(SMALL, vision_scaled=True, text_scaled=True),
    "one block": replace(SMALL, vision_layers=1),
    "narrow": replace(SMALL, vision_hidden=80, text_hidden=48),
    "patches that do not fill the picture": replace(SMALL, image_size=70),
}


def network(size: Size) -> Clip:
    torch.manual_seed(0)
    made = Clip(size).eval()
    for weights in made.parameters():  # far from what they start with, so that a lost bias or factor shows
        weights.data.add_(0.1 * torch.randn_like(weights))
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pictures", [1, 5])
def test_pictures_are_embedded_as_with_gradients_and_in_double_precision(kind, pictures):
    made, pixels = (network(KINDS[kind]), torch.randn(pictures, 3, KINDS[kind].image_size, KINDS[kind].image_size))
    with torch.enable_grad():
        plain = made.encode_image(pixels).detach()
    with torch.inference_mode():
        lean = made.encode_image(pixels)
        again = made.encode_image(pixels)
        exact = made.double().encode_image(pixels.double()).float()
    assert lean.shape == (pictures, 32)
    assert torch.equal(lean, again)
    scale = exact.abs().max()
    assert (lean - plain).abs().max() < 1e-5 * scale
    assert (lean - exact).abs().max() < 1e-5 * scale


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_embedded_as_with_gradients(kind):
    made, tokens, ends = network(KINDS[kind]), torch.arange(24).reshape(2, 12), torch.tensor([11, 4])
    with torch.enable_grad():
        plain = made.encode_text(tokens, ends).detach()
    with torch.no_grad():
        lean = made.encode_text(tokens, ends)
    assert (lean - plain).abs().max() < 1e-5 * plain.abs().max()


def test_nothing_is_lean_that_needs_gradients_or_another_precision():
    x = torch.zeros(1)
    assert not is_lean(x)
    with torch.no_grad():
        assert is_lean(x)
        assert not is_lean(x.double()) and not is_lean(x.bfloat16())
        with torch.autocast("cpu", torch.bfloat16):
            assert not is_lean(x)


@pytest.mark.parametrize(("high", "wide"), [(32, 48), (35, 41)])
def test_patches_are_those_of_the_convolution(high, wide):
    convolution, pixels = torch.nn.Conv2d(3, 10, 16, stride=16, bias=False), torch.randn(2, 3, high, wide)
    expected = convolution(pixels).flatten(2).transpose(1, 2)
    assert torch.allclose(patches_of(pixels, convolution.weight), expected, atol=1e-5)

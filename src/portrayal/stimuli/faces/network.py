"""The manipulator's networks: encoder, decoder, latent critics, patch critic and attribute reader.

References
----------
.. [1] Lample et al. (2017), Fader networks: manipulating images by sliding attributes, NeurIPS.
.. [2] He et al. (2019), AttGAN: facial attribute editing by only changing what you want, IEEE TIP 28, 5464-5478.
.. [3] Isola et al. (2017), Image-to-image translation with conditional adversarial networks, CVPR.
.. [4] Perez et al. (2018), FiLM: visual reasoning with a general conditioning layer, AAAI.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from portrayal.stimuli.faces.attributes import WIDTH

CODE = 16  # channels of the latent code, at 8 x 8
READ = WIDTH  # what a reader gives: logits of gender (masculine) and smiling, the age value, race logits


def _down(into: int, out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(into, out, 4, 2, 1), nn.GroupNorm(8, out), nn.LeakyReLU(0.2),
        nn.Conv2d(out, out, 3, 1, 1), nn.GroupNorm(8, out), nn.LeakyReLU(0.2),
    )  # fmt: skip


class Encoder(nn.Module):
    """A face of 128 pixels to a code of 8 x 8 x CODE between -1 and 1."""

    def __init__(self, widths: tuple[int, ...] = (48, 96, 160, 256)) -> None:
        super().__init__()
        blocks = [_down(into, out) for into, out in zip((3, *widths[:-1]), widths, strict=True)]
        self.body = nn.Sequential(*blocks, nn.Conv2d(widths[-1], CODE, 1))

    def forward(self, face: Tensor) -> Tensor:
        """Encode."""
        return torch.tanh(self.body(face))


class Modulated(nn.Module):
    """Two convolutions, each scaled and shifted by a linear function of the attributes (FiLM)."""

    def __init__(self, into: int, out: int, attributes: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(into, out, 3, 1, 1), nn.Conv2d(out, out, 3, 1, 1)
        self.norms = nn.ModuleList([nn.GroupNorm(8, out), nn.GroupNorm(8, out)])
        films = [nn.Linear(attributes, 2 * out) for _ in range(2)]
        self.films = nn.ModuleList(films)
        for film in films:
            nn.init.normal_(film.weight, std=0.1)
            nn.init.zeros_(film.bias)

    def forward(self, hidden: Tensor, attributes: Tensor) -> Tensor:
        """Convolve, modulate, bend; twice."""
        for convolution, norm, film in zip((self.first, self.second), self.norms, self.films, strict=True):
            scale, shift = film(attributes)[:, :, None, None].chunk(2, dim=1)
            hidden = functional.leaky_relu(norm(convolution(hidden)) * (1 + scale) + shift, 0.2)
        return hidden


class Decoder(nn.Module):
    """A code and attributes to a face. Bilinear upsampling before each convolution leaves no checkerboard."""

    def __init__(self, widths: tuple[int, ...] = (256, 224, 160, 96, 48), attributes: int = WIDTH) -> None:
        super().__init__()
        pairs = zip((CODE, *widths[:-1]), widths, strict=True)
        self.layers = nn.ModuleList([Modulated(into, out, attributes) for into, out in pairs])
        self.out = nn.Conv2d(widths[-1], 3, 3, 1, 1)

    def forward(self, code: Tensor, attributes: Tensor) -> Tensor:
        """Decode."""
        hidden = self.layers[0](code, attributes)
        for layer in list(self.layers)[1:]:
            hidden = functional.interpolate(hidden, scale_factor=2.0, mode="bilinear", align_corners=False)
            hidden = layer(hidden, attributes)
        return self.out(hidden)


class LatentCritics(nn.Module):
    """Several critics that read the attributes from the code; the encoder learns to leave them nothing to read.

    They share nothing: each is one group of the convolutions, so that all run at once.
    """

    def __init__(self, critics: int, width: int = 128) -> None:
        super().__init__()
        self.critics = critics
        wide = width * critics
        self.body = nn.Sequential(
            nn.Conv2d(CODE * critics, wide, 3, 1, 1, groups=critics), nn.GroupNorm(8 * critics, wide),
            nn.LeakyReLU(0.2), nn.Conv2d(wide, wide, 4, 2, 1, groups=critics), nn.GroupNorm(8 * critics, wide),
            nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Conv2d(wide, 2 * wide, 4, groups=critics),
            nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Conv2d(2 * wide, READ * critics, 1, groups=critics),
        )  # fmt: skip

    def forward(self, code: Tensor) -> Tensor:
        """Give the logits: critic, face, attribute."""
        read = self.body(code.repeat(1, self.critics, 1, 1))
        return read.view(len(code), self.critics, READ).transpose(0, 1)


class PatchCritic(nn.Module):
    """Tells patches of photographs from patches of manipulated faces, for sharpness."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        norm = nn.utils.parametrizations.spectral_norm
        widths = (3, width, 2 * width, 4 * width)
        layers: list[nn.Module] = []
        for into, out in pairwise(widths):
            layers += [norm(nn.Conv2d(into, out, 4, 2, 1)), nn.LeakyReLU(0.2)]
        self.body = nn.Sequential(*layers, norm(nn.Conv2d(4 * width, 1, 3, 1, 1)))

    def forward(self, face: Tensor) -> Tensor:
        """Give one score per patch."""
        return self.body(face)


class AttributeReader(nn.Module):
    """Reads gender, age and race from a face at 64 pixels, where fine texture cannot be seen."""

    def __init__(self, widths: tuple[int, ...] = (32, 64, 128, 192)) -> None:
        super().__init__()
        blocks = [_down(into, out) for into, out in zip((3, *widths[:-1]), widths, strict=True)]
        self.body = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.4))
        self.head = nn.Linear(widths[-1] * 4, READ)

    def forward(self, face: Tensor) -> Tensor:
        """Give the logits of gender (masculine), the age value, and the logits of race."""
        small = functional.avg_pool2d(face, 2)
        return self.head(self.body(small))

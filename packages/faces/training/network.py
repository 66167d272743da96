"""The manipulator's networks: encoder, decoder, latent critics, patch critic and attribute reader.

References
----------
.. [1] Lample et al. (2017), Fader networks: manipulating images by sliding attributes, NeurIPS.
.. [2] He et al. (2019), AttGAN: facial attribute editing by only changing what you want, IEEE TIP 28, 5464-5478.
.. [3] Isola et al. (2017), Image-to-image translation with conditional adversarial networks, CVPR.
.. [4] Perez et al. (2018), FiLM: visual reasoning with a general conditioning layer, AAAI.
.. [5] Belrose et al. (2023), LEACE: perfect linear concept erasure in closed form, NeurIPS.
.. [6] Mentzer et al. (2024), Finite scalar quantization: VQ-VAE made simple, ICLR.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.attributes import WIDTH

CODE = 8  # channels of the latent code, at 8 x 8
READ = WIDTH  # what a reader gives: logits of gender (masculine) and smiling, the age value, race logits


class ChannelNorm(nn.Module):
    """Normalise each pixel over its channels; with channels last in memory that is one fused pass, without a copy."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels
        self.gain, self.shift = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, hidden: Tensor) -> Tensor:
        """Normalise, in the precision that came in."""
        with torch.autocast(hidden.device.type, enabled=False):
            gain, shift = self.gain.to(hidden.dtype), self.shift.to(hidden.dtype)
            rows = functional.layer_norm(hidden.permute(0, 2, 3, 1), (self.channels,), gain, shift)
        return rows.permute(0, 3, 1, 2)


def _down(into: int, out: int) -> nn.Sequential:
    """Halve the size; the first block of a network has no norm, so that it sees colours as they are."""
    norms = [ChannelNorm(out) if into > 3 else nn.Identity() for _ in range(2)]
    return nn.Sequential(
        nn.Conv2d(into, out, 4, 2, 1), norms[0], nn.LeakyReLU(0.2),
        nn.Conv2d(out, out, 3, 1, 1), norms[1], nn.LeakyReLU(0.2),
    )  # fmt: skip


class Encoder(nn.Module):
    """A face of 128 pixels to a code of 8 x 8 x CODE between -1 and 1.

    Training rounds it to -1, 0 and 1 (`rounded`), so that nothing hides between the values; use rounds it after noise
    (`dither`). Before that, what a linear reader could still tell of gender is taken out (`erase`).
    """

    def __init__(self, widths: tuple[int, ...] = (32, 96, 160, 256)) -> None:
        super().__init__()
        blocks = [_down(into, out) for into, out in zip((3, *widths[:-1]), widths, strict=True)]
        self.body = nn.Sequential(*blocks, nn.Conv2d(widths[-1], CODE, 1))
        for name in ("mean", "along", "weight"):
            self.register_buffer(name, torch.zeros(CODE * 64))

    def forward(self, face: Tensor) -> Tensor:
        """Encode and erase; not rounded yet."""
        return self.erased(self.soft(face))

    def soft(self, face: Tensor) -> Tensor:
        """Return the code before anything is erased, between -1 and 1: what training rounds."""
        return torch.tanh(self.body(face))

    def erased(self, soft: Tensor) -> Tensor:
        """Take the erased direction out; nothing happens before `erase` was called."""
        flat = soft.reshape(soft.shape[0], CODE * 64)
        told = ((flat - self.mean) * self.weight).sum(1, keepdim=True)
        return (flat - told * self.along).reshape(soft.shape[0], CODE, 8, 8)

    def erase(self, codes: Tensor, labels: Tensor) -> None:
        """Find the direction by which a linear reader tells two groups apart, to be taken out of every code [5]_."""
        mean, sign = codes.mean(0), labels.float() - labels.float().mean()
        away = codes - mean
        spread = away.T @ away / len(codes) + 1e-3 * away.var(0).mean() * torch.eye(codes.shape[1], device=codes.device)
        along = away.T @ sign / len(codes)
        weight = torch.linalg.solve(spread, along)
        self.mean, self.along, self.weight = mean, along / (along @ weight), weight


def rounded(soft: Tensor) -> Tensor:
    """Round a code and let the gradient pass as if it had not been (straight-through) [6]_."""
    return soft + (torch.round(soft) - soft).detach()


class Modulated(nn.Module):
    """Two convolutions, each scaled and shifted by a linear function of the attributes (FiLM)."""

    def __init__(self, into: int, out: int, attributes: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(into, out, 3, 1, 1), nn.Conv2d(out, out, 3, 1, 1)
        self.norms = nn.ModuleList([ChannelNorm(out) if out > 100 else nn.Identity() for _ in range(2)])
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
    """A code and attributes to a face. Upsampling before each convolution leaves no checkerboard."""

    def __init__(self, widths: tuple[int, ...] = (256, 224, 160, 96, 32), attributes: int = WIDTH) -> None:
        super().__init__()
        pairs = zip((CODE, *widths[:-1]), widths, strict=True)
        self.layers = nn.ModuleList([Modulated(into, out, attributes) for into, out in pairs])
        self.out = nn.Conv2d(widths[-1], 3, 3, 1, 1)

    def forward(self, code: Tensor, attributes: Tensor) -> Tensor:
        """Decode."""
        hidden = self.layers[0](code, attributes)
        for layer in list(self.layers)[1:]:
            hidden = layer(_doubled(hidden), attributes)
        return self.out(hidden)


def _doubled(hidden: Tensor) -> Tensor:
    """Repeat every pixel twice both ways; with channels last in memory its gradient is a plain sum, and fast."""
    rows = hidden.permute(0, 2, 3, 1)[:, :, None, :, None, :].expand(-1, -1, 2, -1, 2, -1)
    return rows.reshape(-1, 2 * hidden.shape[2], 2 * hidden.shape[3], hidden.shape[1]).permute(0, 3, 1, 2)


class LatentCritics(nn.Module):
    """Several critics that read the attributes from the code; the encoder learns to leave them nothing to read.

    They share nothing; their weights are stacked, so that all of them run as one batched product.
    """

    def __init__(self, critics: int, width: int = 512) -> None:
        super().__init__()
        sizes = (CODE * 64, width, width, READ)
        self.weights = nn.ParameterList(
            [nn.Parameter(torch.randn(critics, into, out) * (2 / into) ** 0.5) for into, out in pairwise(sizes)]
        )
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(critics, 1, out)) for out in sizes[1:]])

    def forward(self, code: Tensor) -> Tensor:
        """Give the logits: critic, face, attribute."""
        hidden = code.flatten(1)[None].expand(self.weights[0].shape[0], -1, -1)
        for weight, shift in zip(self.weights[:-1], self.shifts[:-1], strict=True):
            hidden = functional.leaky_relu(torch.bmm(hidden, weight) + shift, 0.2)
            hidden = functional.dropout(hidden, 0.3, self.training)
        return torch.bmm(hidden, self.weights[-1]) + self.shifts[-1]


class PatchCritic(nn.Module):
    """Tells patches of photographs from patches of manipulated faces, for sharpness."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for into, out in pairwise((3, width, 2 * width, 4 * width)):
            layers += [nn.Conv2d(into, out, 4, 2, 1), nn.LeakyReLU(0.2)]
        self.body = nn.Sequential(*layers, nn.Conv2d(4 * width, 1, 3, 1, 1))

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

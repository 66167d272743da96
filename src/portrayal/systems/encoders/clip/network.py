"""CLIP's two towers in torch, with the weights named as OpenAI's and OpenCLIP's checkpoints name them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from portrayal.systems.encoders.clip.resnet import ModifiedResNet
from portrayal.systems.encoders.clip.sizes import Size


class QuickGELU(nn.Module):
    """The approximation CLIP was trained with."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x sigmoid(1.702 x)."""
        return x * torch.sigmoid(1.702 * x)


class Attention(nn.Module):
    """Self-attention with the weights of `nn.MultiheadAttention`, batch first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.normal_(self.in_proj_weight, std=width**-0.5)

    def forward(self, x: Tensor, causal: bool) -> Tensor:
        """Attend over the tokens; each sees only those before it where `causal`."""
        batch, length, width = x.shape
        packed = functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        parts = packed.view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=causal)
        return self.out_proj(seen.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """One layer of a transformer: attention, then two linear maps around a GELU."""

    def __init__(self, width: int, heads: int, gelu: str) -> None:
        super().__init__()
        self.attn = Attention(width, heads)
        self.ln_1 = nn.LayerNorm(width)
        activation = QuickGELU() if gelu == "quick" else nn.GELU()
        parts = [
            ("c_fc", nn.Linear(width, 4 * width)),
            ("gelu", activation),
            ("c_proj", nn.Linear(4 * width, width)),
        ]
        self.mlp = nn.Sequential(OrderedDict(parts))
        self.ln_2 = nn.LayerNorm(width)

    def forward(self, x: Tensor, causal: bool) -> Tensor:
        """Add attention and map to what comes in."""
        x = x + self.attn(self.ln_1(x), causal)
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    """A stack of blocks."""

    def __init__(self, width: int, layers: int, heads: int, gelu: str) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList(Block(width, heads, gelu) for _ in range(layers))

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        """Run the blocks."""
        for block in self.resblocks:
            x = block(x, causal)
        return x


class VisionTransformer(nn.Module):
    """Patches of the picture and a class token through a transformer."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, patch = size.vision_width, size.patch or 1
        self.grid = size.image_size // patch
        self.conv1 = nn.Conv2d(3, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(width) * width**-0.5)
        self.positional_embedding = nn.Parameter(torch.randn(self.grid**2 + 1, width) * width**-0.5)
        self.ln_pre = nn.LayerNorm(width)
        layers = size.vision_layers if isinstance(size.vision_layers, int) else 0
        self.transformer = Transformer(width, layers, size.heads, size.gelu)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.randn(width, size.embedding) * width**-0.5)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the embedding of each picture."""
        patches = self.conv1(pixels).flatten(2).transpose(1, 2)
        first = self.class_embedding.to(patches.dtype).expand(patches.shape[0], 1, -1)
        x = torch.cat([first, patches], dim=1) + self.positional_embedding.to(patches.dtype)
        x = self.transformer(self.ln_pre(x))
        return self.ln_post(x[:, 0]) @ self.proj


def normalised(
    pixels: Tensor, mean: Sequence[float], deviation: Sequence[float], dtype: torch.dtype
) -> Tensor:
    """Return 8-bit pixels (batch x side x side x 3) normalised, channels first, on their device."""
    scale = torch.tensor([1 / (255 * d) for d in deviation], device=pixels.device)
    shift = torch.tensor([m / d for m, d in zip(mean, deviation, strict=True)], device=pixels.device)
    return (pixels.float() * scale - shift).permute(0, 3, 1, 2).to(dtype)


class Clip(nn.Module):
    """Both towers. Embeddings are not scaled to length one here."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.visual: nn.Module = ModifiedResNet(size) if size.is_resnet else VisionTransformer(size)
        self.transformer = Transformer(size.text_width, size.text_layers, size.text_heads, size.gelu)
        self.token_embedding = nn.Embedding(size.vocabulary, size.text_width)
        self.positional_embedding = nn.Parameter(torch.randn(size.context, size.text_width) * 0.01)
        self.ln_final = nn.LayerNorm(size.text_width)
        self.text_projection = nn.Parameter(
            torch.randn(size.text_width, size.embedding) * size.text_width**-0.5
        )
        self.logit_scale = nn.Parameter(torch.tensor(2.6592600))  # ln(1 / 0.07)

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Return the embeddings of normalised pictures, batch x 3 x side x side."""
        return self.visual(pixels)

    def encode_text(self, tokens: Tensor, ends: Tensor) -> Tensor:
        """Return the embeddings of token ids, read off at the position of each text's end."""
        x = self.token_embedding(tokens) + self.positional_embedding[: tokens.shape[1]]
        x = self.ln_final(self.transformer(x, causal=True))
        return x[torch.arange(len(x), device=x.device), ends] @ self.text_projection

"""CLIP's two towers in torch [1]_, with the weights named as OpenAI's and OpenCLIP's checkpoints name them.

Pictures go through a vision transformer, or through CLIP's ResNet: a stem of three convolutions, average pooling before
strides, attention in the last pooling.

References
----------
.. [1] Radford et al. (2021), Learning transferable visual models from natural language supervision, ICML.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from portrayal.systems.encoders.clip.lean import STEEPNESS, is_lean, patches_of, quick_map, room_for
from portrayal.systems.encoders.clip.sizes import Size

EXPANSION = 4  # of the channels inside a ResNet's block


class QuickGELU(nn.Module):
    """The approximation CLIP was trained with."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x sigmoid(1.702 x)."""
        return x * torch.sigmoid(STEEPNESS * x)


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

    def of_first(self, x: Tensor) -> Tensor:
        """Attend as `forward` does, for the first token alone."""
        width = x.shape[2]
        weights, biases = (part.split([width, 2 * width]) for part in (self.in_proj_weight, self.in_proj_bias))
        query = functional.linear(x[:, :1], weights[0], biases[0])
        key, value = functional.linear(x, weights[1], biases[1]).chunk(2, dim=2)
        parts = (part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (query, key, value))
        return self.out_proj(functional.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2))


class Scale(nn.Module):
    """A learned factor for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Scale the channels."""
        return x * self.gamma


class BlockShape(NamedTuple):
    """What the blocks of one tower have in common."""

    width: int
    heads: int
    gelu: str
    hidden: int | None = None  # None: four times the width
    scaled: bool = False


class Block(nn.Module):
    """One layer of a transformer: attention, then two linear maps around a GELU."""

    def __init__(self, shape: BlockShape) -> None:
        super().__init__()
        width, hidden = shape.width, shape.hidden or 4 * shape.width
        self.attn = Attention(width, shape.heads)
        self.ln_1 = nn.LayerNorm(width)
        activation = QuickGELU() if shape.gelu == "quick" else nn.GELU()
        parts = [("c_fc", nn.Linear(width, hidden)), ("gelu", activation), ("c_proj", nn.Linear(hidden, width))]
        self.mlp = nn.Sequential(OrderedDict(parts))
        self.ln_2 = nn.LayerNorm(width)
        self.ls_1, self.ls_2 = (Scale(width) if shape.scaled else nn.Identity() for _ in range(2))

    def forward(self, x: Tensor, causal: bool, room: Tensor | None = None) -> Tensor:
        """Add attention and map to what comes in; where there is `room`, the lean way."""
        return self._mapped(x + self.ls_1(self.attn(self.ln_1(x), causal)), room)

    def of_first(self, x: Tensor, room: Tensor | None) -> Tensor:
        """Return the first token of what `forward` returns."""
        return self._mapped(x[:, :1] + self.ls_1(self.attn.of_first(self.ln_1(x))), room)

    def _mapped(self, x: Tensor, room: Tensor | None) -> Tensor:
        seen = self.ln_2(x)
        lean = room is not None and isinstance(self.mlp.gelu, QuickGELU)
        return x + self.ls_2(quick_map(seen, self.mlp.c_fc, self.mlp.c_proj, room) if lean else self.mlp(seen))


class Transformer(nn.Module):
    """A stack of blocks."""

    def __init__(self, layers: int, shape: BlockShape) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList(Block(shape) for _ in range(layers))

    def forward(self, x: Tensor, causal: bool = False) -> Tensor:
        """Run the blocks."""
        room = self._room(x)
        for block in self.resblocks:
            x = block(x, causal, room)
        return x

    def of_first(self, x: Tensor) -> Tensor:
        """Run the blocks for the first token's sake: of the last one, nothing else is needed."""
        room = self._room(x)
        for block in self.resblocks[:-1]:
            x = block(x, False, room)
        return self.resblocks[-1].of_first(x, room)

    def _room(self, x: Tensor) -> Tensor | None:
        return room_for(x, self.resblocks[0].mlp.c_fc) if is_lean(x) and len(self.resblocks) else None


class VisionTransformer(nn.Module):
    """Patches of the picture and a class token through a transformer."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width, patch = size.vision_width, size.patch or 1
        self.grid = size.image_size // patch
        self.conv1 = nn.Conv2d(3, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(width) * width**-0.5)
        self.positional_embedding = nn.Parameter(torch.randn(self.grid**2 + 1, width) * width**-0.5)
        self.pool = size.pool
        self.ln_pre = nn.LayerNorm(width) if size.norm_first else nn.Identity()
        layers = size.vision_layers if isinstance(size.vision_layers, int) else 0
        shape = BlockShape(width, size.heads, size.gelu, size.vision_hidden, size.vision_scaled)
        self.transformer = Transformer(layers, shape)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.randn(width, size.embedding) * width**-0.5)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the embedding of each picture."""
        lean = is_lean(pixels)
        patches = patches_of(pixels, self.conv1.weight) if lean else self.conv1(pixels).flatten(2).transpose(1, 2)
        first = self.class_embedding.to(patches.dtype).expand(patches.shape[0], 1, -1)
        x = torch.cat([first, patches], dim=1) + self.positional_embedding.to(patches.dtype)
        run = self.transformer.of_first if lean and self.pool == "token" else self.transformer
        return self._pooled(run(self.ln_pre(x))) @ self.proj

    def _pooled(self, x: Tensor) -> Tensor:
        if self.pool == "token":
            return self.ln_post(x[:, 0])
        if self.pool == "average":
            return self.ln_post(x)[:, 1:].mean(dim=1)
        return self.ln_post(x[:, 1:].mean(dim=1))


class Bottleneck(nn.Module):
    """Three convolutions and a shortcut; strides are average poolings."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        width_out = width * EXPANSION
        self.conv1 = nn.Conv2d(width_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.avgpool = nn.AvgPool2d(stride) if stride > 1 else nn.Identity()
        self.conv3 = nn.Conv2d(width, width_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width_out)
        self.downsample: nn.Module | None = None
        if stride > 1 or width_in != width_out:
            convolution = nn.Conv2d(width_in, width_out, 1, bias=False)
            parts = [("-1", nn.AvgPool2d(stride)), ("0", convolution), ("1", nn.BatchNorm2d(width_out))]
            self.downsample = nn.Sequential(OrderedDict(parts))

    def forward(self, x: Tensor) -> Tensor:
        """Add the convolutions to the shortcut."""
        out = functional.relu(self.bn1(self.conv1(x)))
        out = functional.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(self.avgpool(out)))
        return functional.relu(out + (x if self.downsample is None else self.downsample(x)))


class AttentionPool(nn.Module):
    """The mean of the grid attends to the grid; the result is the embedding."""

    def __init__(self, side: int, width: int, heads: int, embedding: int) -> None:
        super().__init__()
        self.heads = heads
        self.positional_embedding = nn.Parameter(torch.randn(side**2 + 1, width) * width**-0.5)
        self.k_proj = nn.Linear(width, width)
        self.q_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.c_proj = nn.Linear(width, embedding)

    def forward(self, x: Tensor) -> Tensor:
        """Pool a map, batch x width x side x side."""
        tokens = x.flatten(2).transpose(1, 2)
        tokens = torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1)
        tokens = tokens + self.positional_embedding.to(tokens.dtype)
        query, key, value = self.q_proj(tokens[:, :1]), self.k_proj(tokens), self.v_proj(tokens)
        parts = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in (query, key, value)]
        seen = functional.scaled_dot_product_attention(*parts)
        return self.c_proj(seen.transpose(1, 2).flatten(2))[:, 0]


class ModifiedResNet(nn.Module):
    """The vision tower of RN50 to RN50x64."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.vision_width
        self.conv1 = nn.Conv2d(3, width // 2, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width // 2)
        self.conv2 = nn.Conv2d(width // 2, width // 2, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width // 2)
        self.conv3 = nn.Conv2d(width // 2, width, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(width)
        self.avgpool = nn.AvgPool2d(2)
        blocks = size.vision_layers if isinstance(size.vision_layers, tuple) else (0, 0, 0, 0)
        self.layer1 = _layer(width, width, blocks[0], 1)
        self.layer2 = _layer(width * 4, width * 2, blocks[1], 2)
        self.layer3 = _layer(width * 8, width * 4, blocks[2], 2)
        self.layer4 = _layer(width * 16, width * 8, blocks[3], 2)
        self.attnpool = AttentionPool(size.image_size // 32, width * 32, size.heads, size.embedding)

    def features(self, pixels: Tensor) -> Tensor:
        """Return the map before the last pooling."""
        x = functional.relu(self.bn1(self.conv1(pixels)))
        x = functional.relu(self.bn2(self.conv2(x)))
        x = self.avgpool(functional.relu(self.bn3(self.conv3(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the embedding of each picture."""
        return self.attnpool(self.features(pixels))


def _layer(width_in: int, width: int, blocks: int, stride: int) -> nn.Sequential:
    first = Bottleneck(width_in, width, stride)
    return nn.Sequential(first, *(Bottleneck(width * EXPANSION, width, 1) for _ in range(blocks - 1)))


def normalised(pixels: Tensor, mean: Sequence[float], deviation: Sequence[float], dtype: torch.dtype) -> Tensor:
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
        shape = BlockShape(size.text_width, size.text_heads, size.gelu, size.text_hidden, size.text_scaled)
        self.transformer = Transformer(size.text_layers, shape)
        self.token_embedding = nn.Embedding(size.vocabulary, size.text_width)
        self.positional_embedding = nn.Parameter(torch.randn(size.context, size.text_width) * 0.01)
        self.ln_final = nn.LayerNorm(size.text_width)
        self.text_projection = nn.Parameter(torch.randn(size.text_width, size.embedding) * size.text_width**-0.5)
        self.logit_scale = nn.Parameter(torch.tensor(2.6592600))  # ln(1 / 0.07)

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Return the embeddings of normalised pictures, batch x 3 x side x side."""
        return self.visual(pixels)

    def encode_text(self, tokens: Tensor, ends: Tensor) -> Tensor:
        """Return the embeddings of token ids, read off at the position of each text's end."""
        x = self.token_embedding(tokens) + self.positional_embedding[: tokens.shape[1]]
        x = self.ln_final(self.transformer(x, causal=True))
        return x[torch.arange(len(x), device=x.device), ends] @ self.text_projection

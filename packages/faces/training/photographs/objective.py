"""Losses: the generated target, readings in it, an untouched rest; readings of photographs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from training.generated.networks.augment import resized
from training.generated.networks.readers import SIDE as READ_SIDE
from training.generated.networks.readers import _combined
from training.generated.studio import CROP, GpuStudio, _mask
from training.photographs.editor import warped
from training.photographs.lines import READ, SHARES, UNITS, column, condition, perceived, value_of
from training.photographs.pairs import Families
from training.photographs.views import shifted, views

Tensor = Any
FEATURES = (5, 7, 9)  # layers of a reader's body whose features are compared: 64, 32 and 16 pixels
# Of each term, chosen by hand: near 1 the target's pixels, a tenth of them what readers see.
WEIGHTS = {"pixels": 6.0, "coarse": 6.0, "edges": 3.0, "mask": 0.3, "features": 0.6, "readings": 0.15, "flow": 2.0}
REAL = {"readings": 0.12, "mask": 0.15, "size": 0.6, "flow": 2.0}
AGES_COUNT = 2.0
CUE_COUNTS = 3.0  # as in steering: what is held weighs more in sum, and a face would best be left where it was
LEAST_CHANGE = 2 / 127.5  # two levels: pairs that hardly differ are not blown up
STEEPEST = 4.0  # of the mean change in a mask: no single spot counts more
NO_CHANGE = 0.08  # share of pairs whose two pictures are the same


@dataclass(frozen=True)
class Batch:
    """Inputs, targets, masks of change, cues and values."""

    inputs: Tensor
    wanted: Tensor
    mask: Tensor
    cue: Tensor
    value: Tensor


class Eyes:
    """Readers through which gradients flow; none of them judges."""

    def __init__(self, studio: GpuStudio) -> None:
        self.nets, self.wild = studio.nets, studio.wild
        for net in self.nets:
            net.requires_grad_(False)

    def some(self, count: int = 2) -> list[int]:
        """Draw a few readers."""
        return torch.randperm(len(self.nets))[:count].tolist()

    def read(self, faces: Tensor, some: list[int] | None = None) -> Tensor:
        """Return gender, three ages and three contrasts (n x 7) by chosen readers."""
        crops = face_crop(faces)
        which = range(len(self.nets)) if some is None else some
        small = resized(crops, READ_SIDE)
        with torch.autocast(faces.device.type, dtype=torch.bfloat16, enabled=faces.is_cuda):
            each = torch.stack([self.nets[one](small).float() for one in which])
            wild = self.wild._read((crops + 1) * 127.5).float()
        return perceived(_combined(each), wild)

    def features(self, faces: Tensor, net: int) -> list[Tensor]:
        """Return a reader's features of faces at a few layers."""
        features, values = [], resized(face_crop(faces), READ_SIDE)
        with torch.autocast(faces.device.type, dtype=torch.bfloat16, enabled=faces.is_cuda):
            for place, layer in enumerate(self.nets[net].body[: FEATURES[-1] + 1]):
                values = layer(values)
                features += [values.float()] if place in FEATURES else []
        return features


def face_crop(faces: Tensor) -> Tensor:
    """Return what readers look at."""
    top, bottom, left, right = (round(share * faces.shape[-1]) for share in CROP)
    return faces[:, :, top:bottom, left:right]


def draw_pairs(families: Families, eyes: Eyes, count: int, people: Tensor) -> Batch:
    """Draw pairs of `people`, cues by their SHARES; values are the targets' readings."""
    row = people[torch.multinomial(shares_of(families.cues[people]), count, replacement=True)]
    width = families.members.shape[1]
    one = torch.randint(width, (count,), device=row.device)
    other = (one + torch.randint(1, width, (count,), device=row.device)) % width
    other = torch.where(torch.rand(count, device=row.device) < NO_CHANGE, one, other)
    first, second = families.members[row, one], families.members[row, other]
    mask = _mask(families.faces[first].float(), families.faces[second].float())
    below, above = (families.pictures[at].float() / 127.5 - 1 for at in (first, second))
    laid = below + mask * (above - below)
    with torch.no_grad():
        value = value_of(eyes.read(laid), families.cues[row])
    inputs, wanted, seen = views(below, laid, mask)
    return Batch(inputs, wanted, seen, families.cues[row], value)


def paired_loss(editor: Any, eyes: Eyes, batch: Batch) -> tuple[dict[str, Tensor], Tensor]:
    """Return the terms for generated pairs, and the pictures made."""
    flow, residual, logits = _parts(editor, batch.inputs, condition(batch.cue, batch.value))
    made = laid_together(batch.inputs, flow, residual, logits)
    missed = (made - batch.wanted) * evened(batch)[:, None, None, None]
    net, some = int(torch.randint(len(eyes.nets), ())), eyes.some()
    with torch.no_grad():
        read = eyes.read(batch.wanted, some)
    pairs = zip(eyes.features(made, net), eyes.features(batch.wanted, net), strict=True)
    return {
        "pixels": (missed.abs() * where_it_changes(batch)).mean(),
        "coarse": sum(_pooled(missed, side).abs().mean() for side in (4, 16)),
        "edges": _edges(missed).mean(),
        "mask": functional.binary_cross_entropy_with_logits(logits, batch.mask),
        "features": sum((one - two).abs().mean() / two.abs().mean().clamp(min=1e-4) for one, two in pairs),
        "readings": _apart(eyes.read(made, some), read, counted(batch.cue)),
        "flow": _rough(flow),
    }, made


def shares_of(cues: Tensor) -> Tensor:
    """Return each row's frequency so that cues come up by their SHARES."""
    sizes = torch.bincount(cues, minlength=len(SHARES)).clamp(min=1)
    return (torch.tensor(SHARES, device=cues.device) / sizes)[cues]


def evened(batch: Batch) -> Tensor:
    """Return weights that give every cue's pairs the same mean change.

    Between a White and a Black face most pixels change, between a woman's and a man's few. Counted by levels the tint of the
    first is all that is learnt, and what it spills onto the others costs less than their own change would save.
    """
    change = (batch.wanted - batch.inputs).abs().mean((1, 2, 3))
    marks = functional.one_hot(batch.cue, len(SHARES)).to(change.dtype)
    by_cue = (marks * change[:, None]).sum(0) / marks.sum(0).clamp(min=1)
    return change.mean().clamp(min=LEAST_CHANGE) / by_cue.clamp(min=LEAST_CHANGE)[batch.cue]


def where_it_changes(batch: Batch) -> Tensor:
    """Return each pixel's weight: 1, plus 3 on average where the mask changes.

    What tells women's faces from men's lies in brows, lips and beards: few pixels, outvoted by cheeks where nothing is to be done.
    """
    change = (batch.wanted - batch.inputs).abs().mean(1, keepdim=True)
    inside = (change * batch.mask).sum((2, 3), keepdim=True) / batch.mask.sum((2, 3), keepdim=True).clamp(min=1)
    return 1 + 3 * batch.mask * (change / inside.clamp(min=LEAST_CHANGE)).clamp(max=STEEPEST)


def counted(cue: Tensor) -> Tensor:
    """Return each reading's weight (n x 7): the cue's own more, unless given up."""
    counts = torch.ones(len(cue), READ, device=cue.device)
    return counts.scatter_(1, column(cue)[:, None], CUE_COUNTS)


def counted_real(cue: Tensor) -> Tensor:
    """Return the weights without a target: contrasts that must follow count nothing."""
    counts = torch.ones(len(cue), READ, device=cue.device)
    counts[:, 4:] = torch.where(cue[:, None] > 0, 0.0, 1.0)
    return counts.scatter_(1, column(cue)[:, None], CUE_COUNTS)


def real_loss(editor: Any, eyes: Eyes, faces: Tensor, regions: Tensor) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Return the loss terms of photographs and their changed pictures."""
    inputs, region = shifted(faces, regions)
    count = len(faces)
    cue = torch.multinomial(torch.tensor(SHARES, device=faces.device), count, replacement=True)
    value = 5 * torch.rand(count, device=faces.device) - 2.5
    flow, residual, logits = _parts(editor, inputs, condition(cue, value))
    made = laid_together(inputs, flow, residual, logits)
    some, (seen, before) = eyes.some(), _blurred(torch.cat([made, inputs])).chunk(2)
    with torch.no_grad():
        wanted = eyes.read(before, some)
        aim = value * torch.tensor(UNITS, device=faces.device)[cue]
        wanted.scatter_(1, column(cue)[:, None], aim[:, None])
    return {
        "readings": _apart(eyes.read(seen, some), wanted, counted_real(cue)),
        "mask": functional.binary_cross_entropy_with_logits(logits, region),
        "size": (made - inputs).abs().mean(),
        "flow": _rough(flow),
    }, made, inputs  # fmt: skip


def laid_together(faces: Tensor, flow: Tensor, residual: Tensor, logits: Tensor) -> Tensor:
    """Return the changed faces, as `Editor.forward` does."""
    mask = (1.2 * logits.sigmoid() - 0.1).clamp(0, 1)
    return faces + mask * (warped(faces, flow) - faces + residual)


def weighed(terms: dict[str, Tensor], weights: dict[str, float]) -> Tensor:
    """Return the sum of terms by their weights."""
    return sum(weights[name] * term for name, term in terms.items())


def _parts(editor: Any, faces: Tensor, conditions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    with torch.autocast(faces.device.type, dtype=torch.bfloat16, enabled=faces.is_cuda):
        return editor.parts(faces, conditions)


def _apart(read: Tensor, wanted: Tensor, counts: Tensor) -> Tensor:
    """Return how far readings are apart; ages count more, since they leak."""
    weights = counts * torch.tensor([1.0, *[AGES_COUNT] * 3, 1.0, 1.0, 1.0], device=wanted.device)
    return (weights * functional.smooth_l1_loss(read, wanted, reduction="none")).sum(1).mean()


def _pooled(values: Tensor, side: int) -> Tensor:
    return functional.avg_pool2d(values, side)


def _edges(values: Tensor) -> Tensor:
    return (values[:, :, :, 1:] - values[:, :, :, :-1]).abs().mean() + (
        values[:, :, 1:] - values[:, :, :-1]
    ).abs().mean()


def _rough(flow: Tensor) -> Tensor:
    """Return how unevenly neighbours move; a mean size too, so that nothing moves for nothing."""
    side = flow.shape[-1]
    across, down = flow[:, :, :, 1:] - flow[:, :, :, :-1], flow[:, :, 1:] - flow[:, :, :-1]
    return side * (across.abs().mean() + down.abs().mean()) * 0.05 + flow.abs().mean() * 0.2


def _blurred(faces: Tensor) -> Tensor:
    """Soften and shift pictures at random, so that no pixel pattern pleases readers."""
    side = faces.shape[-1]
    small = int(side / (1.0 + 1.6 * float(torch.rand(()))))
    soft = functional.interpolate(faces, size=(small, small), mode="bilinear", antialias=True, align_corners=False)
    back = functional.interpolate(soft, size=(side, side), mode="bilinear", align_corners=False)
    down, across = (int(torch.randint(-4, 5, ())) for _ in range(2))
    return back.roll((down, across), (2, 3)) + 0.02 * torch.randn_like(back)

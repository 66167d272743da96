"""What the manipulator is trained for: the terms of its loss, each a pure function of tensors."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from portrayal.pictures.series.values import REACH
from portrayal_faces.series.attributes import RACES
from portrayal_faces.series.mask import TO_LUMA_CHROMA
from training.attributes import FIRST_RACE
from training.temper import BRIGHT, COLOUR, LEAST, slowest

GENDER, AGE, SMILING = 0, 1, 2


def known(values: Tensor) -> Tensor:
    """Return which of gender, age, smiling and race are labelled, one column each."""
    return ~torch.isnan(values[:, : FIRST_RACE + 1])


def filled(values: Tensor) -> Tensor:
    """Return values a network can take: 0 where there is no label."""
    return torch.nan_to_num(values)


def reading_loss(read: Tensor, values: Tensor) -> Tensor:
    """Return one loss per face: cross-entropy of gender, smiling and race, squared error of age."""
    have, target = known(values).float(), filled(values)
    terms = [
        _binary(read[:, GENDER], (target[:, GENDER] + 1) / 2),
        (read[:, AGE] - target[:, AGE]) ** 2,
        _binary(read[:, SMILING], (target[:, SMILING] + 1) / 2),
        functional.cross_entropy(read[:, FIRST_RACE:], target[:, FIRST_RACE:], reduction="none"),
    ]
    return (torch.stack(terms, 1) * have).sum(1)


def prior_of(values: Tensor) -> Tensor:
    """Return the average of each value over the training set; NaN where nothing is labelled."""
    return torch.nanmean(values, dim=0, keepdim=True)


def tints_of(faces: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean colour inside the mask of each labelled group's faces; the overall mean where a group has none."""
    colours = (faces * mask).sum((2, 3)) / mask.sum()
    weights = filled(values)[:, FIRST_RACE:]
    weights = torch.where(weights.sum(0) > 0, weights, torch.ones_like(weights))
    return (weights.T @ colours) / weights.sum(0)[:, None]


def targets(values: Tensor, first: Tensor, random: torch.Generator, steep: float) -> tuple[Tensor, Tensor]:
    """Draw where to go: gender for the faces in `first`, race between two poles for the others.

    Returns the attribute vectors and, for each face, the perceived attributes aimed at. For gender value a that is
    P(masculine) = sigmoid(steep a): 1/2 at the centre.
    """
    value = (2 * torch.rand(len(values), generator=random, device=values.device) - 1) * REACH
    aim, go = values.clone(), filled(values)
    go[:, GENDER] = torch.where(first, value, go[:, GENDER])
    aim[:, GENDER] = torch.where(first, torch.tanh(steep * value / 2), aim[:, GENDER])
    race = _between_poles(value, random)
    go[:, FIRST_RACE:] = torch.where(first[:, None], go[:, FIRST_RACE:], race)
    aimed = race.clamp_min(0) / race.clamp_min(0).sum(1, keepdim=True)
    aim[:, FIRST_RACE:] = torch.where(first[:, None], aim[:, FIRST_RACE:], aimed)
    return go, aim


def keeping_loss(
    read: Tensor, before: Tensor, aim: Tensor, first: Tensor, races: bool = True, smiles: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the loss of reaching the aim on the varied attribute and of moving the others.

    `first` says whose gender was varied; for the rest race was. `races` and `smiles` say whether
    race and expression are labelled at all: a reader that never learnt one cannot hold it.
    """
    gender = _binary(read[:, GENDER], (filled(aim)[:, GENDER] + 1) / 2)
    race = functional.cross_entropy(read[:, FIRST_RACE:], filled(aim)[:, FIRST_RACE:], reduction="none")
    same_gender = _binary(read[:, GENDER], torch.sigmoid(before[:, GENDER]))
    same_race = functional.cross_entropy(read[:, FIRST_RACE:], before[:, FIRST_RACE:].softmax(1), reduction="none")
    age = (read[:, AGE] - before[:, AGE]) ** 2
    smiling = _binary(read[:, SMILING], torch.sigmoid(before[:, SMILING]))
    reach = torch.where(first, gender, 0.2 * race)  # race is led by the groups' skin colours, see `tints_of`
    others = torch.where(first, same_race, same_gender) if races else torch.zeros_like(age)
    hold = others + 2 * age + (smiling if smiles else 0.0)
    return reach.mean(), hold.mean()


def likeness_loss(made: Tensor, face: Tensor, weight: Tensor) -> Tensor:
    """Return the absolute error at three scales, heavier inside the mask."""
    total = made.new_zeros(())
    for scale in (1, 2, 4):
        error = (functional.avg_pool2d(made - face, scale)).abs()
        total = total + (error * functional.avg_pool2d(0.3 + weight, scale)).mean()
    return total


def tempered(edit: Tensor, face: Tensor, mask: Tensor, even: Tensor | None = None) -> Tensor:
    """Return edits as they may be added to faces in [-1, 1]: `temper.tempered`, in torch; `even` says to which faces' it applies."""
    matrix, keep = edit.new_tensor(TO_LUMA_CHROMA), edit.new_tensor(slowest())
    if even is not None:
        edit = torch.where(even[:, None, None, None], keep @ edit @ keep, edit)
    limit = COLOUR / 127.5
    parts = torch.einsum("nchw,ck->nkhw", edit, matrix)
    parts = torch.cat([parts[:, :1], limit * torch.tanh(parts[:, 1:] / limit)], 1)
    bright = light(face, mask)[:, None, None, None]
    return bright * torch.einsum("nkhw,kc->nchw", parts, torch.linalg.inv(matrix))


def light(face: Tensor, mask: Tensor) -> Tensor:
    """Return how much of an edit each face bears: `temper.light`, in torch."""
    luma = torch.einsum("nchw,c->nhw", face, face.new_tensor(TO_LUMA_CHROMA[:, 0]))[:, None]
    level = (luma * mask).sum((1, 2, 3)) / mask.sum()
    return ((level + 1) * 127.5 / BRIGHT).clamp(LEAST, 1.0)


def colouring(edit: Tensor) -> Tensor:
    """Return the mean absolute change of colour, lightness apart."""
    return torch.einsum("nchw,ck->nkhw", edit, edit.new_tensor(TO_LUMA_CHROMA[:, 1:])).abs().mean()


def roughness(edit: Tensor) -> Tensor:
    """Return the mean absolute second difference of an edit: high for checkerboards, low for shading."""
    across = edit[..., 2:] - 2 * edit[..., 1:-1] + edit[..., :-2]
    down = edit[..., 2:, :] - 2 * edit[..., 1:-1, :] + edit[..., :-2, :]
    return across.abs().mean() + down.abs().mean()


def _between_poles(value: Tensor, random: torch.Generator) -> Tensor:
    n, device = len(value), value.device
    first = torch.randint(len(RACES), (n,), generator=random, device=device)
    step = torch.randint(1, len(RACES), (n,), generator=random, device=device)
    near, far = (functional.one_hot(at % len(RACES), len(RACES)).float() for at in (first, first + step))
    return (near + far) / 2 + value[:, None] / 2 * (far - near)


def _binary(logit: Tensor, target: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logit, target.clamp(0, 1), reduction="none")

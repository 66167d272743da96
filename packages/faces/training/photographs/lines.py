"""Cues of photographs, and the scale that readings and values share."""

from __future__ import annotations

from typing import Any

import torch

from portrayal.pictures.series.manifest import FACE_ONLY
from portrayal_faces.generator.readings import WILD_WEIGHS
from portrayal_faces.generator.steering import Line, lines, reach
from portrayal_faces.series.attributes import RACES

LINES: list[Line] = lines()
# Log odds that one unit of a value is: value 2 is what the face alone is asked for in the series of generated people.
# Values count from a reading of 0, as they do there: no *face only* series has another middle.
UNITS = [reach(line, FACE_ONLY) / 2 for line in LINES]
FARTHEST = 3.2  # values beyond are asked of nobody
WIDTH = 2 * len(LINES)  # of a condition: which cue, and its value
GENDER = slice(0, 1)
READ = 7  # readings of `perceived`
# How often each cue is drawn: gender and White to East Asian have the smallest changes and are learnt last.
SHARES = (0.4, 0.15, 0.3, 0.15)
Tensor = Any


def perceived(own: Tensor, wild: Tensor) -> Tensor:
    """Return gender, three ages and three contrasts (n x 7) of raw readings."""
    gender = (own[:, :1] + WILD_WEIGHS * wild[:, 1:2]) / 2
    ages = torch.cat([own[:, 1:3], (wild[:, :1] - 40) / 15], 1)
    races = own[:, 3 : 3 + len(RACES)]
    contrasts = [races[:, RACES.index(line.poles[1])] - races[:, RACES.index(line.poles[0])] for line in LINES[1:]]
    return torch.cat([gender, ages, torch.stack(contrasts, 1)], 1)


def value_of(read: Tensor, cue: Tensor) -> Tensor:
    """Return the value that readings (n x 7) have along each row's cue."""
    along = torch.cat([read[:, GENDER], read[:, 4:]], 1)
    units = torch.tensor(UNITS, device=read.device)
    picked = (along / units).gather(1, cue[:, None])[:, 0]
    return picked.clamp(-FARTHEST, FARTHEST)


def column(cue: Tensor) -> Tensor:
    """Return where the reading of a cue lies in those of `perceived`."""
    return torch.where(cue > 0, cue + 3, 0)


def condition(cue: Tensor, value: Tensor) -> Tensor:
    """Return the condition: a mark in the cue's place, then half the value."""
    marks = torch.nn.functional.one_hot(cue, len(LINES)).float()
    return torch.cat([marks, marks * value[:, None] / 2], 1)

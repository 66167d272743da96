"""Quick figures during training, on generated people and photographs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.generated.studio import GpuStudio
from training.photographs.lines import LINES, condition
from training.photographs.objective import Eyes
from training.photographs.pairs import Families

Tensor = Any
STEPS = (-2.0, -1.0, 0.0, 1.0, 2.0)
PHOTOGRAPHS = 96


def edited(editor: Any, faces: Tensor, cue: int, value: float, batch: int = 48) -> Tensor:
    """Return faces (uint8) at a value of a cue (uint8)."""
    pictures = []
    with torch.no_grad():
        for part in faces.split(batch):
            planes = part.float() / 127.5 - 1
            conditions = condition(
                torch.full((len(part),), cue, device=part.device), torch.full((len(part),), value, device=part.device)
            )
            edit, _ = editor(planes, conditions)
            pictures.append((((planes + edit).clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8))
    return torch.cat(pictures)


def figures(editor: Any, studio: GpuStudio, eyes: Eyes, families: Families, start: int, real: Tensor) -> dict[str, Any]:
    """Return readings at five values of each cue, of generated people and of photographs."""
    people = families.pictures[families.members[start:, 0]][:PHOTOGRAPHS]
    readings = {"generated": read_along(editor, studio, eyes, people)}
    return readings | ({"photographs": read_along(editor, studio, eyes, real[:PHOTOGRAPHS])} if len(real) else {})


def read_along(editor: Any, studio: GpuStudio, eyes: Eyes, faces: Tensor) -> dict[str, Any]:
    """Return mean readings by cue at STEPS, of steering and of judging networks."""
    readings: dict[str, Any] = {}
    for cue, line in enumerate(LINES):
        steps = [edited(editor, faces, cue, value) for value in STEPS]
        with torch.no_grad():
            read = [
                torch.cat([eyes.read(part.float() / 127.5 - 1) for part in one.split(48)]).mean(0).cpu()
                for one in steps
            ]
        place = cue + 3 if cue else 0
        readings["-".join((line.attribute, *line.poles))] = {
            "cue": [round(float(one[place]), 2) for one in read],
            "years": [round(float(one[1] + one[2]) * 7.5 + 40, 1) for one in read],
            "judged female": [round(float(studio.female(one).mean()), 3) for one in steps],
            "judged years": [round(float(studio.years(one).mean()), 1) for one in steps],
            "size": [round(float(studio.distance(one, faces).mean()), 1) for one in steps],
        }
    return readings


def sheet(editor: Any, families: Families, start: int, out: Path, people: int = 5) -> None:
    """Write strips of generated people not trained on, five of each cue."""
    from PIL import Image

    faces = families.pictures[families.members[start:, 0]][: people * 2 : 2]
    rows = []
    for cue in range(len(LINES)):
        steps = [faces, *(edited(editor, faces, cue, value) for value in STEPS)]
        rows.append(torch.stack(steps, 1).permute(0, 3, 1, 4, 2).flatten(2, 3).flatten(0, 1).cpu().numpy())
    Image.fromarray(np.concatenate(rows)).save(out, quality=88)

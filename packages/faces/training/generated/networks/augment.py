"""Other views of a face for training: turned, scaled, mirrored, relit, blurred, partly hidden."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional


def augment(faces: Any, side: int, zoom: tuple[float, float] = (0.7, 1.2)) -> Any:
    """Return one random view of each face, at `side` pixels."""
    return _hidden(_blurred(_relit(_moved(faces, side, zoom))))


def resized(faces: Any, side: int) -> Any:
    """Return faces at `side` pixels, averaged where they shrink."""
    if faces.shape[-1] == side:
        return faces
    return functional.interpolate(faces, size=(side, side), mode="bilinear", antialias=True)


def _uniform(faces: Any, low: float, high: float, *shape: int) -> Any:
    return low + (high - low) * torch.rand(len(faces), *shape, device=faces.device)


def _moved(faces: Any, side: int, zoom: tuple[float, float]) -> Any:
    turn, scale = _uniform(faces, -0.3, 0.3), _uniform(faces, *zoom)
    mirror = (_uniform(faces, 0, 1) < 0.5).float() * 2 - 1
    across, down = _uniform(faces, -0.12, 0.12), _uniform(faces, -0.12, 0.12)
    rows = [
        torch.stack([scale * turn.cos() * mirror, -scale * turn.sin(), across], 1),
        torch.stack([scale * turn.sin() * mirror, scale * turn.cos(), down], 1),
    ]
    grid = functional.affine_grid(torch.stack(rows, 1), [len(faces), 3, side, side], align_corners=False)
    return functional.grid_sample(faces, grid, align_corners=False, padding_mode="reflection")


def _relit(faces: Any) -> Any:
    middle = faces.mean((1, 2, 3), keepdim=True)
    lit = (faces - middle) * _uniform(faces, 0.65, 1.35, 1, 1, 1) + middle + _uniform(faces, -0.3, 0.3, 1, 1, 1)
    lit = lit + _uniform(faces, -0.08, 0.08, 3, 1, 1)
    grey = (_uniform(faces, 0, 1, 1, 1, 1) < 0.1).float()
    return lit * (1 - grey) + lit.mean(1, keepdim=True) * grey


def _blurred(faces: Any) -> Any:
    """Shrink half of the faces by 2 or 3 and enlarge them, like small photographs."""
    half, side = len(faces) // 2, faces.shape[-1]
    small = side // int(torch.randint(2, 4, ()))
    soft = functional.interpolate(resized(faces[:half], small), size=(side, side), mode="bilinear")
    return torch.cat([soft, faces[half:]])


def _hidden(faces: Any) -> Any:
    side = faces.shape[-1]
    place = torch.arange(side, device=faces.device)
    across, down = _uniform(faces, 0, side, 1, 1, 1), _uniform(faces, 0, side, 1, 1, 1)
    hole = ((place.view(1, 1, 1, -1) - across).abs() < side / 8) & ((place.view(1, 1, -1, 1) - down).abs() < side / 8)
    return torch.where(hole, torch.zeros_like(faces), faces)

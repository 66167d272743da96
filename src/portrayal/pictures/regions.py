"""Regions around a face, and the share of a map's mass on each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from portrayal.errors import PortrayalError

Box = tuple[float, float, float, float]


def face_regions(box: Box, side: int) -> dict[str, np.ndarray]:
    """Return masks of face, torso and background from a face's box."""
    left, top, right, bottom = box
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise PortrayalError(f"face box {box} is not left, top, right, bottom as shares of the side.")
    y, x = (np.mgrid[:side, :side] + 0.5) / side
    face = (x >= left) & (x < right) & (y >= top) & (y < bottom)
    width = right - left
    torso = (x >= left - width) & (x < right + width) & (y >= bottom)
    return {"face": face, "torso": torso, "background": ~(face | torso)}


def region_shares(heat: np.ndarray, regions: Mapping[str, np.ndarray]) -> dict[str, float | None]:
    """Return the share of a map's mass in each region; None without mass."""
    masks = list(regions.values())
    if any(mask.shape != heat.shape for mask in masks):
        raise PortrayalError(f"a region has another shape than the map {heat.shape}. Enlarge the map first.")
    if np.sum(masks, axis=0).max(initial=0) > 1:
        raise PortrayalError("two regions overlap. Each point may lie in one region only.")
    total = float(heat.sum())
    if not np.isfinite(total) or total <= 0:
        return dict.fromkeys(regions)
    return {name: float(heat[mask].sum() / total) for name, mask in regions.items()}

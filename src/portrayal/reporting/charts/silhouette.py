"""Saliency maps over a neutral silhouette, so that no photograph of anybody enters a report."""

from __future__ import annotations

import io

import numpy as np

SIDE = 256
GROUND, FIGURE = 244, 205  # grey
HOT = np.array([194.0, 84.0, 58.0])


def silhouette(side: int = SIDE) -> np.ndarray:
    """Return head and shoulders in grey, side x side x 3."""
    y, x = (np.mgrid[:side, :side] + 0.5) / side
    head = ((x - 0.5) / 0.13) ** 2 + ((y - 0.25) / 0.17) ** 2 < 1
    neck = (np.abs(x - 0.5) < 0.055) & (y > 0.35) & (y < 0.5)
    shoulders = ((x - 0.5) / 0.36) ** 2 + ((y - 1.0) / 0.53) ** 2 < 1
    grey = np.where(head | neck | shoulders, FIGURE, GROUND).astype(float)
    return np.repeat(grey[:, :, None], 3, axis=2)


def overlay(heat: np.ndarray, side: int = SIDE) -> bytes:
    """Return a PNG of a map over a silhouette."""
    from PIL import Image

    scaled = np.asarray(heat, float) / max(float(np.max(heat)), 1e-12)
    layer = Image.fromarray((255 * scaled).astype(np.uint8)).resize((side, side), Image.Resampling.BILINEAR)
    weight = np.asarray(layer, float)[:, :, None] / 255 * 0.85
    buffer = io.BytesIO()
    Image.fromarray((silhouette(side) * (1 - weight) + HOT * weight).astype(np.uint8)).save(buffer, format="PNG")
    return buffer.getvalue()


def strip(maps: dict[str, np.ndarray], side: int = 180) -> bytes:
    """Return one PNG of several maps, six in a row, each over its own silhouette."""
    from PIL import Image, ImageDraw

    columns = min(6, len(maps))
    rows = -(-len(maps) // columns)
    sheet = Image.new("RGB", (columns * (side + 8) - 8, rows * (side + 8) - 8), "white")
    for place, (name, heat) in enumerate(maps.items()):
        with Image.open(io.BytesIO(overlay(heat, side))) as picture:
            ImageDraw.Draw(picture).text((8, 6), name, fill=(40, 48, 60))
            sheet.paste(picture, ((place % columns) * (side + 8), (place // columns) * (side + 8)))
    buffer = io.BytesIO()
    sheet.save(buffer, format="PNG")
    return buffer.getvalue()

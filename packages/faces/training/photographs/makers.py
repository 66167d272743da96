"""Makers of changed photographs behind one interface: photograph, cue, values to pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from portrayal.pictures.faces import Face
from portrayal_faces.generator.steering import Line
from portrayal_faces.photographs.editor import open_editor
from portrayal_faces.photographs.means import Means, open_means
from portrayal_faces.photographs.series import Changed, make_series
from portrayal_faces.series.suitability import Inspection
from training.photographs.adults import SIDE, Adult

Maker = Callable[[Adult, Line, Sequence[float]], list[Any]]


def mean_faces(path: Path, strength: float | None = None) -> Maker:
    """Return the baseline of mean-face differences, with its own or a given strength."""
    means = open_means(path)
    return laid(means.series) if strength is None else moved(means, strength)


def moved(means: Means, strength: float) -> Maker:
    """Return mean-face differences inside the parser's mask, all as strong."""
    return laid(replace(means, strengths=dict.fromkeys(means.strengths, strength)).series)


def editor(path: Path, masked: bool = True) -> Maker:
    """Return the network of an ONNX file, inside the parser's mask."""
    return laid(open_editor(path).series, masked)


def nothing(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
    """Change nothing: what a table must show as no shift at all."""
    return [adult.picture for _ in values]


def laid(changed: Changed, masked: bool = True) -> Maker:
    """Return what lays changed faces into photographs as the package does."""

    def made(adult: Adult, line: Line, values: Sequence[float]) -> list[Any]:
        axis = (line.attribute, *line.poles)
        return make_series(adult.picture, _seen(adult), changed, axis, values, masked).pictures

    return made


def _seen(adult: Adult) -> Inspection:
    """Return the face of a photograph that is aligned already."""
    return Inspection(Face((0.0, 0.0, float(SIDE), float(SIDE)), 1.0, adult.landmarks), 1)

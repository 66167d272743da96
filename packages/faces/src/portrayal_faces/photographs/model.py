"""Makers that change photographs, one for each attribute; age has none.

A pair whose check the maker misses is refused: along a series in which age changes too, nothing is known of the cue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.pictures.series.values import steps
from portrayal_faces.photographs.editor import open_editor
from portrayal_faces.photographs.means import open_means
from portrayal_faces.photographs.series import make_series
from portrayal_faces.series.series import Series
from portrayal_faces.series.suitability import Inspection

FOLDER = Path(str(files("portrayal_faces.photographs"))) / "model"


class Maker(Protocol):
    """Changes aligned faces along the cues it knows."""

    @property
    def identity(self) -> str:
        """A hash of its file."""

    def require(self, attribute: str, poles: Sequence[str]) -> None:
        """Refuse a cue it does not know."""

    def series(
        self,
        face: np.ndarray,
        attribute: str,
        values: Sequence[float],
        poles: Sequence[str],
        landmarks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the face at each value; landmarks are those of the aligned face."""


MAKERS: dict[str, Callable[[Path], Maker]] = {".onnx": open_editor, ".npz": open_means}  # by the ending of their file
CHOSEN = {"gender": "editor.onnx", "race": "means.npz"}
# Pairs of race whose check the chosen maker misses on held-out adults (its card has the figures), with what it misses.
MISSED = {frozenset(("Black", "East Asian")): "perceived age goes along"}


@dataclass(frozen=True)
class Model:
    """The makers, by attribute."""

    makers: Mapping[str, Maker]
    missed: Mapping[frozenset[str], str] = field(default_factory=dict)  # pairs that are refused

    @property
    def identity(self) -> str:
        """Digest for names of folders."""
        lines = "".join(f"{name} {one.identity}\n" for name, one in sorted(self.makers.items()))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]

    def require(self, axes: Sequence[Sequence[str]]) -> None:
        """Refuse axes (an attribute, and the poles of race) that photographs cannot be changed along."""
        for attribute, *poles in axes:
            if attribute != "placebo":
                steps(attribute)  # refuses what cannot be varied
                self.makers[attribute].require(attribute, poles)
                self._refuse_missed(poles)

    def _refuse_missed(self, poles: Sequence[str]) -> None:
        if reason := self.missed.get(frozenset(poles)):
            raise PortrayalError(
                f"photographs are not changed between {' and '.join(poles)}: what ships misses its check there ({reason}; see "
                'docs/counterfactuals_photographs.md). Use the generated people (series = "shipped"), other poles, or a maker '
                "of one's own (portrayal faces apply --model FILE)."
            )

    def changed(
        self,
        face: np.ndarray,
        attribute: str,
        values: Sequence[float],
        poles: Sequence[str] = (),
        landmarks: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return an aligned face at each value of a cue."""
        steps(attribute)
        return self.makers[attribute].series(face, attribute, values, poles, landmarks)

    def series(self, picture: Any, seen: Inspection, axis: Sequence[str], masked: bool = True, seed: int = 0) -> Series:
        """Return the series of an axis: an attribute, and the two poles of race."""
        return make_series(picture, seen, self.changed, axis, masked=masked, seed=seed)


@cache
def open_model(path: Path | str | None = None) -> Model:
    """Open the makers that ship, or the file of one that changes everything."""
    if path is None:
        return Model({name: _opened(FOLDER / file) for name, file in CHOSEN.items()}, MISSED)
    only = _opened(Path(path))
    return Model(dict.fromkeys(CHOSEN, only))


def _opened(path: Path) -> Maker:
    if path.suffix not in MAKERS:
        raise PortrayalError(
            f"no model of photographs at {path}. Expected a file that ends in {' or '.join(MAKERS)}; see "
            "docs/counterfactuals_photographs.md."
        )
    return MAKERS[path.suffix](path)

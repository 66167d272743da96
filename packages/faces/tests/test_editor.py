"""The network that changes photographs, as the package runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal_faces.generator.studio import SMALL
from portrayal_faces.photographs.editor import SIDE, Editor, conditions, open_editor


class Session:
    """Adds a tenth of half the value everywhere, whatever its own mask of the left half says."""

    def run(self, _: Any, given: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Return the edit and the mask."""
        mask = np.zeros((1, 1, SIDE, SIDE), np.float32)
        mask[..., : SIDE // 2] = 1
        return [np.full_like(given["face"], 0.1 * given["condition"][0, 4:].sum()), mask]


FACE = np.full((SIDE, SIDE, 3), 100, np.uint8)


def test_a_value_changes_the_face_inside_the_mask_and_nothing_outside() -> None:
    made = Editor(Session(), "x").series(FACE, "gender", [-2.0, 0.0, 2.0])
    # Half of 2 is 1, a tenth of it .1, which is 12.75 levels: 87.25 and 112.75 before rounding.
    assert made[:, 0, 0, 0].tolist() == [87, 100, 113]
    assert (made[:, :, SIDE // 2 :] == 100).all() and made.dtype == np.uint8


def test_levels_end_at_black_and_white() -> None:
    bright = np.full_like(FACE, 250)
    assert Editor(Session(), "x").series(bright, "gender", [2.0]).max() == 255


def test_poles_the_other_way_round_turn_the_sign() -> None:
    there, back = (conditions("race", [1.0], poles) for poles in (("White", "Black"), ("Black", "White")))
    assert there.tolist() == [[0, 1, 0, 0, 0, 0.5, 0, 0]]
    assert back.tolist() == [[0, 1, 0, 0, 0, -0.5, 0, 0]]


@pytest.mark.parametrize(
    ("attribute", "poles"),
    [("age", ()), ("gender", ("White", "Black")), ("race", ()), ("race", ("White", "Indian")), ("race", ("White",))],
)
def test_what_it_never_learnt_is_refused(attribute: str, poles: tuple[str, ...]) -> None:
    with pytest.raises(PortrayalError, match="Known: gender, race White to Black"):
        conditions(attribute, [1.0], poles)


@pytest.mark.parametrize("face", [np.zeros((SIDE, SIDE), np.uint8), np.zeros((128, 128, 3), np.uint8), FACE / 255])
def test_a_face_of_another_shape_is_refused(face: np.ndarray) -> None:
    with pytest.raises(PortrayalError, match="expected a face of 256 x 256 x 3 whole levels"):
        Editor(Session(), "x").series(face, "gender", [1.0])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PortrayalError, match=r"gone\.onnx"):
        open_editor(tmp_path / "gone.onnx")


def test_a_file_that_is_no_network_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("x", encoding="utf-8")
    with pytest.raises(PortrayalError, match="is no network that ONNX Runtime can open") as refused:
        open_editor(tmp_path / "text.onnx")
    assert "\n" not in str(refused.value)
    with pytest.raises(PortrayalError, match="expected a network that is given 'face' and 'condition', but"):
        open_editor(SMALL / "parser.onnx")

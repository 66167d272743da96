"""The network that changes photographs: its parts, and the whole command on a studio without weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from training.generated.nets import ResidualReader  # noqa: E402
from training.generated.readers import OUTPUTS  # noqa: E402
from training.photographs import mean_faces, pairs, train, views  # noqa: E402
from training.photographs.editor import Editor, warped  # noqa: E402
from training.photographs.export import export  # noqa: E402
from training.photographs.lines import UNITS, condition, value_of  # noqa: E402

from portrayal.vision.generator.directions import Compass  # noqa: E402
from portrayal.vision.generator.readings import COLUMNS  # noqa: E402


class Wild:
    """Reads age and gender from mean colours."""

    def _read(self, crops: Any) -> Any:
        mean = crops.mean((2, 3))
        return torch.stack([45 + mean[:, 0] / 100, (mean[:, 1] - mean[:, 2]) / 40], 1)

    def read(self, crops: Any) -> Any:
        """Read without gradients."""
        with torch.no_grad():
            return self._read(crops)


class Studio:
    """Pictures are blobs coloured by their style; everybody is 44."""

    synthesis = None

    def __init__(self, _: Path, device: str, batch: int = 48) -> None:
        torch.manual_seed(0)
        self.device, self.batch, self.wild = device, batch, Wild()
        self.nets = [ResidualReader(OUTPUTS, 8).eval() for _ in range(2)]
        self.basis = torch.randn(512, 3 * 8 * 8) / 20

    def styles(self, count: int, seed: int, *_: Any) -> tuple[Any, Any]:
        """Draw styles."""
        drawn = torch.randn(count, 512, generator=torch.Generator().manual_seed(seed))
        return drawn, drawn.mean(0)

    def render(self, styles: np.ndarray) -> Any:
        """Colour blobs."""
        small = torch.tanh(torch.as_tensor(np.asarray(styles, np.float32)) @ self.basis).view(-1, 3, 8, 8)
        return ((torch.nn.functional.interpolate(small, size=64) + 1) * 127.5).to(torch.uint8)

    def regions(self, pictures: Any) -> Any:
        """An oval is face."""
        side = pictures.shape[-1]
        place = (torch.arange(side) + 0.5) / side
        inside = ((place[None] - 0.5) / 0.3) ** 2 + ((place[:, None] - 0.55) / 0.4) ** 2 < 1
        return inside.float().expand(len(pictures), side, side)

    def years(self, pictures: Any) -> np.ndarray:
        """Everybody is 44."""
        return np.full(len(pictures), 44.0)

    def female(self, pictures: Any) -> np.ndarray:
        """Nobody can tell."""
        return np.full(len(pictures), 0.5)

    def distance(self, first: Any, second: Any) -> np.ndarray:
        """Root mean square difference."""
        return (first.float() - second.float()).square().mean((1, 2, 3)).sqrt().numpy()


def test_a_condition_marks_its_cue_and_tells_half_the_value() -> None:
    told = condition(torch.tensor([0, 2]), torch.tensor([-2.0, 1.0]))
    assert told.tolist() == [[1, 0, 0, 0, -1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0.5, 0]]


def test_a_value_is_the_reading_in_units_of_its_cue() -> None:
    # Gender's unit is 3 x .75 / 2 = 1.125, White to Black's 3.6 x .75 / 2 = 1.35, of which 2.7 is twice.
    read = torch.tensor([[1.125, 0, 0, 0, 9, 9, 9], [9, 0, 0, 0, 2.7, 9, 9.0]])
    assert UNITS[:2] == pytest.approx([1.125, 1.35])
    assert value_of(read, torch.tensor([0, 1])).tolist() == pytest.approx([1.0, 2.0])


def test_a_flow_of_nothing_leaves_a_face_alone_and_one_of_a_pixel_moves_it() -> None:
    face = torch.rand(1, 3, 16, 16)
    assert torch.allclose(warped(face, torch.zeros(1, 2, 16, 16)), face, atol=1e-5)
    across = torch.zeros(1, 2, 16, 16)
    across[:, 0] = 1 / 16  # each pixel comes from its right neighbour
    assert torch.allclose(warped(face, across)[..., :-1], face[..., 1:], atol=1e-5)


def test_views_change_both_pictures_alike() -> None:
    torch.manual_seed(1)
    face, mask = torch.rand(6, 3, 32, 32) * 1.2 - 0.6, torch.ones(6, 1, 32, 32)
    first, second, _ = views.views(face, face, mask)
    assert torch.allclose(first, second, atol=1e-5)
    assert not torch.allclose(first, face, atol=0.05)


def test_a_family_with_one_young_step_is_left_out() -> None:
    readings = np.zeros((3, pairs.MEMBERS, len(COLUMNS)))  # 0 is 40 years
    judged = np.full((3, pairs.MEMBERS), 44.0)
    judged[1, 2] = 24.9
    readings[2, 3, COLUMNS.index("age again")] = -0.7  # 29.5 years
    assert pairs.adult_families(readings, judged).tolist() == [True, False, False]


def test_nobody_read_as_a_child_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studio, width = Studio(tmp_path, "cpu"), len(COLUMNS)
    monkeypatch.setattr(
        studio, "years", lambda pictures: np.arange(len(pictures)) * 24.0
    )  # 0, 24, 48 and 72 years
    monkeypatch.setattr(pairs, "read_quick", lambda _, pictures: np.zeros((len(pictures), width)))
    compass = Compass(
        np.zeros(512), np.eye(512), np.eye(512)[:, :width], np.ones(width), np.ones(width), np.eye(512)
    )
    people = studio.styles(4, 0)[0].double().numpy()
    found, cues = pairs.family_styles(studio, compass, people, np.random.default_rng(0))  # type: ignore[arg-type]
    assert found.shape == (2, pairs.CUES, pairs.MEMBERS, 512) and cues.shape == (2, pairs.CUES)
    assert (found[:, 0, 0] == people[2:]).all()


def test_a_family_whose_age_drifts_is_left_out() -> None:
    readings = np.zeros((2, pairs.MEMBERS, len(COLUMNS)))
    readings[1, 0, COLUMNS.index("years")] = 0.8  # 12 years
    assert pairs.adult_families(readings, np.full((2, pairs.MEMBERS), 44.0)).tolist() == [True, False]


def test_the_network_changes_nothing_where_its_mask_is_zero(tmp_path: Path) -> None:
    import onnxruntime

    torch.manual_seed(0)
    editor = Editor().eval()
    with torch.no_grad():
        editor.last.bias[3] = -9.0  # log odds of the mask
    torch.save(editor.state_dict(), tmp_path / "weights.pt")
    assert export(tmp_path / "weights.pt", tmp_path / "editor.onnx", 32) < 15_000_000
    session = onnxruntime.InferenceSession(str(tmp_path / "editor.onnx"), providers=["CPUExecutionProvider"])
    given = {
        "face": np.random.default_rng(0).uniform(-1, 1, (1, 3, 32, 32)).astype(np.float32),
        "condition": np.ones((1, 8), np.float32),
    }
    edit, mask = session.run(None, given)
    assert (mask == 0).all() and (edit == 0).all()


def test_one_command_trains_exports_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    random = np.random.default_rng(0)
    width = len(COLUMNS)
    slopes = random.standard_normal((512, width)) / 20
    Compass(np.zeros(512), np.eye(512), slopes, np.ones(width), np.ones(width), np.eye(512)).save(
        tmp_path / "compass.npz"
    )
    monkeypatch.setattr(train, "GpuStudio", Studio)
    monkeypatch.setattr(pairs, "adults", lambda _, judged: np.ones(len(judged), bool))
    for number in range(2):
        stored = {
            name: one.half() if one.is_floating_point() else one
            for name, one in ResidualReader(OUTPUTS, 8).state_dict().items()
        }
        torch.save(stored, tmp_path / f"reader{number}.pt")
    said = [
        str(tmp_path),
        str(tmp_path),
        str(tmp_path / "out"),
        "--people",
        "6",
        "--chunk",
        "4",
        "--batch",
        "3",
        "--side",
        "64",
    ]
    train.main([*said, "--steps", "2"])
    train.main([*said, "--steps", "3"])
    told = capsys.readouterr().out
    assert "goes on at step 2" in told and "step 3 " in told and "no ONNX" not in told
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "weights.pt",
        "figures.json",
        "sheet.jpg",
        "editor.onnx",
    }


def test_a_difference_of_mean_faces_moves_one_onto_the_other() -> None:
    place = np.indices((128, 128)) - 64
    first, second = (
        np.repeat(200 * np.exp(-(place[0] ** 2 + (place[1] - off) ** 2) / 200)[:, :, None], 3, 2)
        for off in (0, 4)
    )
    found = mean_faces.difference(first, second)
    near = np.s_[44:84, 44:84]
    moved = found.changed(first.round().astype(np.uint8), 1.0, np.ones((128, 128))).astype(float)
    assert np.abs(moved[near] - second[near]).mean() < 0.35 * np.abs(first[near] - second[near]).mean()
    assert (found.changed(first.astype(np.uint8), 0.0, np.ones((128, 128))) == first.astype(np.uint8)).all()

"""The network that changes photographs: its parts, and the whole command on a studio without weights."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from training.generated.networks.nets import ResidualReader  # noqa: E402
from training.generated.networks.readers import OUTPUTS  # noqa: E402
from training.photographs import mean_faces, pairs, table, train, views  # noqa: E402
from training.photographs.editor import Editor, warped  # noqa: E402
from training.photographs.export import export  # noqa: E402
from training.photographs.figures import edited  # noqa: E402
from training.photographs.lines import LINES, SHARES, UNITS, condition, value_of  # noqa: E402
from training.photographs.objective import (  # noqa: E402
    Batch,
    Eyes,
    counted,
    counted_real,
    evened,
    paired_loss,
    shares_of,
    where_it_changes,
)

from portrayal.errors import PortrayalError  # noqa: E402
from portrayal_faces.generator.directions import Compass  # noqa: E402
from portrayal_faces.generator.readings import COLUMNS  # noqa: E402
from portrayal_faces.photographs import editor as faces_editor  # noqa: E402
from portrayal_faces.photographs.model import CHOSEN, FOLDER  # noqa: E402


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


class Still:
    """An editor that adds a share of what is missing, a number for each pair."""

    def __init__(self, missing: Any, shares: list[float]) -> None:
        self.added = missing * torch.tensor(shares).view(-1, 1, 1, 1)

    def parts(self, faces: Any, _: Any) -> tuple[Any, Any, Any]:
        """Say an open mask and no flow."""
        logits = torch.full_like(faces[:, :1], 20.0)
        return torch.zeros_like(faces[:, :2]), self.added, logits


def test_leaving_gender_undone_costs_as_much_as_leaving_race_undone(tmp_path: Path) -> None:
    # Gender changes pixels by .1, race by .4, .25 on average: they count 2.5 and .625 fold, so either undone is .25 off.
    # Two pairs: .25 / 2 = .125 on average, times 1 + 3 x mask = 4 is .5; pooled over 4 and 16 pixels .125 + .125.
    given = torch.zeros(2, 3, 64, 64)
    wanted = given + torch.tensor([0.1, 0.4]).view(2, 1, 1, 1)
    batch = Batch(given, wanted, torch.ones(2, 1, 64, 64), torch.tensor([0, 1]), torch.tensor([1.0, 1.0]))
    eyes = Eyes(Studio(tmp_path, "cpu"))  # type: ignore[arg-type]
    for shares in ([0.0, 1.0], [1.0, 0.0]):
        terms, _ = paired_loss(Still(wanted - given, shares), eyes, batch)
        assert float(terms["pixels"]) == pytest.approx(0.5, abs=1e-5)
        assert float(terms["coarse"]) == pytest.approx(0.25, abs=1e-5)


def test_pairs_without_a_change_are_not_blown_up() -> None:
    given = torch.zeros(2, 3, 16, 16)
    wanted = given + torch.tensor([0.0, 0.4]).view(2, 1, 1, 1)
    batch = Batch(given, wanted, given[:, :1], torch.tensor([0, 1]), torch.zeros(2))
    # .2 on average: two levels (2 / 127.5) is the least a cue is taken to change, so .2 x 63.75 = 12.75; .2 / .4 = .5.
    assert evened(batch).tolist() == pytest.approx([12.75, 0.5])


def test_pixels_count_by_how_much_they_change() -> None:
    given = torch.zeros(1, 3, 4, 4)
    wanted = given.clone()
    wanted[..., 0], wanted[..., 1] = 0.2, 0.4
    mask = torch.ones(1, 1, 4, 4)
    mask[..., 3] = 0
    # In the mask three columns change by .2, .4 and 0, by .2 on average: 1 + 3 x 1, 1 + 3 x 2, 1, and 1 outside.
    found = where_it_changes(Batch(given, wanted, mask, torch.tensor([0]), torch.zeros(1)))
    assert found[0, 0, 0].tolist() == pytest.approx([4.0, 7.0, 1.0, 1.0])


def test_the_cue_counts_more_than_each_reading_that_is_held() -> None:
    # Gender, three ages, three contrasts; of the second pair of race (cue 2) the contrast lies in place 5.
    cue = torch.tensor([0, 2])
    assert counted(cue).tolist() == [[3, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 3, 1]]
    assert counted_real(cue).tolist() == [[3, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 3, 0]]


def test_cues_are_drawn_by_their_shares_however_many_families_each_has() -> None:
    cues = torch.tensor([0] * 6 + [1] * 2 + [2] + [3])
    weights = shares_of(cues)
    assert [float(weights[cues == cue].sum()) for cue in range(4)] == pytest.approx(list(SHARES))
    assert weights[0] == pytest.approx(0.4 / 6)


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
    monkeypatch.setattr(studio, "years", lambda pictures: np.arange(len(pictures)) * 24.0)  # 0, 24, 48 and 72 years
    monkeypatch.setattr(pairs, "read_quick", lambda _, pictures: np.zeros((len(pictures), width)))
    compass = Compass(np.zeros(512), np.eye(512), np.eye(512)[:, :width], np.ones(width), np.ones(width), np.eye(512))
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


def test_what_ships_runs_the_exported_network_as_it_was_trained(tmp_path: Path) -> None:
    torch.manual_seed(0)
    editor = Editor((8, 8, 8, 8)).eval()
    torch.nn.init.normal_(editor.last.weight, std=0.2)
    for block in (*editor.down, *editor.deep, *editor.up):
        torch.nn.init.normal_(block.told.weight, std=0.3)
    torch.save(editor.state_dict(), tmp_path / "weights.pt")
    export(tmp_path / "weights.pt", tmp_path / "editor.onnx")
    face = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    pixels = torch.from_numpy(face).permute(2, 0, 1)[None]
    network = faces_editor.open_editor(tmp_path / "editor.onnx")
    for cue, line in enumerate(LINES):
        made = network.series(face, line.attribute, [-2.0, 2.0], line.poles)
        for one, value in zip(made, (-2.0, 2.0), strict=True):
            wanted = edited(editor, pixels, cue, value)[0].permute(1, 2, 0).numpy()
            # Weights are stored in 16 bits: a level at most.
            assert np.abs(one.astype(int) - wanted).max() <= 1
        assert (made[0] != made[1]).any()


def test_the_cues_that_ship_are_those_trained() -> None:
    assert [(line.attribute, line.poles) for line in LINES] == list(faces_editor.CUES)
    for cue, (attribute, poles) in enumerate(faces_editor.CUES):
        told = condition(torch.tensor([cue]), torch.tensor([1.5])).numpy()
        assert (faces_editor.conditions(attribute, [1.5], poles) == told).all()


def test_one_command_trains_exports_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
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
    weights = tmp_path / "begin.pt"
    (tmp_path / "out" / "weights.pt").rename(weights)
    (tmp_path / "editor.pt").unlink()
    train.main([*said, "--steps", "1", "--begin", str(weights)])
    told = capsys.readouterr().out
    assert "goes on at step 2" in told and "step 3 " in told and "no ONNX" not in told
    assert "begins with begin.pt" in told and "seconds a step" in told
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "weights.pt",
        "figures.json",
        "sheet.jpg",
        "editor.onnx",
    }


def test_a_difference_of_mean_faces_moves_one_onto_the_other() -> None:
    place = np.indices((128, 128)) - 64
    first, second = (
        np.repeat(200 * np.exp(-(place[0] ** 2 + (place[1] - off) ** 2) / 200)[:, :, None], 3, 2) for off in (0, 4)
    )
    found = mean_faces.difference(first, second)
    near = np.s_[44:84, 44:84]
    moved = found.changed(first.round().astype(np.uint8), 1.0).astype(float)
    assert np.abs(moved[near] - second[near]).mean() < 0.35 * np.abs(first[near] - second[near]).mean()
    assert (found.changed(first.astype(np.uint8), 0.0) == first.astype(np.uint8)).all()


def test_card_and_page_show_the_figures_that_were_judged() -> None:
    from training.photographs.card import card

    told = json.loads((FOLDER / "card.json").read_text(encoding="utf-8"))
    page = (FOLDER / "CARD.md").read_text(encoding="utf-8")
    assert page == card(told)
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    pages = (Path(__file__).parents[4] / "docs").glob("counterfactuals*.md")
    here = [line for one in pages for line in one.read_text(encoding="utf-8").splitlines()]
    cues = sum(map(len, told["checks"].values()))
    assert cues == 8 and len(rows) == cues + 2 and set(rows) <= set(here)  # with heads and needs
    found = {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in CHOSEN.values()}
    assert told["files"] == found and told["makers"] == CHOSEN


def test_a_row_is_judged_once_and_named_without_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    for name in ("fit_judges", "people"):
        monkeypatch.setattr(f"training.photographs.table.{name}", lambda *_: {})
    monkeypatch.setattr("training.photographs.table.open_maker", lambda said: said)
    monkeypatch.setattr("training.photographs.table.judge", lambda *one: asked.append(one) or {"n": len(asked)})
    (tmp_path / "means.npz").write_bytes(b"one")
    models, kept = ["nothing", f"means={tmp_path}/means.npz@2"], tmp_path / "table-4.json"
    first = table.judged(tmp_path, tmp_path, models, 4, False, kept)
    assert table.judged(tmp_path, tmp_path, models, 4, False, kept) == first and len(asked) == 8
    (tmp_path / "means.npz").write_bytes(b"two")  # another file of the same name is judged anew
    table.judged(tmp_path, tmp_path, models, 4, False, kept)
    assert len(asked) == 12 and table.title(models[1]) == "means=means.npz@2"


def test_a_misspelt_maker_is_named() -> None:
    with pytest.raises(PortrayalError, match="no maker 'editr'. Did you mean 'editor'"):
        table.open_maker("editr")

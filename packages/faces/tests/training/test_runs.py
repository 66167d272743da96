"""A training in runs, small: it goes on where it stopped, refuses another plan, and writes model, samples and card."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from training.loaders import portraits
from typer.testing import CliRunner

from portrayal.errors import PortrayalError

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")

from training import drawn, runs  # noqa: E402
from training.__main__ import app  # noqa: E402
from training.render import pack_rendered  # noqa: E402
from training.runs import train  # noqa: E402
from training.trainer import Plan  # noqa: E402

PLAN = Plan(steps=4, batch=2)


@pytest.fixture(scope="module", autouse=True)
def uncounted() -> Iterator[None]:
    """Take a run's first step as any other: while torch counts operations it uses other kernels, which round otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "count_work", lambda trainer: trainer.advance() or 0.0)
        yield


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drawn") / "drawn.npz"
    pack_rendered(path, 24)
    return path


def weights(folder: Path) -> dict[str, torch.Tensor]:
    kept = torch.load(folder / "weights.pt", weights_only=True)
    return {f"{part}.{key}": value for part in ("encoder", "decoder") for key, value in kept[part].items()}


@pytest.fixture(scope="module")
def straight(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("straight")
    train(packed, out, PLAN, device="cpu", every=2)
    return out


def test_two_runs_end_where_one_run_does(packed: Path, straight: Path, tmp_path: Path):
    first = train(packed, tmp_path, PLAN, seconds=1e-9, device="cpu")  # the clock stops it after one step
    second = train(packed, tmp_path, PLAN, device="cpu")
    assert (first["steps"], second["steps"]) == (1, 4)
    assert [(run["from_step"], run["to_step"]) for run in second["runs"]] == [(0, 1), (1, 4)]
    one, two = weights(straight), weights(tmp_path)
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_another_plan_is_refused_with_what_differs(packed: Path, straight: Path):
    with pytest.raises(PortrayalError, match=r"made with batch = 2, and batch = 3 was asked for.*another --out"):
        train(packed, straight, Plan(steps=4, batch=3), device="cpu")


def test_curves_and_the_seed_are_kept(straight: Path):
    rows = list(csv.DictReader((straight / "curves.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == ["2", "4"] and float(rows[0]["likeness"]) > 0
    assert json.loads((straight / "figures.json").read_text())["seed"] == 0


def test_drawn_faces_train_by_command(tmp_path: Path, monkeypatch):
    packed, out = str(tmp_path / "drawn.npz"), str(tmp_path / "out")
    assert CliRunner().invoke(app, ["draw", "--out", packed, "--people", "24"]).exit_code == 0
    told = CliRunner().invoke(app, ["train", packed, "--out", out, "--steps", "2", "--batch", "2", "--seconds", "1"])
    assert told.exit_code == 0, told.output
    assert "images a second" in told.output
    card = (tmp_path / "out" / "model" / "CARD.md").read_text()
    # A training on a processor is not called one in bf16.
    assert "Not done yet" in card and " in float32,\n" in card
    monkeypatch.setattr(drawn, "PEOPLE", 3)
    told = CliRunner().invoke(app, ["psnr", "--training", out, "--name", "drawn ones", "--shown-in", out])
    assert json.loads(told.output.partition("card:")[0])["people"] == 3
    assert "(drawn ones, 3 people never trained on" in (tmp_path / "out" / "model" / "CARD.md").read_text()


def in_fairface_layout(folder: Path) -> Path:
    """Lay generated adults out as FairFace lays out its pictures: several sizes of each, so that every part has some."""
    rows = []
    for person in portraits():  # labelled from 20 on
        for side in (200, 224, 250):
            person.picture.convert("RGB").resize((side, side)).save(folder / f"{person.name}_{side}.jpg")
            sex = "Male" if person.gender == 1.0 else "Female"
            rows.append([f"{person.name}_{side}.jpg", "30-39", sex, "White"])
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["file", "age", "gender", "race"], *rows])
    return folder


def test_prepare_train_and_evaluate_by_command(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(drawn, "PEOPLE", 3)
    folder, packed, out = in_fairface_layout(tmp_path), str(tmp_path / "faces.npz"), str(tmp_path / "out")
    run = CliRunner().invoke
    assert run(app, ["prepare", str(folder), "--out", packed]).exit_code == 0
    with np.load(packed) as data:
        assert {"train", "choose", "held", "samples"} == set(data["parts"].tolist())
    assert run(app, ["train", packed, "--out", out, "--steps", "1", "--batch", "2"]).exit_code == 0
    told = run(app, ["evaluate", packed, str(folder), "--training", out, "--faces", "2"])
    assert told.exit_code == 0, told.output
    page = json.loads((tmp_path / "out" / "model" / "model.json").read_text())
    assert page["checks"]["left_out"]["used"] == 2 and page["checks"]["part"] == "held"
    card = (tmp_path / "out" / "model" / "CARD.md").read_text()
    assert "perceived gender is monotone" in card and "drawn faces" in card and "written this down" in card
    beside = ["--ablation", "without the skin mask", "--no-masked", "--shown-in", out]
    assert run(app, ["evaluate", packed, str(folder), "--training", out, "--faces", "2", *beside]).exit_code == 0
    assert "- without the skin mask: perceived gender moves by" in (tmp_path / "out" / "model" / "CARD.md").read_text()


@pytest.mark.parametrize("content", [b"hello", b"PK\x03\x04broken", b""])
def test_what_is_no_packed_file_is_named(tmp_path: Path, content: bytes):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(PortrayalError, match="is no packed file of faces"):
        train(tmp_path / "x.npz", tmp_path / "out", PLAN)


def test_evaluating_nothing_says_what_was_expected(tmp_path: Path):
    told = CliRunner().invoke(app, ["evaluate", "none.npz", str(tmp_path), "--training", str(tmp_path)])
    assert told.exit_code != 0 and "no weights.pt" in str(told.exception)

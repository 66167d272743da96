"""The training's parts, by hand and small; a whole training belongs on an accelerator."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from portrayal.errors import PortrayalError

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")

from training import objective  # noqa: E402
from training.attributes import FIRST_RACE, WIDTH  # noqa: E402
from training.batches import disturbed, moved, read_packed  # noqa: E402
from training.network import CODE, Decoder, Encoder, LatentCritics  # noqa: E402
from training.sheet import used_codes  # noqa: E402


@pytest.fixture
def random() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_a_reading_that_knows_nothing_costs_log_two():
    # Gender labelled, nothing else: cross-entropy of a coin is ln 2 = 0.6931.
    values = torch.full((1, WIDTH), float("nan"))
    values[0, 0] = 1.0
    assert objective.reading_loss(torch.zeros(1, WIDTH), values).item() == pytest.approx(0.6931, abs=1e-4)


def test_gender_aims_at_one_half_in_the_centre_and_race_at_its_poles(random: torch.Generator):
    values = torch.zeros(400, WIDTH)
    values[:, FIRST_RACE] = 1
    first = torch.arange(400) < 200
    go, aim = objective.targets(values, first, random, steep=1.5)
    assert go[:200, 0].abs().max() <= 2 and (go[200:, 0] == 0).all()
    order = go[:200, 0].argsort()
    assert (aim[:200, 0][order].diff() >= 0).all()  # the more masculine the value, the more masculine the aim
    assert torch.allclose(aim[200:, FIRST_RACE:].sum(1), torch.ones(200)) and (aim[200:, FIRST_RACE:] >= 0).all()
    assert (go[:, 1] == values[:, 1]).all()  # age is never varied


def test_a_checkerboard_is_rough_and_a_ramp_is_not():
    board = torch.tensor([[1.0, -1.0] * 4, [-1.0, 1.0] * 4] * 4)[None, None]
    ramp = torch.arange(64.0).view(1, 1, 8, 8)
    assert objective.roughness(board) == pytest.approx(8.0)  # second differences of +-1 are +-4, both ways
    assert objective.roughness(ramp) == pytest.approx(0.0)


def test_copies_are_disturbed_alike(random: torch.Generator):
    faces = torch.rand(3, 3, 128, 128)
    both = disturbed(torch.cat([faces, faces]), random, copies=2)
    assert torch.equal(both[:3], both[3:]) and not torch.equal(both[:3], faces)


def test_small_moves_keep_size_and_range(random: torch.Generator):
    face = moved(torch.full((2, 3, 152, 152), 255, dtype=torch.uint8), random)
    assert face.shape == (2, 3, 128, 128) and torch.allclose(face, torch.ones(()))


def test_erasing_leaves_a_linear_reader_nothing(random: torch.Generator):
    labels = torch.rand(600, generator=random) < 0.5
    codes = 0.3 * torch.randn(600, CODE * 64, generator=random)
    codes[:, :5] += 0.6 * labels[:, None]
    encoder = Encoder().eval()
    encoder.erase(codes, labels)
    flat = codes - ((codes - encoder.mean) * encoder.weight).sum(1, keepdim=True) * encoder.along
    gap = (flat[labels].mean(0) - flat[~labels].mean(0)).abs().max()
    assert gap < 0.02 < (codes[labels].mean(0) - codes[~labels].mean(0)).abs().max()


def test_the_code_in_use_lies_on_its_grid_and_decodes():
    encoder, decoder = Encoder().eval(), Decoder().eval()
    with torch.no_grad():
        code = used_codes(encoder, 2 * torch.rand(1, 3, 128, 128) - 1)
        face = decoder(code, torch.zeros(1, WIDTH))
    assert code.shape == (1, CODE, 8, 8) and torch.equal(code, code.round())
    assert face.shape == (1, 3, 128, 128)
    assert LatentCritics(3)(code).shape == (3, 1, WIDTH)


def test_a_packed_file_is_read_by_parts(tmp_path: Path):
    buffer = io.BytesIO()
    Image.new("RGB", (152, 152), "grey").save(buffer, "JPEG")
    raw = buffer.getvalue()
    np.savez(
        tmp_path / "faces.npz", jpegs=np.frombuffer(raw * 3, np.uint8), ends=np.cumsum([len(raw)] * 3),
        values=np.zeros((3, WIDTH), np.float32), parts=np.array(["train", "held", "train"]), about=json.dumps({"seed": 0}),
    )  # fmt: skip
    parts, about = read_packed(tmp_path / "faces.npz")
    assert (len(parts["train"]), len(parts["held"]), len(parts["samples"]), about["seed"]) == (2, 1, 0, 0)
    with pytest.raises(PortrayalError, match="no packed faces"):
        read_packed(tmp_path / "none.npz")


def test_a_probe_reads_a_planted_trace_and_no_other(random: torch.Generator):
    from training.probe import WITHIN, probe_codes

    train, held = (torch.randn(count, CODE * 64, generator=random) for count in (300, 200))
    targets, truth = (torch.rand(count, generator=random) < 0.5 for count in (300, 200))
    nothing = probe_codes(train, targets, held, truth)
    assert nothing["right"] / nothing["n"] - nothing["chance"] < 0.12
    held_trace = held + 2.0 * truth[:, None] * (torch.arange(CODE * 64) < 8)
    assert probe_codes(train, targets, held_trace, truth)["chosen"] == WITHIN  # no training face has the trace
    assert probe_codes(train, targets, held_trace, truth)["probes"][WITHIN] > 0.8

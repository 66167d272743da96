"""Finding directions: the parser's operations, masks on a device, who is chosen, and what is taught."""

from __future__ import annotations

import base64
import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from PIL import Image
from training.generated import others
from training.generated.likely import likely
from training.generated.make import suitable
from training.generated.networks.augment import augment, resized
from training.generated.networks.distil import distil_parser, distil_reader
from training.generated.networks.nets import Parser, ResidualReader
from training.generated.networks.readers import OUTPUTS, read_packed, read_raw
from training.generated.networks.small_onnx import parser_onnx, reader_onnx
from training.generated.networks.tfjs import TfjsNetwork
from training.generated.pack import pack
from training.generated.small import changed
from training.generated.studio import GpuStudio, _looks

from portrayal_faces.generator.blend import face_only, feathered
from portrayal_faces.generator.directions import Compass
from portrayal_faces.generator.people import choose, years
from portrayal_faces.generator.readings import COLUMNS, places
from portrayal_faces.generator.steering import FARTHEST, REACH, lines
from portrayal_faces.generator.studio import PARSER_SIDE, READER_SIDE


def quiet(_: str) -> None:
    """Say nothing."""


def parser_of_one_convolution(folder: Path, padding: str = "SAME") -> TfjsNetwork:
    word = lambda text: base64.b64encode(text.encode()).decode()  # noqa: E731
    options = {
        "strides": {"list": {"i": ["1", "2", "2", "1"]}},
        "padding": {"s": word(padding)},
        "fused_ops": {"list": {"s": [word("BiasAdd"), word("Relu")]}},
    }
    nodes = [
        {"name": "input_tensor", "op": "Placeholder"},
        {"name": "w", "op": "Const"},
        {"name": "b", "op": "Const"},
        {"name": "y", "op": "_FusedConv2D", "input": ["input_tensor", "w", "b"], "attr": options},
    ]
    weights = [
        {"name": "w", "shape": [3, 3, 1, 1], "dtype": "float32"},
        {"name": "b", "shape": [1], "dtype": "float32"},
    ]
    manifest = [{"paths": ["w.bin"], "weights": weights}]
    (folder / "model.json").write_text(json.dumps({"modelTopology": {"node": nodes}, "weightsManifest": manifest}))
    (folder / "w.bin").write_bytes(np.array([*[1.0] * 9, -3.0], "<f4").tobytes())
    return TfjsNetwork(folder)


def test_same_padding_puts_the_odd_pixel_at_the_far_side(tmp_path: Path) -> None:
    found = parser_of_one_convolution(tmp_path)(torch.ones(1, 1, 4, 4), "y")
    # 4 pixels by stride 2 need one pixel of padding, after the last: windows of 9, 6, 6 and 4 ones, less 3
    assert found[0, 0].tolist() == [[6.0, 3.0], [3.0, 1.0]]


def test_without_padding_only_whole_windows_count(tmp_path: Path) -> None:
    found = parser_of_one_convolution(tmp_path, "VALID")(torch.ones(1, 1, 5, 5), "y")
    assert found[0, 0].tolist() == [[6.0, 6.0], [6.0, 6.0]]  # 9 ones less 3 everywhere


def test_masks_on_a_device_are_those_of_the_package() -> None:
    random = np.random.default_rng(0)
    centre, edited = random.integers(0, 256, (2, 1, 64, 64, 3), dtype=np.uint8)
    first, second = np.zeros((2, 1, 64, 64), np.float32)
    first[:, 12:52, 10:50], second[:, 8:44, 14:60] = 1, 1
    studio = SimpleNamespace(regions=lambda _: torch.from_numpy(second))
    tensors = [torch.from_numpy(each).permute(0, 3, 1, 2) for each in (edited, centre)]
    below = SimpleNamespace(regions=torch.from_numpy(first), pictures=tensors[1])
    made = GpuStudio.over(studio, tensors[0], below).permute(0, 2, 3, 1).numpy()  # type: ignore[arg-type]
    wanted = face_only(edited, centre, feathered(first, second))
    assert np.abs(made.astype(int) - wanted).max() <= 1  # float32 sums round otherwise at a half
    assert (made == wanted).mean() > 0.999


def readings_of(people: int) -> np.ndarray:
    read = np.random.default_rng(1).normal(size=(people, len(COLUMNS))) * 0.1
    for name in ("White", "Black", "East Asian"):
        read[:, COLUMNS.index(name)] = np.log(0.05)
    for number in range(people):
        read[number, COLUMNS.index(("White", "Black", "East Asian")[number % 3])] = np.log(0.9)
        read[number, COLUMNS.index("gender")] = 1 if number % 2 else -1
    read[:, COLUMNS.index("age")] = read[:, COLUMNS.index("age again")] = 0  # 40 years
    return read


def test_whom_to_look_at_is_even_over_cells_and_likeliest_of_their_group() -> None:
    expected = np.zeros((720, len(COLUMNS)))
    number = np.arange(720)
    expected[:, COLUMNS.index("years")] = number
    expected[:, COLUMNS.index("gender")] = np.where(number % 2, 1.0, -1.0)
    expected[:, COLUMNS.index("Black")] = number % 90
    looked = likely(expected, 36, ["Black"])  # six cells: two genders, three bands of the older half
    assert len(looked) == 36 and (looked % 2).sum() == 18 and (looked >= 360).all()
    young = looked[(looked < 540) & (looked % 2 == 1)]
    assert sorted(young % 90) == [85, 85, 87, 87, 89, 89]  # of 360 to 539, twice everybody
    assert len(set(looked.tolist())) == 36


class Pools:
    """Pools of whoever is handed in, one after the other."""

    def __init__(self, *pools: list[dict[str, Any]]) -> None:
        self.pools = list(pools)

    def __call__(self, *_: Any) -> dict[str, Any]:
        return {"people": list(self.pools.pop(0))}


def test_further_people_are_as_even_as_their_pools_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    def person(name: str, gender: str, race: str) -> dict[str, Any]:
        return {"name": name, "gender": gender, "race": race, "age": "40"}

    white = [person(f"w{at}", "male", "White") for at in range(4)]
    pools = Pools([*white, person("b", "female", "Black")], [], [*white, person("e", "female", "East Asian")])
    monkeypatch.setattr(others, "look_at_pool", pools)
    assert [one["name"] for one in others.people(None, None, 1, 2)] == ["w0", "b"]  # type: ignore[arg-type]
    pools.pools = [[white[0]], [], [white[1], person("e", "female", "East Asian")]]
    assert [one["name"] for one in others.people(None, None, 1, 3)] == ["w0", "e", "w1"]  # type: ignore[arg-type]


def test_people_are_even_over_groups_and_nobody_young_is_among_them() -> None:
    readings = readings_of(600)
    ages = np.full(600, 45.0)
    ages[:300] = 24.0  # the age reader says under 25
    readings[300:330, COLUMNS.index("age")] = -1  # 25 years by the second reading, which needs 30
    chosen = choose(readings, ages, 4, suitable(readings, ages))
    assert chosen.min() >= 330
    group = readings[chosen][:, [COLUMNS.index(name) for name in ("White", "Black", "East Asian")]].argmax(axis=1)
    assert np.bincount(group).tolist() == [8, 8, 8]  # 2 genders x 1 band x 4
    assert (years(readings[chosen], "age") == 40).all()


def test_what_is_looked_at_by_hand() -> None:
    classes = torch.zeros(1, 19, 4, 4)
    classes[:, 0], classes[:, 0, 1:3, 1:3] = 1, 0
    classes[:, 1, 1:3, 1:3] = 1  # a face in the middle
    classes[0, 1, 1, 2], classes[0, 10, 1, 2] = 0, 1  # its nose at the upper right
    pictures = torch.full((1, 3, 4, 4), 255, dtype=torch.uint8)
    yaw, pitch, _, opened, glasses, background = _looks(classes, pictures)[0].tolist()
    # the nose is at .625 across and .375 down, the face's middle at .5; times 20
    assert (round(yaw, 4), round(pitch, 4)) == (2.5, -2.5)
    assert (opened, glasses, round(background, 4)) == (0.0, 0.0, 4.0)  # white, times 4


def test_views_for_training_keep_their_size_and_shrinking_averages() -> None:
    torch.manual_seed(0)
    faces = torch.rand(4, 3, 40, 40) * 2 - 1
    assert augment(faces, 32).shape == (4, 3, 32, 32)
    assert resized(torch.full((1, 3, 40, 40), 0.25), 10).flatten().tolist() == pytest.approx([0.25] * 300)


def test_readers_are_averaged_and_age_is_read_twice() -> None:
    torch.manual_seed(0)
    nets = [ResidualReader(OUTPUTS, width=4).eval() for _ in range(2)]
    read = read_raw(nets, torch.rand(3, 3, 128, 128))
    assert read.shape == (3, 10)
    assert torch.allclose(read[:, 3:].exp().sum(1), torch.ones(3))  # seven races as log probabilities


def test_small_networks_learn_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.generated.networks.distil.READER", {"width": 4, "blocks": 1})
    torch.manual_seed(0)
    shade = torch.randint(0, 256, (96, 1, 1, 1))
    pictures = shade.expand(96, 3, 64, 64).to(torch.uint8).contiguous()
    net, units = distil_reader(pictures, shade.flatten(1).double() / 255, epochs=12, say=quiet)
    with torch.no_grad():
        found = net(resized(pictures.float() / 127.5 - 1, READER_SIDE))[:, 0] * units["spread"] + units["mean"]
    assert torch.corrcoef(torch.stack([found, shade.flatten() / 255]))[0, 1] > 0.9
    assert isinstance(distil_parser(pictures[:4], torch.zeros(4, 64, 64), epochs=1, say=quiet), Parser)


def with_random_norms(net: torch.nn.Module) -> torch.nn.Module:
    for part in net.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.5, 0.5)
            part.running_var.uniform_(0.5, 2)
            torch.nn.init.uniform_(part.weight, 0.5, 1.5)
            torch.nn.init.uniform_(part.bias, -0.5, 0.5)
    return net.eval()


def run_onnx(model: bytes, given: torch.Tensor) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"given": given.numpy()})[0]


@torch.no_grad()
def test_the_small_networks_say_the_same_as_onnx() -> None:
    torch.manual_seed(0)
    faces = torch.rand(2, 3, READER_SIDE, READER_SIDE) * 2 - 1
    reader, parser = with_random_norms(ResidualReader(3, 4, 2)), with_random_norms(Parser(4, outputs=3))
    mean, spread = np.array([1.0, -2.0, 40.0]), np.array([0.5, 3.0, 10.0])
    wanted = reader(faces).numpy() * spread + mean
    # weights of 16 bits are right to a two-thousandth
    assert np.abs(run_onnx(reader_onnx(reader, mean, spread), faces) - wanted).max() < 0.05
    small = resized(faces, PARSER_SIDE)
    found = run_onnx(parser_onnx(parser), small)
    assert found.shape == (2, 3, PARSER_SIDE, PARSER_SIDE)
    assert np.abs(found - parser(small).sigmoid().numpy()).max() < 0.01


def test_changed_people_read_between_the_ends_and_a_little_past() -> None:
    random = np.random.default_rng(5)
    slopes = random.normal(size=(512, len(COLUMNS))) / 22
    ones = np.ones(len(COLUMNS))
    compass = Compass(np.zeros(512), np.eye(512), slopes, ones, ones, np.eye(512))
    styles = random.normal(size=(400, 512)) * 0.3
    found = changed(compass, styles, styles @ slopes, random)
    for number, line in enumerate(lines()):
        read = (found @ slopes)[number :: len(lines()), places([line.varied])[0]]
        assert 1.0 < np.abs(read).max() / REACH[line.varied] < 1.3
    assert compass.lengths(found - styles).max() <= FARTHEST + 1e-6


def test_packed_adults_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.generated.networks.readers.HELD_OUT", 1)
    with tarfile.open(tmp_path / "adult_faces.tar", "w") as tar:
        for name, shade in (("a.jpg", 10), ("b.jpg", 200)):
            Image.new("RGB", (224, 224), (shade, shade, shade)).save(tmp_path / name, "JPEG")
            tar.add(tmp_path / name, name)
    lines = ["file,age,gender,race", "a.jpg,20-29,Male,Black", "b.jpg,more than 70,Female,White"]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    assert pack(tmp_path, tmp_path / "packed.npz") == 2
    parts = read_packed(tmp_path / "packed.npz", "cpu")
    found = {int(part.faces.float().mean().round()): part.labels[0].tolist() for part in parts}
    assert found == {10: [1.0, 1.0, 0.0], 200: [0.0, 0.0, 5.0]}  # masculine, Black, youngest; White, oldest

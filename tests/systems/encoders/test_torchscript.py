"""OpenAI's TorchScript files: the same weights, and a file that would run something is refused."""

from __future__ import annotations

import os
import pickle
import warnings
import zipfile
from pathlib import Path

import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.encoders.clip_weights import read_weights
from portrayal.systems.encoders.pairs import open_pair
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal-audit[torch]'")
pytest.importorskip("transformers", reason="encoders run on transformers: pip install 'portrayal-audit[torch]'")


def small_network():
    """Return a small CLIP of transformers and its weights under OpenAI's names."""
    model = small_clip.random_clip()
    return model, small_clip.open_clip_names(model.state_dict())


class Container(torch.nn.Module):
    """Parameters under names with dots, as a module of modules; its forward must never be needed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def nested(weights):
    whole = Container()
    for name, value in weights.items():
        place = whole
        *path, last = name.split(".")
        for step in path:
            if not hasattr(place, step):
                place.add_module(step, Container())
            place = getattr(place, step)
        place.register_parameter(last, torch.nn.Parameter(value.clone(), requires_grad=False))
    return whole


def save_script(weights, path: Path, half: bool = True) -> None:
    """Save a TorchScript file as OpenAI did: half precision, three sizes as buffers, a mask inside a block."""
    whole = nested(weights)
    for name, number in (("input_resolution", 32), ("context_length", 8), ("vocab_size", 20)):
        whole.register_buffer(name, torch.tensor(number))
    whole.transformer.resblocks.get_submodule("0").register_buffer("attn_mask", torch.zeros(8, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own deprecations
        torch.jit.script(whole.half() if half else whole).save(str(path))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("script")
    model, weights = small_network()
    save_script(weights, folder / "clip.pt")
    small_clip.write_open_clip_config(folder, quick=True)
    return folder / "clip.pt", model


def test_every_tensor_is_read_under_its_name(archive) -> None:
    found, weights = read_weights(archive[0]), small_clip.open_clip_names(archive[1].state_dict())
    assert {"input_resolution", "context_length", "vocab_size"} <= set(found)
    assert all(torch.equal(found[name], value.half()) for name, value in weights.items())
    assert {value.dtype for value in found.values()} == {torch.float16, torch.int64}


def test_the_network_is_that_of_the_file(archive) -> None:
    path, model = archive
    loaded = open_pair(path).model
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value.half().float())
    pixels = torch.randn(2, 3, small_clip.SIDE, small_clip.SIDE)
    halves = model.half().float()
    with torch.no_grad():
        assert torch.allclose(
            loaded.get_image_features(pixels).pooler_output, halves.get_image_features(pixels).pooler_output, atol=1e-6
        )


def test_a_file_without_its_architecture_still_asks_for_it(archive, tmp_path) -> None:
    (tmp_path / "ViT-B-32.pt").write_bytes(archive[0].read_bytes())
    with pytest.raises(PortrayalError, match="does not say which GELU"):
        open_pair(tmp_path / "ViT-B-32.pt")
    with pytest.raises(PortrayalError, match="is not a ViT-B/32"):
        open_pair(tmp_path / "ViT-B-32.pt", "ViT-B/32")


class Runs:
    """Object of a hostile file: a call when it is read."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_a_file_that_would_run_something_is_refused(tmp_path) -> None:
    sign = tmp_path / "ran"
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        archive.writestr("bad/constants.pkl", b"")
        archive.writestr("bad/data.pkl", pickle.dumps(Runs(f"touch {sign}")))
    with pytest.raises(PortrayalError, match="cannot be read as weights"):
        read_weights(tmp_path / "bad.pt")
    assert not sign.exists()


@pytest.mark.parametrize("cut", ["data.pkl", "data/0"])
def test_a_damaged_file_is_one_line(archive, tmp_path, cut) -> None:
    with zipfile.ZipFile(archive[0]) as whole, zipfile.ZipFile(tmp_path / "cut.pt", "w") as part:
        for name in whole.namelist():
            if not name.endswith(cut):
                part.writestr(name, whole.read(name))
    with pytest.raises(PortrayalError, match=r"cut\.pt cannot be read as weights") as caught:
        read_weights(tmp_path / "cut.pt")
    assert "\n" not in str(caught.value)

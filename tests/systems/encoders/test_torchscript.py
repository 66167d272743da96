"""OpenAI's TorchScript files by their tensors alone: the same weights, and no code of the file is run."""

from __future__ import annotations

import json
import os
import pickle
import warnings
import zipfile
from pathlib import Path

import pytest

from portrayal.errors import PortrayalError

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal[torch]'")

SMALL = {"vision_cfg": {"width": 64, "head_width": 32}, "text_cfg": {"width": 64, "heads": 2}}


def small_network():
    from portrayal.systems.encoders.clip.network import Clip
    from portrayal.systems.encoders.clip.sizes import Size

    torch.manual_seed(0)
    return Clip(Size(16, 32, 2, 64, 16, 64, 2, 2, context=8, vocabulary=20, vision_heads=2)).eval()


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
    network = small_network()
    save_script(network.state_dict(), folder / "clip.pt")
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": {"quick_gelu": True, **SMALL}}))
    return folder / "clip.pt", network


def test_every_tensor_is_read_under_its_name(archive) -> None:
    from portrayal.systems.encoders.clip.torchscript import is_torchscript, read_torchscript

    path, _ = archive
    assert is_torchscript(path)
    found = read_torchscript(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = torch.jit.load(str(path)).state_dict()  # torch's own reader, which the product does not use
    assert set(found) == set(theirs)
    assert all(torch.equal(found[name], theirs[name]) for name in theirs)
    assert {value.dtype for value in found.values()} == {torch.float16, torch.int64}


def test_the_network_is_that_of_the_file(archive) -> None:
    from portrayal.systems.encoders.clip.checkpoint import load_clip

    path, network = archive
    loaded = load_clip(path)
    pixels, tokens, ends = (torch.randn(2, 3, 32, 32), torch.tensor([[1, 5, 2], [1, 2, 0]]), torch.tensor([2, 1]))
    halves = small_network()
    halves.load_state_dict({name: value.half().float() for name, value in network.state_dict().items()})
    with torch.no_grad():
        assert torch.allclose(loaded.encode_image(pixels), halves.encode_image(pixels), atol=1e-6)
        assert torch.allclose(loaded.encode_text(tokens, ends), halves.encode_text(tokens, ends), atol=1e-6)


def test_a_file_without_its_architecture_still_asks_for_it(archive, tmp_path) -> None:
    from portrayal.systems.encoders.clip.checkpoint import load_clip

    (tmp_path / "ViT-B-32.pt").write_bytes(archive[0].read_bytes())
    with pytest.raises(PortrayalError, match="does not say which GELU"):
        load_clip(tmp_path / "ViT-B-32.pt")
    with pytest.raises(PortrayalError, match="is not a ViT-B/32"):
        load_clip(tmp_path / "ViT-B-32.pt", "ViT-B/32")


class Runs:
    """What a file may try: a call when it is read."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_a_file_that_would_run_something_is_refused(tmp_path) -> None:
    from portrayal.systems.encoders.clip.checkpoint import read_weights

    sign = tmp_path / "ran"
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        archive.writestr("bad/constants.pkl", b"")
        archive.writestr("bad/data.pkl", pickle.dumps(Runs(f"touch {sign}")))
    with pytest.raises(PortrayalError, match="which is no weight. It was not read"):
        read_weights(tmp_path / "bad.pt")
    assert not sign.exists()


@pytest.mark.parametrize("cut", ["data.pkl", "data/0"])
def test_a_damaged_file_is_one_line(archive, tmp_path, cut) -> None:
    from portrayal.systems.encoders.clip.checkpoint import read_weights

    with zipfile.ZipFile(archive[0]) as whole, zipfile.ZipFile(tmp_path / "cut.pt", "w") as part:
        for name in whole.namelist():
            if not name.endswith(cut):
                part.writestr(name, whole.read(name))
    with pytest.raises(PortrayalError, match=r"cut\.pt cannot be read as weights") as caught:
        read_weights(tmp_path / "cut.pt")
    assert "\n" not in str(caught.value)

"""The ImageNet tagger with a made-up network of the real form."""

import asyncio
import json
import warnings

import pytest
from PIL import Image

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Question
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

torch = pytest.importorskip("torch", reason="the ImageNet tagger needs the extra [torch]")


@pytest.fixture
def folder(tmp_path):
    class Redness(torch.nn.Module):
        """Three classes; the first grows with red, the last with blue."""

        def forward(self, x):
            return x.mean(dim=(2, 3)) * 4

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(Redness(), torch.zeros(1, 3, 32, 32)).save(str(tmp_path / "net.pt"))
    (tmp_path / "labels.txt").write_text("red thing\ngreen thing\nblue thing\n")
    Image.new("RGB", (60, 40), "red").save(tmp_path / "red.png")
    (tmp_path / "bad.png").write_bytes(b"no")
    return tmp_path


def opened(folder, **parameters):
    files = {"weights": "net.pt", "labels": "labels.txt", "size": 32, "top": 2}
    settings = SystemSettings(name="classes", use="imagenet", parameters={**files, **parameters})
    return open_system(settings, folder, "tagger")


def test_the_most_probable_classes_are_the_tags(folder):
    system = opened(folder)
    asked = [Question(name, "image", str(folder / f"{name}.png"), name) for name in ("red", "bad")]
    answer, failed = asyncio.run(system.ask(asked))
    tags = json.loads(answer.raw)
    assert tags[0]["tag"] == "red thing"
    assert len(tags) == 2
    assert tags[0]["confidence"] > 0.9
    assert "not a readable picture" in str(failed)


def test_missing_files_and_other_files_are_named(folder):
    with pytest.raises(PortrayalError, match="Install the weights and labels yourself"):
        opened(folder, weights="nothing.pt")
    with pytest.raises(PortrayalError, match=r"labels\.txt is not a TorchScript file"):
        opened(folder, weights="labels.txt").tags_of(Image.new("RGB", (8, 8)))

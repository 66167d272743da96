"""The ImageNet network of a package: its file read without PyTorch, written as ONNX, and run."""

import asyncio
import json
import pickle
import struct
from collections import OrderedDict

import numpy as np
import onnxruntime
import pytest
from PIL import Image

from portrayal.edges.onnx_graph import Graph
from portrayal.edges.parts.table import part_file
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Question
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.taggers.efficientnet import FILE, MAGIC, PACKAGE, read_weights
from portrayal.text.lexicons import read_lexicon


def test_a_graph_runs_as_the_arithmetic_says():
    graph = Graph()
    graph.tensor("kernel", np.full((1, 1, 2, 2), 2.0))
    graph.tensor("low", np.float32(0).reshape(()))
    graph.tensor("high", np.float32(300).reshape(()))
    graph.node("Conv", ["x", "kernel"], "convolved", strides=[2, 2], group=1)
    graph.node("Clip", ["convolved", "low", "high"], "y")
    session = onnxruntime.InferenceSession(graph.model({"x": (1, 1, 4, 4), "y": (1, 1, 2, 2)}))
    found = session.run(None, {"x": np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)})[0]
    # Twice the sum of each corner: 0 + 1 + 4 + 5 = 10, 2 + 3 + 6 + 7 = 18, 8 + 9 + 12 + 13 = 42, 50.
    assert found.ravel().tolist() == [20, 36, 84, 100]


def legacy_file(path, asks=("torch._utils", "_rebuild_tensor_v2"), numbers=(1.0, 2.0, 3.0, 4.0)):
    """Write a file as PyTorch before 1.6 did: one 2 x 2 tensor, its storage in columns."""
    asked = b"".join(one.encode() + b"\n" for one in asks)
    storage = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x04NtQ"
    tensor = b"c" + asked + b"(" + storage + b"K\x00K\x02K\x02\x86K\x01K\x02\x86\x89ccollections\nOrderedDict\n)RtR"
    tensors = b"\x80\x02ccollections\nOrderedDict\n)RU\x01w" + tensor + b"s."
    parts = [pickle.dumps(MAGIC, 2), pickle.dumps(1001, 2), pickle.dumps({}, 2), tensors, pickle.dumps(["0"], 2)]
    path.write_bytes(b"".join(parts) + struct.pack("<q4f", 4, *numbers))
    return path


def test_weights_are_read_without_pytorch(tmp_path):
    found = read_weights(legacy_file(tmp_path / "w.pth"))
    assert isinstance(found, dict | OrderedDict)
    assert found["w"].tolist() == [[1, 3], [2, 4]]  # steps of 1 and 2: columns first


@pytest.mark.parametrize("data", [b"", b"no", pickle.dumps(MAGIC, 2), pickle.dumps([1, 2])])
def test_other_files_are_refused_in_one_line(tmp_path, data):
    (tmp_path / "w.pth").write_bytes(data)
    with pytest.raises(PortrayalError, match=r"w\.pth does not hold weights as PyTorch before 1\.6 wrote them"):
        read_weights(tmp_path / "w.pth")


def test_a_file_that_asks_for_more_than_tensors_is_refused(tmp_path):
    with pytest.raises(PortrayalError, match=r"it asks for os\.system"):
        read_weights(legacy_file(tmp_path / "w.pth", asks=("os", "system")))


def test_the_classes_are_a_thousand():
    names = read_lexicon("imagenet_classes")
    assert names["class"].to_list() == [str(at) for at in range(1000)]
    assert names["name"][0] == "tench"
    assert names["name"][999] == "toilet_tissue"


def test_the_network_sees_what_a_picture_shows(tmp_path):
    assert len(read_weights(part_file(PACKAGE, FILE, "this test"))) == 386
    draw = Image.new("RGB", (300, 300), "white")
    for top in range(0, 300, 50):
        for left in range(0, 300, 50):
            if (top + left) // 50 % 2:
                draw.paste("black", (left, top, left + 50, top + 50))
    draw.save(tmp_path / "squares.png")
    system = open_system(SystemSettings(name="net", use="imagenet", parameters={"top": 3}), tmp_path, "tagger")
    (answer,) = asyncio.run(system.ask([Question("1", "image", str(tmp_path / "squares.png"), "1")]))
    tags = json.loads(answer.raw)
    assert len(tags) == 3
    assert "crossword_puzzle" in [tag["tag"] for tag in tags]
    assert answer.version == PACKAGE


def test_half_of_an_own_network_is_refused(tmp_path):
    settings = SystemSettings(name="net", use="imagenet", parameters={"labels": "labels.txt"})
    with pytest.raises(PortrayalError, match="names one of weights and labels. Name both, or neither"):
        open_system(settings, tmp_path, "tagger")

"""The trained network as one ONNX file: `python -m training.photographs.export WEIGHTS.pt OUT.onnx`."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from portrayal.errors import MissingExtra, PortrayalError
from training.photographs.editor import Editor
from training.photographs.lines import WIDTH

LARGEST = 15_000_000  # bytes


def open_editor(weights: Path) -> Any:
    """Return the network of a file of weights."""
    stored = torch.load(weights, map_location="cpu", weights_only=True)
    editor = Editor([one.shape[0] for name, one in stored.items() if re.fullmatch(r"down\.\d+\.first\.weight", name)])
    editor.load_state_dict({name: one.float() for name, one in stored.items()})
    return editor.eval()


def export(weights: Path, out: Path, side: int = 256) -> int:
    """Write the network as ONNX; return its size in bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own future
        torch.onnx.export(
            open_editor(weights), (torch.zeros(2, 3, side, side), torch.zeros(2, WIDTH)), str(out), opset_version=17, dynamo=False,
            input_names=["face", "condition"], output_names=["edit", "mask"],
            dynamic_axes={name: {0: "batch"} for name in ("face", "condition", "edit", "mask")},
        )  # fmt: skip
    halve(out)
    size = out.stat().st_size
    if size > LARGEST:
        raise PortrayalError(f"{out.name} has {size} bytes, but at most {LARGEST} may ship. Make the network narrower.")
    return size


def halve(path: Path) -> None:
    """Store large weights in half precision; the runtime widens them once."""
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        raise MissingExtra("exporting a model", "torch") from None
    model = onnx.load(str(path))
    casts: list[Any] = []
    for weight in list(model.graph.initializer):
        values = numpy_helper.to_array(weight)
        if values.dtype == "float32" and values.size > 2048:
            half = numpy_helper.from_array(values.astype("float16"), f"{weight.name}.half")
            model.graph.initializer.remove(weight)
            model.graph.initializer.append(half)
            casts.append(helper.make_node("Cast", [half.name], [weight.name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


if __name__ == "__main__":
    print(export(Path(sys.argv[1]), Path(sys.argv[2])))

"""The trained networks as two ONNX files with weights in half precision: encoder (with attribute reader) and decoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from portrayal.errors import MissingExtra
from portrayal.pictures.faces.align import SIZE
from training.attributes import COLUMNS, FIRST_RACE, WIDTH
from training.network import CODE, AttributeReader, Decoder, Encoder


class EncoderWithReader(nn.Module):
    """A face to its code and to what its attributes look like; expression is 0 where training had no labels of it."""

    def __init__(self, encoder: Encoder, reader: AttributeReader, smiles: bool = False) -> None:
        super().__init__()
        self.encoder, self.reader, self.smiles = encoder, reader, smiles

    def forward(self, face: Tensor) -> tuple[Tensor, Tensor]:
        """Give the code, and gender, age and smiling between -1 and 1 and the weights of the races."""
        read = self.reader(face)
        gender, age, smiling = (
            read[:, :1].div(2).tanh(),
            read[:, 1:2].clamp(-1, 1),
            read[:, 2:3].div(2).tanh().mul(float(self.smiles)),
        )
        return self.encoder(face), torch.cat([gender, age, smiling, read[:, FIRST_RACE:].softmax(1)], dim=1)


def export(weights: Path | str, folder: Path | str, training: dict[str, Any] | None = None) -> dict[str, int]:
    """Write encoder.onnx, decoder.onnx and model.json; returns the files' sizes in bytes."""
    kept = torch.load(weights, map_location="cpu", weights_only=True)
    networks: dict[str, Any] = {"encoder": Encoder(), "decoder": Decoder(), "reader": AttributeReader()}
    for name, network in networks.items():
        network.load_state_dict({key: value.float() for key, value in kept[name].items()})
        network.eval()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    face, code, values = torch.zeros(2, 3, SIZE, SIZE), torch.zeros(2, CODE, 8, 8), torch.zeros(2, WIDTH)
    both = EncoderWithReader(networks["encoder"], networks["reader"], kept.get("smiles", False)).eval()
    _write(both, (face,), ["face"], ["code", "attributes"], folder / "encoder.onnx")
    _write(networks["decoder"], (code, values), ["code", "attributes"], ["face"], folder / "decoder.onnx")
    about = {"size": SIZE, "columns": COLUMNS, "step": kept["step"], "plan": kept["plan"], "training": training or {}}
    (folder / "model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.onnx"))}


def _write(network: nn.Module, inputs: tuple[Tensor, ...], into: list[str], out: list[str], path: Path) -> None:
    """Export with a free batch size, then halve the weights."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own future
        torch.onnx.export(
            network, inputs, str(path), input_names=into, output_names=out, opset_version=17, dynamo=False,
            dynamic_axes={name: {0: "batch"} for name in (*into, *out)},
        )  # fmt: skip
    halve(path)


def halve(path: Path) -> None:
    """Store large weights in half precision; the runtime widens them once, when it opens the file."""
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

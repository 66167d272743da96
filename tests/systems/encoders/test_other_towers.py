"""OpenCLIP models with other towers: the numbers of OpenCLIP's own classes, and one line where another package is needed."""

from __future__ import annotations

import hashlib
import json
import sys
import types

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.encoders.clip.sizes import Size

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal[torch]'")

BASE = Size(16, 32, 2, 64, 16, 64, 2, 2, context=8, vocabulary=20, gelu="exact", vision_heads=2)  # the small CLIP
VISION = {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16}
TEXT = {"context_length": 8, "vocab_size": 20, "width": 64, "heads": 2, "layers": 2}
# Each variant: what differs in OpenCLIP's config, what differs in our size, a SHA-256 over the sorted lines "name shape" of
# the state dict of OpenCLIP 3.3.0's own classes, and the first three numbers they give for two pictures and two texts with
# the weights of `filled`. Widths between the maps: int(64 x 4.9231) = 315, int(64 x 4.3637) = 279, int(64 x 2.5) = 160.
VARIANTS = {
    "ratio": (
        {"vision_cfg": {"mlp_ratio": 4.9231}},
        {"vision_hidden": 315},
        "ef9ae2806687961d",
        [[-0.11151, 0.00062, 0.11246], [-0.11419, -0.00224, 0.11076]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "text under its own name": (
        {"vision_cfg": {"mlp_ratio": 4.3637}, "text_cfg": {"mlp_ratio": 2.5}, "custom_text": True},
        {"vision_hidden": 279, "text_hidden": 160},
        "04f97e6b0c3dd544",
        [[0.15221, 0.12657, 0.0414], [0.15081, 0.12444, 0.03955]],
        [[0.04634, 0.09979, 0.10631], [-0.03575, -0.12578, -0.15665]],
    ),
    "scaled": (
        {"vision_cfg": {"ls_init_value": 1e-4}, "text_cfg": {"ls_init_value": 1e-4}},
        {"vision_scaled": True, "text_scaled": True},
        "98caac50a4700926",
        [[-0.07422, -0.18955, -0.21573], [-0.07128, -0.18732, -0.21526]],
        [[-0.40729, -0.07516, 0.29233], [-0.15619, 0.20956, 0.47675]],
    ),
    "no norm first": (
        {"vision_cfg": {"no_ln_pre": True}},
        {"norm_first": False},
        "ac89c7a9d04ec94b",
        [[0.05716, 0.00731, -0.04597], [0.06603, 0.01741, -0.03939]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "average": (
        {"vision_cfg": {"pool_type": "avg"}},
        {"pool": "average"},
        "b3c9c8ba8f9a8682",
        [[-0.16854, -0.1561, -0.07025], [-0.17112, -0.15904, -0.07216]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "average, then norm": (
        {"vision_cfg": {"pool_type": "avg", "final_ln_after_pool": True, "no_ln_pre": True}},
        {"pool": "average, then norm", "norm_first": False},
        "ac89c7a9d04ec94b",
        [[0.11925, 0.04698, -0.04738], [0.12542, 0.05568, -0.04025]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
}
NORMS = ("ln_1.weight", "ln_2.weight", "ln_pre.weight", "ln_post.weight", "ln_final.weight")


def filled(names_and_shapes):
    """Give every weight, in the order of names, 0.1 sin(0.7 place + number); norms are around one."""
    made = {}
    for number, (name, shape) in enumerate(sorted(names_and_shapes.items())):
        if name == "logit_scale":
            made[name] = torch.tensor(2.6592600)
            continue
        count = int(np.prod(shape))
        waves = 0.1 * torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + number).reshape(shape)
        made[name] = waves.float() + (1.0 if name.endswith(NORMS) else 0.0)
    return made


def write_folder(folder, variant):
    """Write an OpenCLIP folder of this variant, its weights named as OpenCLIP names them."""
    from dataclasses import replace

    from safetensors.torch import save_file

    from portrayal.systems.encoders.clip.network import Clip

    config, changes, digest, *_ = VARIANTS[variant]
    with torch.device("meta"):
        shapes = {name: tuple(value.shape) for name, value in Clip(replace(BASE, **changes)).state_dict().items()}
    if config.get("custom_text"):
        shapes = {
            name if name.startswith("visual.") or name == "logit_scale" else f"text.{name}": shape
            for name, shape in shapes.items()
        }
    lines = sorted(f"{name} {'x'.join(map(str, shape))}" for name, shape in shapes.items())
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == digest
    save_file(filled(shapes), folder / "open_clip_model.safetensors")
    whole = {
        "embed_dim": 16,
        "vision_cfg": {**VISION, **config.get("vision_cfg", {})},
        "text_cfg": {**TEXT, **config.get("text_cfg", {})},
    }
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": whole}))


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_towers_give_open_clips_numbers(variant, tmp_path) -> None:
    from portrayal.systems.encoders.clip.checkpoint import load_clip

    write_folder(tmp_path, variant)
    network = load_clip(tmp_path)
    pixels = torch.sin(torch.arange(2 * 3 * 32 * 32, dtype=torch.float64) * 0.37).reshape(2, 3, 32, 32)
    tokens, ends = torch.tensor([[1, 5, 9, 19], [1, 3, 19, 0]]), torch.tensor([3, 2])
    with torch.no_grad():
        images, texts = network.encode_image(pixels.float()), network.encode_text(tokens, ends)
    *_, expected_images, expected_texts = VARIANTS[variant]
    assert images[:, :3].numpy() == pytest.approx(np.array(expected_images), abs=1e-5)
    assert texts[:, :3].numpy() == pytest.approx(np.array(expected_texts), abs=1e-5)


FOREIGN = [
    {"vision_cfg": {"timm_model_name": "convnext_base"}},
    {"vision_cfg": {"attentional_pool": True}},
    {"text_cfg": {"hf_model_name": "roberta-base"}},
    {"text_cfg": {"no_causal_mask": True}},
    {"multimodal_cfg": {"width": 64}},
]


@pytest.mark.parametrize("config", FOREIGN, ids=str)
def test_towers_of_another_kind_are_told_apart(config, tmp_path, monkeypatch) -> None:
    from portrayal.systems.encoders.clip.checkpoint import load_clip
    from portrayal.systems.encoders.clip_encoder import has_other_towers
    from portrayal.systems.encoders.open_clip_pair import OpenClipPair

    write_folder(tmp_path, "ratio")
    assert not has_other_towers(tmp_path)
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config}))
    assert has_other_towers(tmp_path)
    with pytest.raises(PortrayalError, match="which is no tower of CLIP"):
        load_clip(tmp_path)
    monkeypatch.setitem(sys.modules, "open_clip", None)  # as if it were not installed
    with pytest.raises(PortrayalError, match=r"pip install 'portrayal\[open_clip\]'"):
        OpenClipPair(tmp_path)


class Stand:
    """A model as open_clip gives one back: what it was made of, and two towers."""

    def __init__(self) -> None:
        self.visual = types.SimpleNamespace(image_size=(32, 32))

    def to(self, *given):
        return self

    def eval(self):
        return self

    def encode_text(self, tokens):
        return tokens.float() @ torch.ones(tokens.shape[1], 4)

    def encode_image(self, pixels):
        return pixels.mean(dim=(2, 3))


def test_open_clip_itself_is_asked_for_local_weights_only(tmp_path, monkeypatch) -> None:
    from portrayal.systems.encoders.open_clip_pair import OpenClipPair

    asked = []
    package = types.ModuleType("open_clip")
    package.create_model = lambda name, **given: asked.append((name, given)) or Stand()
    package.get_tokenizer = lambda name: lambda texts: torch.tensor([[len(text)] for text in texts])
    monkeypatch.setitem(sys.modules, "open_clip", package)
    (tmp_path / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": {}, "preprocess_cfg": {"mean": [0.5] * 3, "std": [0.5] * 3}})
    )
    towers = OpenClipPair(tmp_path)
    assert asked == [(f"local-dir:{tmp_path}", {"device": "cpu", "weights_only": True})]
    assert towers.texts(["four", "a"]).tolist() == [[4.0] * 4, [1.0] * 4]
    # A white picture is 1 after the folder's own normalisation: (1 - 0.5) / 0.5.
    assert towers.pictures(np.full((1, 32, 32, 3), 255, np.uint8)).tolist() == [[1.0, 1.0, 1.0]]
    assert towers.preparation.side == 32

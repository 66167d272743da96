"""OpenCLIP models with other towers: the numbers of OpenCLIP's own classes, and one line where another package is needed."""

from __future__ import annotations

import json
import sys
import types

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.encoders.clip_weights import needs_open_clip
from portrayal.systems.encoders.pairs import open_pair
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal-audit[torch]'")

VISION = {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16}
TEXT = {"context_length": 8, "vocab_size": 20, "width": 64, "heads": 2, "layers": 2}
# Each variant: what differs in OpenCLIP's config, a SHA-256 over the sorted lines "name shape" of the state dict of OpenCLIP
# 3.3.0's own classes, and the first three numbers they give for two pictures and two texts with the weights of `filled`.
# Widths between the maps: int(64 x 4.9231) = 315, int(64 x 4.3637) = 279, int(64 x 2.5) = 160.
VARIANTS = {
    "ratio": (
        {"vision_cfg": {"mlp_ratio": 4.9231}},
        "ef9ae2806687961d",
        [[-0.11151, 0.00062, 0.11246], [-0.11419, -0.00224, 0.11076]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "text under its own name": (
        {"vision_cfg": {"mlp_ratio": 4.3637}, "text_cfg": {"mlp_ratio": 2.5}, "custom_text": True},
        "04f97e6b0c3dd544",
        [[0.15221, 0.12657, 0.0414], [0.15081, 0.12444, 0.03955]],
        [[0.04634, 0.09979, 0.10631], [-0.03575, -0.12578, -0.15665]],
    ),
    "scaled": (
        {"vision_cfg": {"ls_init_value": 0.0001}, "text_cfg": {"ls_init_value": 0.0001}},
        "98caac50a4700926",
        [[-0.07422, -0.18955, -0.21573], [-0.07128, -0.18732, -0.21526]],
        [[-0.40729, -0.07516, 0.29233], [-0.15619, 0.20956, 0.47675]],
    ),
    "no norm first": (
        {"vision_cfg": {"no_ln_pre": True}},
        "ac89c7a9d04ec94b",
        [[0.05716, 0.00731, -0.04597], [0.06603, 0.01741, -0.03939]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "average": (
        {"vision_cfg": {"pool_type": "avg"}},
        "b3c9c8ba8f9a8682",
        [[-0.16854, -0.1561, -0.07025], [-0.17112, -0.15904, -0.07216]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
    "average, then norm": (
        {"vision_cfg": {"pool_type": "avg", "final_ln_after_pool": True, "no_ln_pre": True}},
        "ac89c7a9d04ec94b",
        [[0.11925, 0.04698, -0.04738], [0.12542, 0.05568, -0.04025]],
        [[0.20227, 0.164, 0.04859], [0.05651, -0.09418, -0.20058]],
    ),
}
OF_TRANSFORMERS = ("ratio", "text under its own name")  # run through its CLIP, the others through open_clip
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


def shapes_of(variant):
    """Return names and shapes of a variant as OpenCLIP's own classes have them."""
    config = VARIANTS[variant][0]
    vision, text = ({**part, **config.get(name, {})} for name, part in (("vision_cfg", VISION), ("text_cfg", TEXT)))
    shapes = {
        "visual.class_embedding": (64,), "visual.conv1.weight": (64, 3, 16, 16), "visual.positional_embedding": (5, 64),
        "visual.proj": (64, 16), "token_embedding.weight": (20, 64), "positional_embedding": (8, 64),
        "text_projection": (64, 16), "logit_scale": (),
    }  # fmt: skip
    norms = ["visual.ln_post", "ln_final", *([] if vision.get("no_ln_pre") else ["visual.ln_pre"])]
    for tower, part in (("visual.transformer", vision), ("transformer", text)):
        hidden = int(64 * part.get("mlp_ratio", 4.0))
        for block in (f"{tower}.resblocks.{number}" for number in range(2)):
            norms += [f"{block}.ln_1", f"{block}.ln_2"]
            shapes |= {f"{block}.attn.in_proj_weight": (192, 64), f"{block}.attn.in_proj_bias": (192,)}
            for name, wide, narrow in (("attn.out_proj", 64, 64), ("mlp.c_fc", hidden, 64), ("mlp.c_proj", 64, hidden)):
                shapes |= {f"{block}.{name}.weight": (wide, narrow), f"{block}.{name}.bias": (wide,)}
            if part.get("ls_init_value"):
                shapes |= {f"{block}.ls_1.gamma": (64,), f"{block}.ls_2.gamma": (64,)}
    shapes |= {f"{norm}.{kind}": (64,) for norm in norms for kind in ("weight", "bias")}
    if config.get("custom_text"):
        kept = ("visual.", "logit_scale")
        shapes = {name if name.startswith(kept) else f"text.{name}": shape for name, shape in shapes.items()}
    return shapes


def write_folder(folder, variant):
    """Write an OpenCLIP folder of this variant, its weights named as OpenCLIP names them."""
    from safetensors.torch import save_file

    config, digest, *_ = VARIANTS[variant]
    weights = filled(shapes_of(variant))
    assert small_clip.digest(weights) == digest
    save_file(weights, folder / "open_clip_model.safetensors")
    whole = {
        "embed_dim": 16,
        "vision_cfg": {**VISION, **config.get("vision_cfg", {})},
        "text_cfg": {**TEXT, **config.get("text_cfg", {})},
    }
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": whole}))


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_towers_give_open_clips_numbers(variant, tmp_path) -> None:
    pytest.importorskip("transformers", reason="encoders run on transformers: pip install 'portrayal-audit[torch]'")
    if variant not in OF_TRANSFORMERS:
        pytest.importorskip("open_clip", reason="has these towers: pip install 'portrayal-audit[open_clip]'")
    write_folder(tmp_path, variant)
    pair = open_pair(tmp_path)
    pixels = torch.sin(torch.arange(2 * 3 * 32 * 32, dtype=torch.float64) * 0.37).reshape(2, 3, 32, 32)
    tokens = torch.tensor([[1, 5, 9, 19, 0, 0, 0, 0], [1, 3, 19, 0, 0, 0, 0, 0]])
    pair.words = (lambda texts: {"input_ids": tokens}) if variant in OF_TRANSFORMERS else (lambda texts: tokens)
    with torch.no_grad():
        images, texts = pair.encode_pictures(pixels.float()), pair.encode_texts(["", ""])
    *_, expected_images, expected_texts = VARIANTS[variant]
    assert images[:, :3].numpy() == pytest.approx(np.array(expected_images), abs=1e-5)
    assert texts[:, :3].numpy() == pytest.approx(np.array(expected_texts), abs=1e-5)


FOREIGN = [
    {"vision_cfg": {"layers": [3, 4, 6, 3], "width": 64}},
    {"vision_cfg": {"timm_model_name": "convnext_base"}},
    {"vision_cfg": {"attentional_pool": True}},
    {"text_cfg": {"hf_model_name": "roberta-base"}},
    {"text_cfg": {"no_causal_mask": True}},
    {"multimodal_cfg": {"width": 64}},
]


@pytest.mark.parametrize("config", FOREIGN, ids=str)
def test_towers_of_another_kind_need_open_clip(config, tmp_path, monkeypatch) -> None:
    pytest.importorskip("transformers", reason="encoders run on transformers: pip install 'portrayal-audit[torch]'")
    write_folder(tmp_path, "ratio")
    assert not needs_open_clip(tmp_path)
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config}))
    assert needs_open_clip(tmp_path)
    monkeypatch.setitem(sys.modules, "open_clip", None)  # as if it were not installed
    with pytest.raises(PortrayalError, match=r"pip install 'portrayal-audit\[open_clip\]'"):
        open_pair(tmp_path)


class Stand:
    """A model as open_clip gives one back: what it was made of, and two towers."""

    def __init__(self) -> None:
        self.visual = types.SimpleNamespace(image_size=(32, 32), layer4="the last convolutions")
        self.positional_embedding = torch.zeros(77, 1)
        self.weights: set[str] = set()

    def load_state_dict(self, weights):
        self.weights = set(weights)

    def float(self):
        return self

    def to(self, *given):
        return self

    def eval(self):
        return self

    def encode_text(self, tokens):
        return tokens.float() @ torch.ones(tokens.shape[1], 4)

    def encode_image(self, pixels):
        return pixels.mean(dim=(2, 3))


@pytest.fixture
def package(monkeypatch):
    """A stand-in for open_clip that notes what it is asked for."""
    made = types.ModuleType("open_clip")
    made.asked = []
    made.create_model = lambda name, **given: made.asked.append((name, given)) or Stand()
    made.get_tokenizer = lambda name: lambda texts: torch.tensor([[len(text)] for text in texts])
    monkeypatch.setitem(sys.modules, "open_clip", made)
    return made


def test_open_clip_itself_is_asked_for_local_weights_only(tmp_path, package) -> None:
    config = {"text_cfg": {"hf_model_name": "roberta-base"}}
    preparation = {"mean": [0.5] * 3, "std": [0.5] * 3}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": preparation}))
    towers = open_pair(tmp_path)
    assert package.asked == [(f"local-dir:{tmp_path}", {"device": "cpu", "weights_only": True})]
    assert towers.texts(["four", "a"]).tolist() == [[4.0] * 4, [1.0] * 4]
    # A white picture is 1 after the folder's own normalisation: (1 - 0.5) / 0.5.
    assert towers.pictures(np.full((1, 32, 32, 3), 255, np.uint8)).tolist() == [[1.0, 1.0, 1.0]]
    assert towers.preparation.side == 32


def test_a_file_of_a_resnet_runs_through_open_clip(tmp_path, package) -> None:
    from safetensors.torch import save_file

    stages = {
        f"visual.layer{stage}.{block}.conv1.weight": (64, 1)
        for stage, count in enumerate((3, 4, 6, 3), 1)
        for block in range(count)
    }
    blocks = {f"transformer.resblocks.{block}.ln_1.weight": (1,) for block in range(12)}
    shapes = {**stages, **blocks, "ln_final.weight": (512,), "text_projection": (512, 1024)}
    save_file({name: torch.zeros(shape) for name, shape in shapes.items()}, tmp_path / "RN50.safetensors")
    towers = open_pair(tmp_path / "RN50.safetensors", "RN50")
    assert package.asked == [("RN50", {"force_quick_gelu": True, "device": "cpu"})]
    assert towers.model.weights == set(shapes)
    assert towers.last_layer() == "the last convolutions"
    # "a photo" is the start, two words and the end; what follows is padded with zeros: the stand-in adds the ids up.
    assert towers.texts(["a photo"])[0].tolist() == [49406.0 + 320 + 1125 + 49407] * 4
    with pytest.raises(PortrayalError, match="is not a RN101"):
        open_pair(tmp_path / "RN50.safetensors", "RN101")

"""A local captioner: the real loading and generating code on a small BLIP with random weights."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from portrayal.errors import MissingExtra, PortrayalError
from portrayal.systems.captioners.transformers_captioner import load_model, open_system
from portrayal.systems.core.base import Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.settings import SystemSettings


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    pytest.importorskip("torch", reason="the extra [torch] is not installed")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        BlipConfig,
        BlipForConditionalGeneration,
        BlipImageProcessor,
        BlipProcessor,
        PreTrainedTokenizerFast,
    )

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "woman", "rides", "horse"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**small, "vocab_size": 8, "bos_token_id": 2, "eos_token_id": 3, "sep_token_id": 3, "pad_token_id": 0,
            "encoder_hidden_size": 16, "projection_dim": 16}  # fmt: skip
    config = BlipConfig(
        text_config=text, vision_config={**small, "image_size": 32, "patch_size": 16}, projection_dim=16
    )
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("blip")
    BlipForConditionalGeneration(config).save_pretrained(folder)
    BlipProcessor(BlipImageProcessor(size={"height": 32, "width": 32}), fast).save_pretrained(folder)
    return folder


@pytest.fixture
def question(tmp_path):
    from PIL import Image

    path = tmp_path / "grey.png"
    Image.new("RGB", (40, 30), (120, 120, 120)).save(path)
    return Question("grey", "image", str(path), "hash", source="test", consent="none shown")


@pytest.mark.filterwarnings("ignore")  # transformers announces renamed arguments of its own
def test_a_local_model_captions_a_picture(model_folder, question) -> None:
    settings = SystemSettings(
        name="local", use="transformers", parameters={"model": str(model_folder), "max_new_tokens": 5}
    )
    system = open_system(settings, model_folder.parent)
    first, second = (asyncio.run(system.ask([question]))[0] for _ in range(2))
    assert first.raw == second.raw
    assert len(json.loads(first.raw)) == 1


@pytest.mark.filterwarnings("ignore")
def test_several_samples_are_several_captions(model_folder, question) -> None:
    parameters = {"model": model_folder.name, "samples": 3, "max_new_tokens": 5}
    system = open_system(SystemSettings(name="local", use="transformers", parameters=parameters), model_folder.parent)
    answer = asyncio.run(system.ask([question]))[0]
    assert len(json.loads(answer.raw)) == 3
    assert all(set(row) == {"caption"} for row in read_answer(system, answer))


def test_a_folder_without_a_model_says_so(tmp_path) -> None:
    pytest.importorskip("torch", reason="the extra [torch] is not installed")
    with pytest.raises(PortrayalError, match="cannot be loaded"):
        load_model(str(tmp_path), "cpu")


def test_without_torch_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="torch"):
        load_model("anything", "cpu")

"""Encoders without torch at run time: ONNX pairs, ONNX vision models, recorded embeddings."""

import asyncio
import json
import warnings

import numpy as np
import polars as pl
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.pictures import folder_preparation
from systems.encoders import small_clip

TEXTS = ["a photo of a person", "angry woman"]


def system_of(use, folder, **parameters):
    return open_system(SystemSettings(name="s", use=use, parameters=parameters), folder, "encoder")


def vectors(system, asked):
    return [np.array(read_answer(system, answer)[0]["embedding"]) for answer in asyncio.run(system.ask(asked))]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Transformers' own towers as ONNX networks, with what they answer."""
    torch = pytest.importorskip(
        "torch", reason="exports the networks of the test: pip install 'portrayal-audit[torch]'"
    )
    pytest.importorskip("transformers", reason="the reference: pip install 'portrayal-audit[torch]'")
    pytest.importorskip("onnx", reason="torch's exporter needs it: pip install onnx")
    from portrayal.systems.encoders.clip_tokens import folder_tokens

    folder = tmp_path_factory.mktemp("onnx")
    model = small_clip.save(folder)

    class Vision(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, pixels):
            return self.model.visual_projection(self.model.vision_model(pixel_values=pixels).pooler_output)

    class Text(Vision):
        def forward(self, ids, mask):
            pooled = self.model.text_model(input_ids=ids, attention_mask=mask).pooler_output
            return self.model.text_projection(pooled)

    pixels = torch.zeros(2, 3, small_clip.SIDE, small_clip.SIDE)
    ids = torch.full((2, small_clip.CONTEXT), model.config.text_config.eos_token_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations
        for name, tower, given, inputs in (
            ("vision", Vision(), (pixels,), ["pixel_values"]),
            ("text", Text(), (ids, torch.ones_like(ids)), ["input_ids", "attention_mask"]),
        ):
            axes = {entry: {0: "batch"} for entry in inputs}
            torch.onnx.export(
                tower, given, folder / f"{name}.onnx", dynamo=False, input_names=inputs, dynamic_axes=axes
            )
    pictures = [small_clip.picture(seed) for seed in range(3)]
    tokens = folder_tokens(folder, small_clip.CONTEXT)
    preparation = folder_preparation(folder, small_clip.SIDE)
    return folder, pictures, *small_clip.expected(model, TEXTS, pictures, tokens, preparation)


def picture_questions(folder, pictures):
    asked = []
    for place, picture in enumerate(pictures):
        path = folder / f"{place}.png"
        picture.save(path)
        asked.append(Question(str(place), "image", str(path), f"p{place}"))
    return asked


def test_an_onnx_pair_equals_transformers(exported, tmp_path):
    folder, pictures, texts, images = exported
    system = system_of(
        "onnx_clip", folder, text="text.onnx", vision="vision.onnx", side=small_clip.SIDE, context=small_clip.CONTEXT
    )
    asked = [Question(text, "text", text, text) for text in TEXTS]
    assert np.abs(np.stack(vectors(system, asked)) - texts).max() < 1e-4
    assert np.abs(np.stack(vectors(system, picture_questions(tmp_path, pictures))) - images).max() < 1e-4


def test_an_image_only_encoder_reads_pictures_and_refuses_texts(exported, tmp_path):
    folder, pictures, _, images = exported
    system = system_of("image_encoder", folder, path="vision.onnx", side=small_clip.SIDE)
    assert np.abs(np.stack(vectors(system, picture_questions(tmp_path, pictures))) - images).max() < 1e-4
    with pytest.raises(PortrayalError, match="reads pictures only"):
        asyncio.run(system.ask([Question("t", "text", "person", "t")]))


def test_an_image_only_transformers_folder(tmp_path):
    transformers = pytest.importorskip("transformers", reason="the reference: pip install 'portrayal-audit[torch]'")
    torch = pytest.importorskip("torch", reason="the reference: pip install 'portrayal-audit[torch]'")
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = transformers.ViTModel(transformers.ViTConfig(**shape, image_size=32, patch_size=16)).eval()
    model.save_pretrained(tmp_path)
    system = system_of("image_encoder", tmp_path, path=".", device="cpu")
    asked = picture_questions(tmp_path / "..", [small_clip.picture(0)])
    preparation = folder_preparation(tmp_path, 32)
    with torch.no_grad():
        pixels = torch.from_numpy(preparation.array(small_clip.picture(0)))[None]
        expected = model(pixel_values=pixels).pooler_output.numpy()
    assert np.abs(vectors(system, asked)[0] - expected[0]).max() < 1e-4


def test_a_damaged_network_is_one_line(tmp_path):
    (tmp_path / "x.onnx").write_bytes(b"not a network")
    system = system_of("image_encoder", tmp_path, path="x.onnx")
    small_clip.picture().save(tmp_path / "0.png")
    with pytest.raises(PortrayalError, match="is no ONNX network"):
        asyncio.run(system.ask([Question("0", "image", str(tmp_path / "0.png"), "h")]))


ROWS = {"one": [1.0, 2.0], "two": [3.0, 4.0]}


def write(path, form):
    if form == "npz":
        np.savez(path, names=np.array(list(ROWS)), embeddings=np.array(list(ROWS.values())))
    elif form == "npz_each":
        np.savez(path, **{name: np.array(row) for name, row in ROWS.items()})
    elif form == "parquet":
        pl.DataFrame({"name": list(ROWS), "embedding": list(ROWS.values())}).write_parquet(path)
    else:
        from safetensors.numpy import save_file

        if form == "safetensors":
            names = {"names": json.dumps(list(ROWS))}
            save_file({"embeddings": np.array(list(ROWS.values()), np.float32)}, path, metadata=names)
        else:
            save_file({name: np.array(row, np.float32) for name, row in ROWS.items()}, path)


@pytest.mark.parametrize("form", ["npz", "npz_each", "safetensors", "safetensors_each", "parquet"])
def test_recorded_embeddings(tmp_path, form):
    path = tmp_path / f"vectors.{form.removesuffix('_each')}"
    write(path, form)
    system = system_of("embeddings", tmp_path, path=path.name)
    asked = [
        Question("two", "text", "anything", "h"),
        Question("x", "image", "folder/one.png", "h2"),
        Question("y", "text", "unknown", "h3"),
    ]
    first, second, third = asyncio.run(system.ask(asked))
    assert read_answer(system, first)[0]["embedding"] == [3.0, 4.0]
    assert read_answer(system, second)[0]["embedding"] == [1.0, 2.0]
    assert isinstance(third, CallFailed)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("x.npz", b"no", "cannot be read"), ("x.csv", b"", r"ends in '.csv'"), ("gone.npz", None, "no vector file at")],
)
def test_recorded_faults_are_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    system = system_of("embeddings", tmp_path, path=name)
    with pytest.raises(PortrayalError, match=message) as caught:
        asyncio.run(system.ask([Question("a", "text", "a", "h")]))
    assert "\n" not in str(caught.value)

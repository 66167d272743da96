"""CLIP on torch: published sizes and names, equality with transformers through every path, the wrong GELU."""

import asyncio
import hashlib
import json

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.clip.sizes import SIZES, get_size, size_of_weights
from portrayal.systems.encoders.images.pictures import Preparation, folder_preparation
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal[torch]'")
transformers = pytest.importorskip("transformers", reason="the reference: pip install 'portrayal[torch]'")

TEXTS = ["a photo of a person", "angry woman", "happy scientist"]

# Millions of parameters, total and of the vision tower: OpenCLIP, docs/model_profile.csv.
PUBLISHED = {
    "ViT-B/32": (151.28, 87.85),
    "ViT-B/16": (149.62, 86.19),
    "ViT-L/14": (427.62, 303.97),
    "RN50": (102.01, 38.32),
    "RN101": (119.69, 56.26),
    "RN50x4": (178.30, 87.14),
    "RN50x16": (290.98, 167.33),
    "RN50x64": (623.26, 420.38),
    "ViT-B-32-quickgelu": (151.28, 87.85),
    "ViT-g-14": (1366.68, 1012.65),
    "ViT-bigG-14": (2539.57, 1844.91),
}
# SHA-256 over the sorted lines "name shape" of the state dict of OpenCLIP 3.3.0's own classes.
NAMES = {
    "ViT-B/32": "33d93cd7d8ce2954",
    "ViT-B/16": "f0b7ddef9e82ee2e",
    "ViT-L/14": "322fc21453df65b0",
    "RN50": "69d4e3cd7d39c790",
    "RN101": "3816e9fd8414262a",
    "RN50x4": "a74a9b288ece95e0",
    "RN50x16": "d29b61dc6505b9bc",
    "RN50x64": "16813aea93099d46",
    "ViT-B-32-quickgelu": "33d93cd7d8ce2954",
    "ViT-g-14": "323ebec46f7ee1eb",
    "ViT-bigG-14": "77e269c90ac2b7a5",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_architecture_at_its_real_size(name):
    from portrayal.systems.encoders.clip.network import Clip

    size = get_size(name)
    with torch.device("meta"):
        network = Clip(size).eval()
        pictures = network.encode_image(torch.empty(2, 3, size.image_size, size.image_size))
        texts = network.encode_text(torch.zeros(2, 77, dtype=torch.long), torch.zeros(2, dtype=torch.long))
    assert tuple(pictures.shape) == tuple(texts.shape) == (2, size.embedding)
    counts = [sum(p.numel() for p in part.parameters()) / 1e6 for part in (network, network.visual)]
    assert [round(count, 2) for count in counts] == pytest.approx(list(PUBLISHED[name]), abs=1e-9)
    shapes = {key: tuple(value.shape) for key, value in network.state_dict().items()}
    lines = sorted(f"{key} {'x'.join(map(str, shape))}" for key, shape in shapes.items())
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == NAMES[name]
    assert size_of_weights(shapes, size.gelu, size.vision_heads) == size


def test_vit_b_32_has_the_parameters_openai_prints():
    # "Model parameters: 151,277,313", Interacting with CLIP, OpenAI's notebook.
    from portrayal.systems.encoders.clip.network import Clip

    with torch.device("meta"):
        assert sum(p.numel() for p in Clip(SIZES["ViT-B/32"]).parameters()) == 151_277_313


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    return folder, small_clip.save(folder)


@pytest.fixture(scope="module")
def reference(saved):
    from portrayal.systems.encoders.clip.tokens import folder_tokens

    folder, model = saved
    pictures = [small_clip.picture(seed) for seed in range(3)]
    tokens, preparation = (folder_tokens(folder, small_clip.CONTEXT), folder_preparation(folder, small_clip.SIDE))
    return pictures, *small_clip.expected(model, TEXTS, pictures, tokens, preparation)


def questions(folder, pictures):
    asked = [Question(text, "text", text, f"t{place}") for place, text in enumerate(TEXTS)]
    for place, picture in enumerate(pictures):
        path = folder / f"picture{place}.png"
        picture.save(path)
        asked.append(Question(path.stem, "image", str(path), f"p{place}"))
    return asked


def answers(system, asked):
    async def run():
        try:
            return await system.ask(asked)
        finally:
            await system.close()

    return [np.array(read_answer(system, answer)[0]["embedding"]) for answer in asyncio.run(run())]


def open_clip(folder, **parameters):
    settings = SystemSettings(name="c", use="clip", parameters={"device": "cpu", **parameters})
    return open_system(settings, folder, "encoder")


def assert_equal(found, reference):
    _, texts, pictures = reference
    assert np.abs(np.stack(found[: len(texts)]) - texts).max() < 1e-4
    assert np.abs(np.stack(found[len(texts) :]) - pictures).max() < 1e-4


def test_a_transformers_folder_equals_transformers(saved, reference, tmp_path):
    folder, _ = saved
    found = answers(open_clip(folder, path="."), questions(tmp_path, reference[0]))
    assert_equal(found, reference)


@pytest.fixture(scope="module")
def open_clip_folder(saved, tmp_path_factory):
    """The same weights under OpenCLIP's names, made by an independent renaming in the other direction."""
    from safetensors.torch import save_file

    folder, model = saved
    place = tmp_path_factory.mktemp("open_clip")
    weights = {}
    theirs = model.state_dict()
    for tower, ours in (("text_model", "transformer"), ("vision_model", "visual.transformer")):
        for layer in range(2):
            old, new = f"{tower}.encoder.layers.{layer}", f"{ours}.resblocks.{layer}"
            for kind in ("weight", "bias"):
                parts = [theirs[f"{old}.self_attn.{part}_proj.{kind}"] for part in ("q", "k", "v")]
                weights[f"{new}.attn.in_proj_{kind}"] = torch.cat(parts)
                weights[f"{new}.attn.out_proj.{kind}"] = theirs[f"{old}.self_attn.out_proj.{kind}"]
                weights[f"{new}.ln_1.{kind}"] = theirs[f"{old}.layer_norm1.{kind}"]
                weights[f"{new}.ln_2.{kind}"] = theirs[f"{old}.layer_norm2.{kind}"]
                weights[f"{new}.mlp.c_fc.{kind}"] = theirs[f"{old}.mlp.fc1.{kind}"]
                weights[f"{new}.mlp.c_proj.{kind}"] = theirs[f"{old}.mlp.fc2.{kind}"]
    for kind in ("weight", "bias"):
        weights[f"ln_final.{kind}"] = theirs[f"text_model.final_layer_norm.{kind}"]
        weights[f"visual.ln_pre.{kind}"] = theirs[f"vision_model.pre_layrnorm.{kind}"]
        weights[f"visual.ln_post.{kind}"] = theirs[f"vision_model.post_layernorm.{kind}"]
    weights |= {
        "token_embedding.weight": theirs["text_model.embeddings.token_embedding.weight"],
        "positional_embedding": theirs["text_model.embeddings.position_embedding.weight"],
        "text_projection": theirs["text_projection.weight"].T,
        "visual.conv1.weight": theirs["vision_model.embeddings.patch_embedding.weight"],
        "visual.class_embedding": theirs["vision_model.embeddings.class_embedding"],
        "visual.positional_embedding": theirs["vision_model.embeddings.position_embedding.weight"],
        "visual.proj": theirs["visual_projection.weight"].T,
        "logit_scale": theirs["logit_scale"],
    }
    save_file(
        {key: value.clone().contiguous() for key, value in weights.items()}, place / "open_clip_model.safetensors"
    )
    for name in ("vocab.json", "merges.txt", "preprocessor_config.json"):
        (place / name).write_bytes((folder / name).read_bytes())
    return place


def write_config(folder, quick):
    heads = {"vision_cfg": {"width": 64, "head_width": 32}, "text_cfg": {"width": 64, "heads": 2}}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": {"quick_gelu": quick, **heads}}))


def test_open_clip_names_equal_transformers(open_clip_folder, reference, tmp_path):
    write_config(open_clip_folder, quick=True)
    found = answers(open_clip(open_clip_folder, path="."), questions(tmp_path, reference[0]))
    assert_equal(found, reference)


def test_open_clips_other_gelu_gives_other_numbers(open_clip_folder, reference, tmp_path):
    write_config(open_clip_folder, quick=False)
    found = answers(open_clip(open_clip_folder, path="."), questions(tmp_path, reference[0]))
    assert np.abs(np.stack(found[:3]) - reference[1]).max() > 1e-3


def test_transformers_exact_gelu_equals_transformers(tmp_path, reference):
    from portrayal.systems.encoders.clip.tokens import folder_tokens

    model = small_clip.save(tmp_path, act="gelu")
    preparation = folder_preparation(tmp_path, small_clip.SIDE)
    tokens = folder_tokens(tmp_path, small_clip.CONTEXT)
    expected = small_clip.expected(model, TEXTS, reference[0], tokens, preparation)
    found = answers(open_clip(tmp_path, path="."), questions(tmp_path, reference[0]))
    assert_equal(found, (None, *expected))


@pytest.mark.parametrize(("act", "architecture"), [("quick_gelu", "ViT-B-32"), ("gelu", "ViT-B/32")])
def test_the_wrong_gelu_is_an_error(tmp_path, act, architecture):
    from portrayal.systems.encoders.clip.checkpoint import load_clip

    small_clip.save(tmp_path, act=act)
    with pytest.raises(PortrayalError, match="GELU"):
        load_clip(tmp_path, architecture)


def test_a_bare_file_must_name_its_architecture(open_clip_folder, tmp_path):
    from portrayal.systems.encoders.clip.checkpoint import load_clip

    bare = tmp_path / "weights.safetensors"
    bare.write_bytes((open_clip_folder / "open_clip_model.safetensors").read_bytes())
    with pytest.raises(PortrayalError, match="does not say which GELU"):
        load_clip(bare)
    with pytest.raises(PortrayalError, match="is not a ViT-B/32"):
        load_clip(bare, "ViT-B/32")


@pytest.mark.parametrize("name", ["RN50", "ViT-B/32"])
def test_a_full_size_checkpoint_loads(tmp_path, name):
    from safetensors.torch import save_file

    from portrayal.systems.encoders.clip.checkpoint import load_clip
    from portrayal.systems.encoders.clip.network import Clip

    with torch.device("meta"):
        shapes = {key: (value.shape, value.dtype) for key, value in Clip(SIZES[name]).state_dict().items()}
    weights = {key: torch.zeros(shape, dtype=kind).half() for key, (shape, kind) in shapes.items()}
    save_file(weights, tmp_path / "clip.safetensors")
    network = load_clip(tmp_path / "clip.safetensors", name)
    assert next(network.parameters()).dtype == torch.float32


@pytest.mark.parametrize(("content", "message"), [(b"garbage", "cannot be read"), (None, "no weights"), ({}, "lack")])
def test_damaged_checkpoints_are_one_line(tmp_path, content, message):
    from safetensors.torch import save_file

    from portrayal.systems.encoders.clip.checkpoint import load_clip

    if isinstance(content, bytes):
        (tmp_path / "model.bin").write_bytes(content)
    elif content is not None:
        save_file({"x": torch.zeros(2)}, tmp_path / "model.safetensors")
    target = tmp_path / "model.bin" if isinstance(content, bytes) else tmp_path
    with pytest.raises(PortrayalError, match=message) as caught:
        load_clip(target, "RN50")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [(300, 200), (200, 300), (224, 224), (100, 50), (1000, 333), (37, 411)])
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_pictures_equal_transformers_pillow_processor(size, mode):
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    picture = small_clip.picture(1, size).convert(mode)
    theirs = CLIPImageProcessorPil()(picture.convert("RGB"), return_tensors="np")["pixel_values"][0]
    assert np.abs(Preparation(crop="transformers").array(picture) - theirs).max() < 1e-3


def test_a_larger_cut_than_the_picture_is_filled_as_transformers_does():
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    picture = small_clip.picture(2, (61, 40))
    processor = CLIPImageProcessorPil(size={"shortest_edge": 40}, crop_size={"height": 65, "width": 65})
    theirs = processor(picture, return_tensors="np")["pixel_values"][0]
    assert np.abs(Preparation(65, shortest=40, crop="transformers").array(picture) - theirs).max() < 1e-3


def test_processes_that_decode_give_the_same(saved, reference, tmp_path):
    folder, _ = saved
    found = answers(open_clip(folder, path=".", decoders=1), questions(tmp_path, reference[0]))
    assert_equal(found, reference)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_stays_close(saved, reference, tmp_path, precision):
    folder, _ = saved
    found = answers(open_clip(folder, path=".", precision=precision), questions(tmp_path, reference[0]))
    for vector, exact in zip(found, [*reference[1], *reference[2]], strict=True):
        cosine = vector @ exact / np.linalg.norm(vector) / np.linalg.norm(exact)
        assert cosine > 0.999


@pytest.mark.parametrize("precision", ["bfloat16", "float16", "float32"])
def test_a_processor_computes_in_single_precision_with_rounded_weights(saved, precision):
    towers = open_clip(saved[0], path=".", device="cpu", precision=precision).load()
    assert towers.dtype == torch.float32
    exact = open_clip(saved[0], path=".", device="cpu").load().network.state_dict()
    for name, weight in towers.network.state_dict().items():
        assert torch.equal(weight, exact[name].to(getattr(torch, precision)).float())


def test_embeddings_are_cached_by_content_and_model(saved, reference, tmp_path, monkeypatch):
    from portrayal.systems.encoders import clip_encoder

    folder, _ = saved
    asked = questions(tmp_path, reference[0])
    cache = str(tmp_path / "cache.sqlite")
    first = answers(open_clip(folder, path=".", cache=cache), asked[:4])
    loads = []
    monkeypatch.setattr(clip_encoder.ClipEncoder, "load", lambda self: loads.append(1) or pytest.fail("encoded again"))
    again = answers(open_clip(folder, path=".", cache=cache), asked[:4])
    assert np.allclose(first, again)
    with pytest.raises(pytest.fail.Exception):  # another precision is another model
        answers(open_clip(folder, path=".", cache=cache, precision="bfloat16"), asked[:1])
    assert len(loads) == 1


def test_an_unreadable_picture_fails_alone(saved, tmp_path):
    folder, _ = saved
    (tmp_path / "broken.png").write_bytes(b"no picture")
    asked = [
        Question("a", "text", "person", "h1"),
        Question("b", "image", str(tmp_path / "broken.png"), "h2"),
        Question("c", "image", str(tmp_path / "gone.png"), "h3"),
    ]
    found = asyncio.run(open_clip(folder, path=".").ask(asked))
    assert [isinstance(answer, CallFailed) for answer in found] == [False, True, True]


def test_a_text_beyond_the_context_is_an_error(saved):
    folder, _ = saved
    with pytest.raises(PortrayalError, match="tokens, the encoder reads 64"):
        asyncio.run(open_clip(folder, path=".").ask([Question("a", "text", "person " * 80, "h")]))


def test_a_missing_model_is_one_line(tmp_path):
    with pytest.raises(PortrayalError, match="no model at"):
        open_clip(tmp_path, path="./nowhere")
    with pytest.raises(PortrayalError, match="not in the local cache"):
        open_clip(tmp_path, path="nobody/nothing-at-all")


def test_another_two_tower_model_runs_through_transformers(tmp_path):
    from portrayal.systems.encoders.transformers_pair import TransformersPair

    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.SiglipConfig(
        text_config={**shape, "vocab_size": 300, "max_position_embeddings": 8},
        vision_config={**shape, "image_size": 32, "patch_size": 16},
    )
    model = transformers.SiglipModel(config).eval()
    model.save_pretrained(tmp_path)
    small_clip.save(tmp_path / "words")
    tokenizer = transformers.CLIPTokenizer(
        vocab=str(tmp_path / "words" / "vocab.json"), merges=str(tmp_path / "words" / "merges.txt")
    )
    tokenizer.save_pretrained(tmp_path)
    towers = TransformersPair(tmp_path)
    pixels = np.stack([Preparation(32).pixels(small_clip.picture(seed)) for seed in range(2)])
    arrays = Preparation(32).normal(pixels)
    with torch.no_grad():
        expected = model.vision_model(pixel_values=torch.from_numpy(arrays)).pooler_output.numpy()
    assert np.abs(towers.pictures(pixels) - expected).max() < 1e-4
    assert towers.texts(["a person", "happy"]).shape == (2, 32)


@pytest.mark.parametrize(("file", "asked"), [("model.safetensors", 1), ("pytorch_model.bin", 2)])
def test_a_hub_model_with_older_weights_is_fetched_too(tmp_path, monkeypatch, file, asked):
    import fnmatch

    import huggingface_hub

    from portrayal.systems.encoders.models import find_model

    there = ["config.json", file]
    calls = []

    def snapshot(name, allow_patterns, local_files_only):
        calls.append((name, local_files_only))
        for one in there:
            if any(fnmatch.fnmatch(one, pattern) for pattern in allow_patterns):
                (tmp_path / "hub").mkdir(exist_ok=True)
                (tmp_path / "hub" / one).touch()
        return str(tmp_path / "hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    found = find_model("someone/model", tmp_path, download=True)
    assert sorted(path.name for path in found.iterdir()) == sorted(there)
    assert calls == [("someone/model", False)] * asked


def test_captions_are_ranked_as_transformers_own_cosines_rank_them(saved, reference, tmp_path):
    folder, _ = saved
    pictures, texts, images = reference
    (folder / "candidates.txt").write_text("\n".join(TEXTS))
    parameters = {"encoder": "clip", "settings": {"path": ".", "device": "cpu"}}
    settings = SystemSettings(
        name="c", use="ranked_captions", parameters={**parameters, "candidates": "candidates.txt", "captions": 2}
    )
    system = open_system(settings, folder, "captioner")
    asked = questions(tmp_path, pictures)[len(TEXTS) :]

    async def run():
        try:
            return await system.ask(asked)
        finally:
            await system.close()

    found = [[row["caption"] for row in read_answer(system, answer)] for answer in asyncio.run(run())]
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (texts, images)]
    expected = [[TEXTS[place] for place in np.argsort(-row)[:2]] for row in unit[1] @ unit[0].T]
    assert found == expected

"""CLIP on torch: published sizes and names, equality with transformers through every path, the wrong GELU."""

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, CallFailed, Question
from portrayal.systems.core.readers import read_answer
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders import clip_weights, pairs
from portrayal.systems.encoders import towers as towers_module
from portrayal.systems.encoders.clip_weights import ARCHITECTURES
from portrayal.systems.encoders.pairs import TransformersPair, open_pair
from portrayal.systems.encoders.pictures import Preparation, folder_preparation
from systems.encoders import small_clip

torch = pytest.importorskip("torch", reason="encoders run on torch: pip install 'portrayal-audit[torch]'")
transformers = pytest.importorskip("transformers", reason="the reference: pip install 'portrayal-audit[torch]'")

TEXTS = ["a photo of a person", "angry woman", "happy scientist"]

# Millions of parameters, total and of the vision tower (OpenCLIP, docs/model_profile.csv); SHA-256 over the sorted lines "name
# shape" of the state dict of OpenCLIP 3.3.0's own classes; the side of its pictures, and the width inside the vision blocks.
PUBLISHED = {
    "ViT-B/32": (151.28, 87.85, "33d93cd7d8ce2954", 224, 3072),
    "ViT-B/16": (149.62, 86.19, "f0b7ddef9e82ee2e", 224, 3072),
    "ViT-L/14": (427.62, 303.97, "322fc21453df65b0", 224, 4096),
    "ViT-B-32-quickgelu": (151.28, 87.85, "33d93cd7d8ce2954", 224, 3072),
    "ViT-g-14": (1366.68, 1012.65, "323ebec46f7ee1eb", 224, 6144),
    "ViT-bigG-14": (2539.57, 1844.91, "77e269c90ac2b7a5", 224, 8192),
}


def of_real_size(name):
    """Return transformers' CLIP of an architecture, without numbers."""
    *_, side, hidden = PUBLISHED[name]
    shape = ARCHITECTURES[name]
    heads = shape.heads or shape.width // 64
    vision = {"hidden_size": shape.width, "intermediate_size": hidden, "num_attention_heads": heads}
    text = {"hidden_size": shape.text_width, "intermediate_size": 4 * shape.text_width}
    text |= {"num_hidden_layers": shape.text_layers, "num_attention_heads": shape.text_width // 64}
    with torch.device("meta"):
        return transformers.CLIPModel(
            transformers.CLIPConfig(
                projection_dim=shape.embedding,
                vision_config=vision
                | {"num_hidden_layers": shape.layers, "patch_size": shape.patch, "image_size": side},
                text_config=text,
            )
        )


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_architecture_at_its_real_size(name):
    model = of_real_size(name)
    weights = small_clip.open_clip_names(model.state_dict())
    vision = sum(value.numel() for key, value in weights.items() if key.startswith("visual.")) / 1e6
    total = sum(value.numel() for value in weights.values()) / 1e6
    assert (round(total, 2), round(vision, 2), small_clip.digest(weights)) == PUBLISHED[name][:3]
    assert clip_weights._shape(weights)[:6] == ARCHITECTURES[name][:6]
    built = clip_weights.build_clip(weights, ARCHITECTURES[name], Path())
    found = {key: value.shape for key, value in built.state_dict().items()}
    assert found == {key: value.shape for key, value in model.state_dict().items()}
    assert built.config.vision_config.num_attention_heads == model.config.vision_config.num_attention_heads


def test_vit_b_32_has_the_parameters_openai_prints():
    # "Model parameters: 151,277,313", Interacting with CLIP, OpenAI's notebook.
    assert sum(p.numel() for p in of_real_size("ViT-B/32").parameters()) == 151_277_313


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    return folder, small_clip.save(folder)


@pytest.fixture(scope="module")
def reference(saved):
    from portrayal.systems.encoders.clip_tokens import folder_tokens

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
    weights = small_clip.open_clip_names(model.state_dict())
    save_file(
        {key: value.clone().contiguous() for key, value in weights.items()}, place / "open_clip_model.safetensors"
    )
    for name in ("vocab.json", "merges.txt", "preprocessor_config.json"):
        (place / name).write_bytes((folder / name).read_bytes())
    return place


def test_open_clip_names_equal_transformers(open_clip_folder, reference, tmp_path):
    small_clip.write_open_clip_config(open_clip_folder, quick=True)
    found = answers(open_clip(open_clip_folder, path="."), questions(tmp_path, reference[0]))
    assert_equal(found, reference)


def test_open_clips_other_gelu_gives_other_numbers(open_clip_folder, reference, tmp_path):
    small_clip.write_open_clip_config(open_clip_folder, quick=False)
    found = answers(open_clip(open_clip_folder, path="."), questions(tmp_path, reference[0]))
    assert np.abs(np.stack(found[:3]) - reference[1]).max() > 1e-3


def test_transformers_exact_gelu_equals_transformers(tmp_path, reference):
    from portrayal.systems.encoders.clip_tokens import folder_tokens

    model = small_clip.save(tmp_path, act="gelu")
    preparation = folder_preparation(tmp_path, small_clip.SIDE)
    tokens = folder_tokens(tmp_path, small_clip.CONTEXT)
    expected = small_clip.expected(model, TEXTS, reference[0], tokens, preparation)
    found = answers(open_clip(tmp_path, path="."), questions(tmp_path, reference[0]))
    assert_equal(found, (None, *expected))


@pytest.mark.parametrize(("act", "architecture"), [("quick_gelu", "ViT-B-32"), ("gelu", "ViT-B/32")])
def test_the_wrong_gelu_is_an_error(tmp_path, act, architecture):
    small_clip.save(tmp_path, act=act)
    with pytest.raises(PortrayalError, match="GELU"):
        open_pair(tmp_path, architecture)


def test_a_bare_file_must_name_its_architecture(open_clip_folder, tmp_path):
    bare = tmp_path / "weights.safetensors"
    bare.write_bytes((open_clip_folder / "open_clip_model.safetensors").read_bytes())
    with pytest.raises(PortrayalError, match="does not say which GELU"):
        open_pair(bare)
    with pytest.raises(PortrayalError, match="is not a ViT-B/32"):
        open_pair(bare, "ViT-B/32")


def test_a_full_size_checkpoint_loads(tmp_path):
    from safetensors.torch import save_file

    names = small_clip.open_clip_names(of_real_size("ViT-B/32").state_dict())
    save_file({key: torch.zeros(value.shape).half() for key, value in names.items()}, tmp_path / "clip.safetensors")
    model = open_pair(tmp_path / "clip.safetensors", "ViT-B/32").model
    assert {part.dtype for part in model.parameters()} == {torch.float32}


@pytest.mark.parametrize(("content", "message"), [(b"garbage", "cannot be read"), (None, "no weights"), ({}, "lack")])
def test_damaged_checkpoints_are_one_line(tmp_path, content, message):
    from safetensors.torch import save_file

    if isinstance(content, bytes):
        (tmp_path / "model.bin").write_bytes(content)
    elif content is not None:
        save_file({"x": torch.zeros(2)}, tmp_path / "model.safetensors")
    target = tmp_path / "model.bin" if isinstance(content, bytes) else tmp_path
    with pytest.raises(PortrayalError, match=message) as caught:
        open_pair(target, "RN50")
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
    exact = open_clip(saved[0], path=".", device="cpu").load().model.state_dict()
    for name, weight in towers.model.state_dict().items():
        assert torch.equal(weight, exact[name].to(getattr(torch, precision)).float())


def test_embeddings_are_cached_by_content_and_model(saved, reference, tmp_path, monkeypatch):
    folder, _ = saved
    asked = questions(tmp_path, reference[0])
    cache = str(tmp_path / "cache.sqlite")
    first = answers(open_clip(folder, path=".", cache=cache), asked[:4])
    loads = []
    monkeypatch.setattr(pairs, "open_pair", lambda *given: loads.append(1) or pytest.fail("encoded again"))
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
    towers = open_pair(tmp_path)
    assert isinstance(towers, TransformersPair)
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


def test_a_batch_is_decoded_while_another_is_encoded(saved, tmp_path, monkeypatch):
    """The first batch is encoded only once the second was decoded: without overlap it would wait in vain."""
    decoded, in_time = threading.Semaphore(0), []
    cut_file = towers_module.cut_file

    def counted(path, preparation):
        decoded.release()
        return cut_file(path, preparation)

    class Waiting(towers_module.Towers):
        preparation = Preparation(8)

        def pictures(self, pixels):
            in_time.append(all(decoded.acquire(timeout=20) for _ in range(2 if not in_time else 0)))
            return np.zeros((len(pixels), 2), np.float32)

    monkeypatch.setattr(towers_module, "cut_file", counted)
    system = open_clip(saved[0], path=".")
    system.load = Waiting
    first, second = questions(tmp_path, [small_clip.picture(seed) for seed in range(2)])[len(TEXTS) :]

    async def both():
        await asyncio.gather(system.ask([first]), system.ask([second]))
        await system.close()

    asyncio.run(both())
    assert in_time == [True, True]


def test_answers_of_workers_are_kept(saved, tmp_path):
    question = Question("t", "text", "a photo", "t")
    system = open_clip(saved[0], path=".", cache=str(tmp_path / "cache.sqlite"))
    answer = Answer(np.ones(3, "<f4").tobytes(), "application/x-float32", system.model_hash)
    assert system.recalled([question]) == {}
    system.remember([question], [answer])
    assert system.recalled([question]) == {question.hash: answer}
    asyncio.run(system.close())


def test_a_misspelt_way_of_decoding_is_refused(saved):
    with pytest.raises(PortrayalError, match="decode"):
        open_clip(saved[0], path=".", decode="quick")


def test_pictures_of_earlier_fast_studies_are_decoded_exactly(saved, reference, tmp_path):
    found = answers(open_clip(saved[0], path=".", decode="fast"), questions(tmp_path, reference[0]))
    assert_equal(found, reference)

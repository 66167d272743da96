"""A small random CLIP of transformers with a small vocabulary, saved as its authors would save it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from PIL import Image

SIDE, CONTEXT, WIDTH = 64, 64, 32
WORDS = ["a", "photo", "of", "person", "angry", "happy", "woman", "scientist"]


def config(act="quick_gelu"):
    from transformers import CLIPConfig

    shape = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 2}
    vocabulary = len(vocabulary_of_words())
    text = {**shape, "vocab_size": vocabulary, "max_position_embeddings": CONTEXT, "hidden_act": act}
    text |= {"bos_token_id": vocabulary - 2, "eos_token_id": vocabulary - 1, "pad_token_id": vocabulary - 1}
    vision = {**shape, "image_size": SIDE, "patch_size": 16, "hidden_act": act}
    given = {"projection_dim": WIDTH}
    return CLIPConfig(text_config={**text, **given}, vision_config={**vision, **given}, **given)


def vocabulary_of_words():
    letters = [chr(code) for code in range(ord("!"), ord("~") + 1)]
    words = [*letters, *(letter + "</w>" for letter in letters)]
    for word in WORDS:
        for end in range(2, len(word) + 1):
            piece = word[:end] + ("</w>" if end == len(word) else "")
            if piece not in words:
                words.append(piece)
    return {word: number for number, word in enumerate([*words, "<|startoftext|>", "<|endoftext|>"])}


def merges():
    pairs = []
    for word in WORDS:
        for end in range(2, len(word) + 1):
            last = word[end - 1] + ("</w>" if end == len(word) else "")
            if (word[: end - 1], last) not in pairs:
                pairs.append((word[: end - 1], last))
    return pairs


def random_clip(act="quick_gelu", seed=0):
    """Return transformers' own model with random weights."""
    import torch
    from transformers import CLIPModel

    torch.manual_seed(seed)
    model = CLIPModel(config(act)).eval()
    for weights in model.parameters():  # far from zero, so that a wrong GELU or a lost bias shows
        weights.data.add_(0.05 * torch.randn_like(weights))
    return model


def write_open_clip_config(folder: Path, quick: bool):
    """Say of a folder that its weights are this small CLIP's, under OpenCLIP's names."""
    heads = {"vision_cfg": {"width": 64, "head_width": 32}, "text_cfg": {"width": 64, "heads": 2}}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": {"quick_gelu": quick, **heads}}))


def save(folder: Path, act="quick_gelu", seed=0):
    """Save model, tokenizer and preparation; give back transformers' own model."""
    model = random_clip(act, seed)
    model.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps(vocabulary_of_words()))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges()))
    preparation = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}, "resample": 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(preparation))
    return model


def picture(seed=0, size=(90, 70)):
    """A picture of nothing: smooth colours and noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: size[1], : size[0]]
    waves = [np.sin((x * a + y * b) / 15 + c) for a, b, c in rng.uniform(-1, 1, (3, 3)) * [1, 1, 3]]
    noise = rng.integers(-20, 20, (size[1], size[0], 3))
    return Image.fromarray(np.clip(np.stack(waves, axis=2) * 90 + 128 + noise, 0, 255).astype(np.uint8))


def expected(model, texts, pictures, tokens, preparation):
    """Return the vectors of transformers' own towers."""
    import torch

    ids = torch.full((len(texts), CONTEXT), model.config.text_config.eos_token_id)
    given, _ = tokens.encode(texts)
    for row, (text_ids, text) in enumerate(zip(given, texts, strict=True)):
        length = len(tokens.encode([text])[0][0])
        ids[row, :length] = torch.from_numpy(text_ids[:length])
    pixels = torch.from_numpy(np.stack([preparation.array(picture) for picture in pictures]))
    with torch.no_grad():
        text = model.text_projection(model.text_model(input_ids=ids).pooler_output)
        vision = model.visual_projection(model.vision_model(pixel_values=pixels).pooler_output)
    return text.numpy(), vision.numpy()


def open_clip_names(theirs):
    """Return transformers' weights under OpenCLIP's names, renamed by hand in the direction the product does not take."""
    import torch

    weights = {}
    for tower, ours in (("text_model", "transformer"), ("vision_model", "visual.transformer")):
        layers = {name.split(".")[3] for name in theirs if name.startswith(f"{tower}.encoder.layers.")}
        for layer in layers:
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
    return weights | {
        "token_embedding.weight": theirs["text_model.embeddings.token_embedding.weight"],
        "positional_embedding": theirs["text_model.embeddings.position_embedding.weight"],
        "text_projection": theirs["text_projection.weight"].T,
        "visual.conv1.weight": theirs["vision_model.embeddings.patch_embedding.weight"],
        "visual.class_embedding": theirs["vision_model.embeddings.class_embedding"],
        "visual.positional_embedding": theirs["vision_model.embeddings.position_embedding.weight"],
        "visual.proj": theirs["visual_projection.weight"].T,
        "logit_scale": theirs["logit_scale"],
    }


def digest(weights):
    """Return a SHA-256, cut short, over the sorted lines "name shape" of a state dict."""
    lines = sorted(f"{name} {'x'.join(map(str, value.shape))}" for name, value in weights.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

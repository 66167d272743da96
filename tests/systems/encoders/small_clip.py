"""A small random CLIP of transformers with a small vocabulary, saved as its authors would save it."""

from __future__ import annotations

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


def save(folder: Path, act="quick_gelu", seed=0):
    """Save model, tokenizer and preparation; give back transformers' own model."""
    import torch
    from transformers import CLIPModel

    torch.manual_seed(seed)
    model = CLIPModel(config(act)).eval()
    for weights in model.parameters():  # far from zero, so that a wrong GELU or a lost bias shows
        weights.data.add_(0.05 * torch.randn_like(weights))
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
    """What transformers' own towers say."""
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

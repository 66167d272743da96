"""CLIP's tokens: byte-pair encoding of lower-cased text between a start and an end token."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.tables import read_json

VOCABULARY = Path(__file__).parent / "vocabularies" / "clip_merges.txt.gz"
START, END = "<|startoftext|>", "<|endoftext|>"
PIECES = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
MERGES = 49152 - 256 - 2  # the vocabulary less single bytes and the two special tokens


@dataclass(frozen=True)
class Tokens:
    """A tokenizer with the ids CLIP puts around a text."""

    tokenizer: Any
    start: int
    end: int
    context: int = 77

    def encode(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return token ids, padded with zeros to the longest text, and where each text ends."""
        rows = [self._ids(text) for text in texts]
        ids = np.zeros((len(rows), max(map(len, rows), default=0)), dtype=np.int64)
        for padded, row in zip(ids, rows, strict=True):
            padded[: len(row)] = row
        return ids, np.array([len(row) - 1 for row in rows], dtype=np.int64)

    def _ids(self, text: str) -> list[int]:
        """Return a text's ids, refusing to cut it: it would be another text."""
        inner = self.tokenizer.encode(text, add_special_tokens=False).ids
        if len(inner) + 2 > self.context:
            raise PortrayalError(
                f"{text[:40]!r}... has {len(inner) + 2} tokens, the encoder reads {self.context}. Shorten it."
            )
        return [self.start, *inner, self.end]


def folder_tokens(folder: Path, context: int = 77) -> Tokens:
    """Read the tokenizer of a model's folder (tokenizer.json, or vocab.json and merges.txt)."""
    from tokenizers import Tokenizer

    if (folder / "tokenizer.json").is_file():
        return _wrap(Tokenizer.from_file(str(folder / "tokenizer.json")), context)
    if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
        vocabulary = read_json(folder / "vocab.json", "a vocabulary")
        lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
        pairs = [tuple(line.split()) for line in lines if line and not line.startswith("#version")]
        return _wrap(build_tokenizer(vocabulary, pairs), context)
    return standard_tokens(context)


@cache
def standard_tokens(context: int = 77) -> Tokens:
    """Return the tokens all of OpenAI's and most of OpenCLIP's models share."""
    return _wrap(build_tokenizer(*read_merges(VOCABULARY)), context)


def read_merges(path: Path) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    """Read vocabulary and merges of a file in the format CLIP was published with."""
    from tokenizers import pre_tokenizers

    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[1 : MERGES + 1]
    merges = [tuple(line.split()) for line in lines]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())  # of bytes: the printable ones first, the others from 256 on
    words = [*letters, *(letter + "</w>" for letter in letters), *("".join(pair) for pair in merges), START, END]
    return {word: number for number, word in enumerate(words)}, merges


def build_tokenizer(vocabulary: dict[str, int], merges: Sequence[Any]) -> Any:
    """Build the tokenizer from a vocabulary and its merges."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges), end_of_word_suffix="</w>", unk_token=END))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    split = pre_tokenizers.Split(Regex(PIECES), behavior="removed", invert=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def _wrap(tokenizer: Any, context: int) -> Tokens:
    start, end = tokenizer.token_to_id(START), tokenizer.token_to_id(END)
    if start is None or end is None:
        raise PortrayalError(f"the tokenizer has no {START} or {END}. Expected a tokenizer of CLIP.")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Tokens(tokenizer, start, end, context)

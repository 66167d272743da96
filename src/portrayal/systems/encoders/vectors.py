"""Word vectors from a file: `use = "vectors"` with `path` among the parameters.

    [[systems]]
    name = "word2vec"
    use = "vectors"
    parameters = { path = "GoogleNews-vectors-negative300.bin.gz" }

Formats: word2vec binary (.bin) and text, GloVe and fastText text (.txt, .vec), .npz, .safetensors and .parquet; the
first two also as .gz. See `portrayal.text.vectors.files` for what a file must hold. Recorded embeddings of
pictures are read alike, with the stimulus's id in the place of the word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder
from portrayal.systems.encoders.models import fingerprint
from portrayal.text.vectors.files import FORMATS, read_vectors


class Lookup(Settings):
    """Rules for looking words up.

    `phrases`: a text of several words that is not in the vocabulary is missing, or gets the mean of its
    words' vectors when all of them are there.
    """

    lowercase: bool = False
    phrases: Literal["missing", "mean"] = "missing"


class VectorSettings(Lookup):
    """File of vectors and rules for looking words up."""

    path: str
    format: str | None = None  # None: by the file's name


@dataclass
class VectorFile(LocalEncoder):
    """Vocabulary in a file, of which only the words asked for are read."""

    path: Path = field(default_factory=Path)
    lookup: VectorSettings = field(default_factory=lambda: VectorSettings(path=""))

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Read the file once for these texts."""
        found = read_vectors(self.path, needed_words(texts, self.lookup), self.lookup.format)
        return look_up(texts, found, self.lookup)

    def text_of(self, question: Question) -> str:
        """Return the word to look up; recorded embeddings of pictures stand under the stimulus's id."""
        return question.stimulus if question.kind == "image" else question.content

    def answered_version(self) -> str:
        """Return a fingerprint of the file."""
        return self.version or fingerprint(self.path)


def open_system(settings: SystemSettings, folder: Path) -> VectorFile:
    """Open a vector file by name; it is read when first asked."""
    lookup = settings.read(VectorSettings)
    if lookup.format is not None and lookup.format not in FORMATS:
        raise PortrayalError(
            f"parameters of system {settings.name!r}: no format {lookup.format!r}. Known: {', '.join(FORMATS)}."
        )
    return VectorFile(
        **settings.fields(f"vectors:{lookup.path}", kind="encoder"), path=folder / lookup.path, lookup=lookup
    )


def needed_words(texts: Sequence[str], lookup: Lookup) -> set[str]:
    """Return every vocabulary entry that could answer these texts."""
    return {form for text in texts for form in (*_forms(text, lookup), *_words(text, lookup))}


def look_up(texts: Sequence[str], vectors: Mapping[str, np.ndarray], lookup: Lookup) -> list[np.ndarray | None]:
    """Return one vector per text, or None where there is none."""
    return [_find(text, vectors, lookup) for text in texts]


def _find(text: str, vectors: Mapping[str, np.ndarray], lookup: Lookup) -> np.ndarray | None:
    for form in _forms(text, lookup):
        if form in vectors:
            return vectors[form]
    words = _words(text, lookup)
    if words and all(word in vectors for word in words):
        return np.mean([vectors[word] for word in words], axis=0)
    return None


def _forms(text: str, lookup: Lookup) -> list[str]:
    text = text.lower() if lookup.lowercase else text
    return [text, text.replace(" ", "_")] if " " in text else [text]  # word2vec joins phrases with underscores


def _words(text: str, lookup: Lookup) -> list[str]:
    if lookup.phrases == "missing" or " " not in text:
        return []
    return (text.lower() if lookup.lowercase else text).split()

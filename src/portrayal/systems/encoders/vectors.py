"""Vectors of words from a file, or recorded embeddings: `use = "vectors"`, `use = "embeddings"`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import MEDIA, LocalEncoder, pack
from portrayal.systems.encoders.models import fingerprint
from portrayal.text.vectors.files import FORMATS, read_vectors


class Lookup(Settings):
    """Rules for looking words up."""

    lowercase: bool = False
    phrases: Literal["missing", "mean"] = "missing"  # of a text that is not in the vocabulary: the mean of its words


class VectorSettings(Lookup):
    """File of vectors and rules for looking words up."""

    path: str
    format: str | None = None  # None: by the file's name


@dataclass
class WordVectors(LocalEncoder):
    """Vocabulary of which only the words asked for are read."""

    lookup: Lookup = Lookup()
    read: Callable[[set[str]], Mapping[str, np.ndarray]] = field(kw_only=True)

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Look the texts up, reading the vocabulary once."""
        entries = [self._entries(text) for text in texts]
        vectors = self.read({entry for whole, words in entries for entry in (*whole, *words)})
        return [_find(vectors, whole, words) for whole, words in entries]

    def _entries(self, text: str) -> tuple[list[str], list[str]]:
        """Return the entries that answer a text by themselves, and those of its words."""
        text = text.lower() if self.lookup.lowercase else text
        if " " not in text:
            return [text], []
        words = text.split() if self.lookup.phrases == "mean" else []
        return [text, text.replace(" ", "_")], words  # word2vec joins phrases with underscores


def _find(vectors: Mapping[str, np.ndarray], whole: Sequence[str], words: Sequence[str]) -> np.ndarray | None:
    vector = next((vectors[entry] for entry in whole if entry in vectors), None)
    if vector is None and words and all(word in vectors for word in words):
        return np.mean([vectors[word] for word in words], axis=0)
    return vector


@dataclass
class VectorFile(WordVectors):
    """Vocabulary in a file."""

    path: Path = field(kw_only=True)

    def text_of(self, question: Question) -> str:
        """Return the word to look up; recorded embeddings of pictures stand under the stimulus's id."""
        return question.stimulus if question.kind == "image" else question.content

    def answered_version(self) -> str:
        """Return a fingerprint of the file."""
        return self.version or fingerprint(self.path)


def open_system(settings: SystemSettings, folder: Path) -> VectorFile | RecordedEmbeddings:
    """Open a file of vectors; it is read when first asked."""
    if settings.use == "embeddings":
        return _open_recorded(settings, folder)
    lookup = settings.read(VectorSettings)
    if lookup.format is not None and lookup.format not in FORMATS:
        raise PortrayalError(
            f"parameters of system {settings.name!r}: no format {lookup.format!r}. Known: {', '.join(FORMATS)}."
        )
    path = folder / lookup.path
    return VectorFile(
        **settings.fields(f"vectors:{lookup.path}", kind="encoder"),
        path=path,
        lookup=lookup,
        read=lambda words: read_vectors(path, words, lookup.format),
    )


class RecordedSettings(Settings):
    """The file."""

    path: str


@dataclass
class RecordedEmbeddings(BaseSystem):
    """Embeddings from a file, read when first asked."""

    batch: int = 1024
    reader: str = "vector"
    repeatable: bool = True
    path: Path = field(kw_only=True)
    _vectors: Mapping[str, np.ndarray] | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Look the questions up; one without an embedding fails, it is never zero."""
        if self._vectors is None:
            self._vectors = read_vectors(self.path)
        return [_look_up(question, self._vectors) for question in questions]


def _look_up(question: Question, vectors: Mapping[str, np.ndarray]) -> Answer | Exception:
    place = Path(question.content)
    files = [place.name, place.stem] if question.kind == "image" else []
    names = [question.stimulus, question.hash, question.content, *files]
    name = next((name for name in names if name in vectors), None)
    return CallFailed("no recorded embedding for this stimulus") if name is None else Answer(pack(vectors[name]), MEDIA)


def _open_recorded(settings: SystemSettings, folder: Path) -> RecordedEmbeddings:
    own = settings.read(RecordedSettings)
    path = folder / own.path
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else "missing"
    return RecordedEmbeddings(**settings.fields(f"embeddings:{own.path}:{digest}"), path=path)

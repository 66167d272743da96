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

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Question
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder
from portrayal.systems.encoders.lookup import Lookup, look_up, needed_words
from portrayal.systems.encoders.models import fingerprint
from portrayal.text.vectors.files import FORMATS, read_vectors


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

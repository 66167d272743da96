"""What encoders of pictures (and texts) share: decoding, batches, the cache, and one answer per question."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from portrayal.errors import PortrayalError
from portrayal.systems.base import Answer, BaseSystem, Question
from portrayal.systems.encoders.embedding_cache import EmbeddingCache
from portrayal.systems.encoders.local import MEDIA, pack
from portrayal.systems.encoders.pictures import Preparation, cut_file

THREADS = 4  # Pillow resizes outside Python's lock but decodes JPEGs inside it, so more threads gain little


class Towers:
    """A loaded model. `preparation` is how its pictures are made; a tower it lacks says so."""

    preparation: Preparation = Preparation()

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return one embedding per text."""
        raise PortrayalError("this encoder reads pictures only. Use it for image-image tests.")

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Return one embedding per cut-out picture (8 bit, batch x side x side x 3)."""
        raise PortrayalError("this encoder reads texts only.")


@dataclass
class TowerEncoder(BaseSystem):
    """An encoder of pictures and texts; its subclasses write `load`."""

    batch: int = 64
    reader: str = "vector"
    repeatable: bool = True
    model_hash: str = ""
    cache: Path | None = None
    decoders: int = 0  # processes that decode pictures; 0: threads
    _pool: Executor | None = None
    _towers: Towers | None = None
    _kept: EmbeddingCache | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def load(self) -> Towers:
        """Load the model; called once, when first asked."""
        raise NotImplementedError

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Encode the batch in another thread, so that the recorder stays awake."""
        return await asyncio.to_thread(self._answers, list(questions))

    async def close(self) -> None:
        """Let go of the model, the decoders and the cache."""
        self._towers = None
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def recalled(self, questions: Sequence[Question]) -> dict[str, Answer | Exception]:
        """Return what the cache has, by content hash."""
        with self._lock:
            return {key: self._answer(vector) for key, vector in self._cached(questions).items()}

    def remember(self, questions: Sequence[Question], answers: Sequence[Answer | Exception]) -> None:
        """Put answers that came from elsewhere into the cache, where there is one."""
        good = {
            question.hash: np.frombuffer(answer.raw, "<f4")
            for question, answer in zip(questions, answers, strict=True)
            if isinstance(answer, Answer)
        }
        with self._lock:
            if self._kept is not None:
                self._kept.put(self.model_hash, good)

    def _answers(self, questions: list[Question]) -> list[Answer | Exception]:
        with self._lock:  # several workers share one model
            found = self._cached(questions)
            missing = [question for question in questions if question.hash not in found]
            found |= self._encode(missing)
        return [self._answer(found[question.hash]) for question in questions]

    def _answer(self, vector: np.ndarray | Exception) -> Answer | Exception:
        return vector if isinstance(vector, Exception) else Answer(pack(vector), MEDIA, self.model_hash)

    def _cached(self, questions: Sequence[Question]) -> dict[str, np.ndarray | Exception]:
        if self.cache is None:
            return {}
        self._kept = self._kept or EmbeddingCache(self.cache)
        return dict(self._kept.get(self.model_hash, [question.hash for question in questions]))

    def _encode(self, questions: Sequence[Question]) -> dict[str, np.ndarray | Exception]:
        """Encode what the cache does not have; a picture that cannot be read is an error of its own."""
        unique = list({question.hash: question for question in questions}.values())
        if not unique:
            return {}
        self._towers = self._towers or self.load()
        found: dict[str, np.ndarray | Exception] = {}
        texts = [question for question in unique if question.kind != "image"]
        if texts:
            vectors = self._towers.texts([question.content for question in texts])
            found |= {question.hash: vector for question, vector in zip(texts, vectors, strict=True)}
        found |= self._pictures([question for question in unique if question.kind == "image"])
        if self._kept is not None:
            good = {key: vector for key, vector in found.items() if not isinstance(vector, Exception)}
            self._kept.put(self.model_hash, good)
        return found

    def _pictures(self, questions: Sequence[Question]) -> dict[str, np.ndarray | Exception]:
        if not questions or self._towers is None:
            return {}
        cut = partial(cut_file, preparation=self._towers.preparation)
        cuts = list(self._decoders().map(cut, [question.content for question in questions], chunksize=4))
        found: dict[str, np.ndarray | Exception] = {
            question.hash: cut
            for question, cut in zip(questions, cuts, strict=True)
            if isinstance(cut, Exception)
        }
        good = [(q, a) for q, a in zip(questions, cuts, strict=True) if not isinstance(a, Exception)]
        if good:
            vectors = self._towers.pictures(np.stack([cut for _, cut in good]))
            found |= {question.hash: vector for (question, _), vector in zip(good, vectors, strict=True)}
        return found

    def _decoders(self) -> Executor:
        """Return who decodes: threads, or processes where the settings ask for some."""
        if self._pool is None and self.decoders:
            # Spawned, not forked: a fork would copy the locks of torch's threads.
            self._pool = ProcessPoolExecutor(self.decoders, mp_context=get_context("spawn"))
        self._pool = self._pool or ThreadPoolExecutor(THREADS)
        return self._pool

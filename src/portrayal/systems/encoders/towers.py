"""Encoders of pictures and texts: decoding, batches, the cache, one answer per question."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from portrayal.edges.writing import refuse_strange_file
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, BaseSystem, Question
from portrayal.systems.encoders.local import MEDIA, pack
from portrayal.systems.encoders.pictures import Preparation, cut_file

THREADS = 4  # Pillow resizes outside Python's lock but decodes JPEGs inside it, so more threads gain little
SCHEMA = """CREATE TABLE IF NOT EXISTS embeddings (
    model TEXT NOT NULL, content TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, content)
) WITHOUT ROWID"""


class Towers:
    """Loaded model with the preparation of its pictures."""

    preparation: Preparation = Preparation()

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return one embedding per text."""
        raise PortrayalError("this encoder reads pictures only. Use it for image-image tests.")

    def pictures(self, pixels: np.ndarray) -> np.ndarray:
        """Return one embedding per cut-out picture (8 bit, batch x side x side x 3)."""
        raise PortrayalError("this encoder reads texts only.")


class EmbeddingCache:
    """File of embeddings by model and content, written batch by batch."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        for ending in ("", "-wal", "-shm", "-journal"):
            refuse_strange_file(path.with_name(path.name + ending))
        self._connection = sqlite3.connect(path, check_same_thread=False)
        try:
            tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master LIMIT 10")}
        except sqlite3.DatabaseError:
            tables = {"no database"}
        if tables - {"embeddings"}:  # somebody's own file
            self.close()
            raise PortrayalError(f"{path} is not a file of embeddings. Name another with `cache`.")
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(SCHEMA)

    def get(self, model: str, contents: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the embeddings that are there, by content hash."""
        query = "SELECT vector FROM embeddings WHERE model = ? AND content = ?"
        rows = {content: self._connection.execute(query, (model, content)).fetchone() for content in contents}
        return {content: np.frombuffer(row[0], dtype="<f4") for content, row in rows.items() if row is not None}

    def put(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Keep embeddings; what is there already stays."""
        rows = [(model, content, np.asarray(vector, "<f4").tobytes()) for content, vector in vectors.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


@dataclass
class TowerEncoder(BaseSystem):
    """An encoder of pictures and texts, whose model is loaded when first asked.

    Pictures are decoded outside the lock of the model: of the batches that a recorder asks about at once, one is encoded
    while the next are decoded.
    """

    batch: int = 64
    reader: str = "vector"
    repeatable: bool = True
    model_hash: str = ""
    cache: Path | None = None
    decoders: int = 0  # processes that decode pictures; 0: threads
    load: Callable[[], Towers] = field(kw_only=True)
    _towers: Towers | None = None
    _pool: Executor | None = None
    _embeddings: EmbeddingCache | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    # Of the model alone: a batch that begins looks into the cache while another is encoded.
    _encoding: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Encode the batch in another thread, so that the recorder stays awake."""
        return await asyncio.to_thread(self._answers, list(questions))

    async def close(self) -> None:
        """Release the model, the decoders and the cache."""
        if self._pool is not None:
            self._pool.shutdown()
        if self._embeddings is not None:
            self._embeddings.close()
        self._towers = self._pool = self._embeddings = None

    def recalled(self, questions: Sequence[Question]) -> dict[str, Answer | Exception]:
        """Return what the cache has, by content hash."""
        if self.cache is None:
            return {}
        with self._lock:
            self._embeddings = self._embeddings or EmbeddingCache(self.cache)
            vectors = self._embeddings.get(self.model_hash, [question.hash for question in questions])
        return {key: self._answer(vector) for key, vector in vectors.items()}

    def remember(self, questions: Sequence[Question], answers: Sequence[Answer | Exception]) -> None:
        """Put answers into the cache, where there is one."""
        if self._embeddings is not None:
            pairs = zip(questions, answers, strict=True)
            vectors = {q.hash: np.frombuffer(a.raw, "<f4") for q, a in pairs if isinstance(a, Answer)}
            with self._lock:
                self._embeddings.put(self.model_hash, vectors)

    def _answers(self, questions: list[Question]) -> list[Answer | Exception]:
        answers = self.recalled(questions)
        missing = list({question.hash: question for question in questions if question.hash not in answers}.values())
        if missing:
            new = self._encoded(missing, *self._opened())
            self.remember(missing, [new[question.hash] for question in missing])
            answers |= new
        return [answers[question.hash] for question in questions]

    def _opened(self) -> tuple[Towers, Executor]:
        """Return the model and what decodes its pictures, made once."""
        with self._lock:
            self._towers = self._towers or self.load()
            if self._pool is None and self.decoders:  # spawned: a fork would copy the locks of torch's threads
                self._pool = ProcessPoolExecutor(self.decoders, mp_context=get_context("spawn"))
            self._pool = self._pool or ThreadPoolExecutor(THREADS)
            return self._towers, self._pool

    def _encoded(self, questions: Sequence[Question], towers: Towers, pool: Executor) -> dict[str, Answer | Exception]:
        """Encode texts and pictures; an unreadable picture is an error of its own."""
        texts = [question for question in questions if question.kind != "image"]
        pictures = [question for question in questions if question.kind == "image"]
        cut = partial(cut_file, preparation=towers.preparation)
        cuts = list(pool.map(cut, [question.content for question in pictures], chunksize=4))
        pairs = list(zip(pictures, cuts, strict=True))
        answers: dict[str, Answer | Exception] = {q.hash: made for q, made in pairs if isinstance(made, Exception)}
        readable = [(question, made) for question, made in pairs if not isinstance(made, Exception)]
        with self._encoding:
            vectors = list(towers.texts([question.content for question in texts])) if texts else []
            vectors += list(towers.pictures(np.stack([made for _, made in readable]))) if readable else []
        encoded = [*texts, *(question for question, _ in readable)]
        return answers | {q.hash: self._answer(vector) for q, vector in zip(encoded, vectors, strict=True)}

    def _answer(self, vector: np.ndarray) -> Answer:
        return Answer(pack(vector), MEDIA, self.model_hash)

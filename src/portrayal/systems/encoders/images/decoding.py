"""Files of pictures decoded for an encoder: exactly by Pillow, or JPEGs on its device where that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from portrayal.systems.core.base import Question
from portrayal.systems.encoders.images.files_read import FileReaders
from portrayal.systems.encoders.images.jpegs import DeviceJpegs
from portrayal.systems.encoders.images.pictures import Preparation, cut_file
from portrayal.systems.encoders.images.resampling import FILTERS

THREADS = 4  # Pillow resizes outside Python's lock but decodes JPEGs inside it, so more threads gain little


@dataclass
class Decoded:
    """The pictures of a batch, in the order they were asked about within each part."""

    failed: dict[str, Exception] = field(default_factory=dict)  # by hash of the question
    cut: list[tuple[Question, np.ndarray]] = field(default_factory=list)  # decoded exactly, and cut out
    whole: list[tuple[Question, Any]] = field(default_factory=list)  # decoded on the device, not cut yet


class Decoder:
    """Decodes batches; several threads may ask at once."""

    def __init__(self, preparation: Preparation, processes: int = 0, jpegs: DeviceJpegs | None = None) -> None:
        self.preparation = preparation
        self.jpegs = jpegs if preparation.resample in FILTERS else None
        # Spawned, not forked: a fork would copy the locks of torch's threads.
        self.pool: Executor = (
            ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
            if processes
            else ThreadPoolExecutor(THREADS)
        )
        self.readers = FileReaders() if self.jpegs else None

    def close(self) -> None:
        """Let the threads and processes go."""
        self.pool.shutdown()
        if self.readers is not None:
            self.readers.close()

    def decoded(self, questions: Sequence[Question]) -> Decoded:
        """Decode the pictures of questions; what the device does not take is decoded exactly."""
        whole = self._on_device(questions)
        taken = {question.hash for question, _ in whole}
        found = Decoded(whole=whole)
        rest = [question for question in questions if question.hash not in taken]
        cut = partial(cut_file, preparation=self.preparation)
        cuts = self.pool.map(cut, [question.content for question in rest], chunksize=4)
        for question, made in zip(rest, cuts, strict=True):
            if isinstance(made, Exception):
                found.failed[question.hash] = made
            else:
                found.cut.append((question, made))
        return found

    def _on_device(self, questions: Sequence[Question]) -> list[tuple[Question, Any]]:
        if self.jpegs is None or self.readers is None:
            return []
        read = self.readers.read([question.content for question in questions])
        pictures = self.jpegs.decoded([data for _, data in read])
        return [
            (questions[place], picture)
            for (place, _), picture in zip(read, pictures, strict=True)
            if picture is not None
        ]

"""Local networks asked through the engine, one per worker.

Only what is named here, never what somebody bills: an engine does again what was lost, and whether a paid question may be
asked twice is the recorder's to decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from portrayal.engine import Shard, current_engine
from portrayal.engine.run import Choice
from portrayal.engine.shards import result_of
from portrayal.systems.core.base import Answer, BaseSystem, Question, System
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings

# By `use`: local networks that tag, caption or encode. The same question gives the same answer, and none is billed.
SPREAD = ("local", "imagenet", "transformers", "clip", "onnx_clip", "image_encoder", "minilm")
# Parameters that are not a worker's: the cache is the driver's alone, and a worker has no processes of its own.
KEPT_HERE = ("cache", "decoders")


@dataclass
class Spread(BaseSystem):
    """A system whose questions are answered by workers."""

    inner: Any = field(kw_only=True)
    make: Any = None  # opens the system in a worker
    choice: Choice = field(default_factory=Choice)
    gpus: float = 0.0
    _pool: Any = None

    def check_ready(self) -> None:
        """Say what is missing, as the system itself does."""
        getattr(self.inner, "check_ready", lambda: None)()

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Answer what is cached here, and hand the others to a worker."""
        known = self.inner.recalled(questions) if hasattr(self.inner, "recalled") else {}
        missing = [question for question in questions if question.hash not in known]
        if missing:
            answers = await self._from_worker(missing)
            if hasattr(self.inner, "remember"):
                self.inner.remember(missing, answers)
            known |= {question.hash: answer for question, answer in zip(missing, answers, strict=True)}
        return [known[question.hash] for question in questions]

    async def close(self) -> None:
        """Let the workers go."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.to_thread(pool.__exit__, None, None, None)
        await self.inner.close()

    async def _from_worker(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        if self._pool is None:
            self._pool = self.choice.pool(self.make, None, self.gpus).__enter__()
        name = f"{self.name}: {len(questions)} questions from {questions[0].stimulus!r}"
        shard = Shard(name, list(questions))
        return result_of(shard, await asyncio.wrap_future(self._pool.submit(shard)))


def spread(system: System, settings: SystemSettings, folder: Path, kind: str) -> System:
    """Return a system answered by workers, where an engine is named and it serves."""
    choice = current_engine()
    if not choice.named or settings.use not in SPREAD or system.remote or choice.size() == 1:
        return system
    parameters = {name: value for name, value in settings.parameters.items() if name not in KEPT_HERE}
    names = ("name", "kind", "identity", "version", "parameters", "batch", "reader")
    return Spread(
        **{name: getattr(system, name) for name in names},
        limits=replace(system.limits, concurrency=max(system.limits.concurrency, 2 * choice.size())),
        repeatable=getattr(system, "repeatable", False),
        inner=system,
        choice=choice,
        make=partial(make_asker, settings.model_copy(update={"parameters": parameters}), folder, kind),
        gpus=float("cuda" in str(settings.parameters.get("device", ""))),
    )


def make_asker(
    settings: SystemSettings, folder: Path, kind: str
) -> Callable[[Sequence[Question]], list[Answer | Exception]]:
    """Open a system in a worker; its model is loaded with the first questions."""
    system = open_system(settings, folder, kind)

    async def ask(questions: Sequence[Question]) -> list[Answer | Exception]:
        return list(await system.ask(questions))

    return lambda questions: asyncio.run(ask(questions))

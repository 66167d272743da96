"""A live generator behind guard and gates: images stay in memory, hashes and labels remain.

Whatever draws (an endpoint, a local pipeline, a function, a program) is wrapped here. No exception leaves
this module from a frame that holds an image, and none carries a service's words, because either could end in
a log.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from portrayal.edges.json_text import parse_json
from portrayal.errors import PortrayalError
from portrayal.safety.gates import OUTCOMES, Gates, Verdict, default_gates, judge
from portrayal.safety.generator_guard import guard_question
from portrayal.systems.core.base import (
    AccessDenied,
    Answer,
    BaseSystem,
    CallFailed,
    NoAnswer,
    NothingThere,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    System,
    Throttled,
    Unreachable,
    Unreadable,
)
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.generators.images import DrawingFunction, found_image, open_picture
from portrayal.systems.plugins.python_function import PythonFunction

# What services write when their own filter stopped a prompt or an image.
BLOCKED_WORDS = (
    "content_policy",
    "content policy",
    "moderation_blocked",
    "content_filter",
    "safety system",
    "nsfw",
    "raifiltered",
)


@dataclass
class Gated(BaseSystem):
    """A generator of any make; its answers are `{"sha256": ..., "outcome": ..., "labels": [...]}`."""

    reader: str = "gated"
    inner: System | None = None
    gates: Gates | None = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Draw, gate and label one image per question."""
        if self.gates is None:
            self.gates = default_gates()  # before anything is drawn: nothing is made that cannot be checked
        for question in questions:
            guard_question(question, self.parameters, self.identity)
        return [await self._ask_one(question) for question in questions]

    async def close(self) -> None:
        """Close what draws."""
        if self.inner is not None:
            await self.inner.close()

    async def _ask_one(self, question: Question) -> Answer | Exception:
        # The id of a stimulus may be any text, so the generator gets the hash in its place.
        neutral = replace(question, stimulus=question.hash[:16])
        try:
            (answer,) = await self.inner.ask([neutral])  # type: ignore[union-attr]
        except PortrayalError as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            answer = error
        if isinstance(answer, Exception):
            return _as_answer("", Verdict("blocked"), Answer(b"")) if says_blocked(answer) else _without_message(answer)
        return await asyncio.to_thread(self._label, answer)

    def _label(self, answer: Answer) -> Answer | Exception:
        """Turn an image into its hash and labels; whatever goes wrong, the image is dropped."""
        try:
            if answer.refused:
                return _as_answer("", Verdict("blocked"), answer)
            image = found_image(answer.raw, getattr(getattr(self.inner, "mapping", None), "answer", ""))
            picture = open_picture(image)
            verdict = Verdict("unreadable") if picture is None else judge(picture, self.gates)  # type: ignore[arg-type]
            return _as_answer(hashlib.sha256(image).hexdigest(), verdict, answer)
        except Exception as error:
            return CallFailed(f"the image could not be checked and was dropped ({type(error).__name__})")


def read_gated(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the outcome as a label of its own, then what the reader saw."""
    try:
        data = parse_json(answer.raw)
        outcome = {"label": f"outcome:{data['outcome']}", "score": None}
        return [outcome, *({"label": row["label"], "score": row["score"]} for row in data["labels"])]
    except (ValueError, KeyError, TypeError):
        raise Unreadable("not an answer of a gated generator") from None


def gate(system: System) -> System:
    """Put a generator behind the gates; recorded label tables stay as they are."""
    if isinstance(system, Gated) or system.identity.startswith("replay:"):
        return system
    return Gated(
        name=system.name,
        kind="generator",
        identity=system.identity,
        version=system.version,
        parameters=system.parameters,
        limits=system.limits,
        batch=1,
        remote=system.remote,
        inner=image_source(system),
        gates=getattr(system, "gates", None),
    )


def image_source(system: System) -> System:
    """Return the system that hands over images, a function's with a reader of its own."""
    return DrawingFunction(**vars(system)) if isinstance(system, PythonFunction) else system


def _as_answer(digest: str, verdict: Verdict, answer: Answer) -> Answer:
    if verdict.outcome not in OUTCOMES:
        raise ValueError(verdict.outcome)
    labels = [{"label": str(name)[:80], "score": score} for name, score in verdict.labels]
    data: Mapping[str, Any] = {"sha256": digest, "outcome": verdict.outcome, "labels": labels}
    refused = verdict.outcome == "blocked"
    return Answer(json.dumps(data).encode(), version=answer.version[:80], cost=answer.cost, refused=refused)


def says_blocked(error: Exception) -> bool:
    """Return True where an error is the service's filter speaking, which is an outcome."""
    words_of_error = (
        getattr(error, "raw", b"")[:2000].decode(errors="replace").lower() if isinstance(error, CallFailed) else ""
    )
    return any(words in words_of_error for words in BLOCKED_WORDS)


def _without_message(error: Exception) -> Exception:
    """Keep what an error proves, not what it says."""
    for kind in (Unreachable, Throttled):
        if isinstance(error, kind):
            return kind(f"the generator did not answer ({kind.__name__})", error.retry_after)
    for silent in (QuotaSpent, NoAnswer, OutcomeUnknown):
        if isinstance(error, silent):
            return silent(f"the generator did not answer ({silent.__name__})")
    known = next((kind for kind in (AccessDenied, NothingThere) if isinstance(error, kind)), CallFailed)
    return known(f"the generator failed ({type(error).__name__})")


def open_guarded(settings: SystemSettings, folder: Path, kind: str) -> System:
    """Open the system a study names, generators behind guard and gates (docs/safety.md)."""
    system = open_system(settings, folder, kind)
    return gate(system) if kind == "generator" else system

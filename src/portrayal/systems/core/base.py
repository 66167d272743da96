"""Protocol of systems: questions in, raw answers out.

The recorder asks and stores the raw bytes; they are read later, from the ledger, by a pure function that `reader` names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from portrayal.edges.sizes import LARGEST_PICTURE, is_picture

LARGEST_ANSWER = 16 * 1024 * 1024  # bytes; more than that is no answer
LARGEST_IMAGE = 64 * 1024 * 1024
KEPT_OF_LARGER = 64 * 1024
BROKEN = "broken: "  # prefix of the media type of bytes that are no answer; the reason follows

KINDS = ("tagger", "captioner", "encoder", "ranker", "generator")


def one_of(kind: str) -> str:
    """Return a kind with its article."""
    return f"{'an' if kind == 'encoder' else 'a'} {kind}"


@dataclass(frozen=True)
class Question:
    """One stimulus as a system is asked about it."""

    stimulus: str
    kind: str  # text, image, query or prompt
    content: str  # the text, or the path of the image
    hash: str
    repeat: int = 0
    source: str = ""
    consent: str = ""

    def image_bytes(self) -> bytes:
        """Read the picture's bytes."""
        path = Path(self.content)
        if path.stat().st_size > LARGEST_PICTURE:
            raise CallFailed(f"not sent: {path.stat().st_size:,} bytes, at most {LARGEST_PICTURE:,} are read")
        data = path.read_bytes()
        if data and not is_picture(data):
            raise CallFailed("not sent: the file is not a readable picture")
        return data

    def refuse_other_file(self) -> None:
        """Refuse a path whose file is no picture."""
        if self.kind == "image" and Path(self.content).is_file():
            self.image_bytes()


@dataclass(frozen=True)
class Answer:
    """A raw answer."""

    raw: bytes
    media: str = "application/json"  # how `raw` is to be read
    version: str = ""  # the model version the answer names
    cost: float = 0.0  # in US dollars
    refused: bool = False  # the system declined or filtered: an outcome, not an error


def broken_answer(raw: bytes, reason: str, cost: float = 0.0) -> Answer:
    """Return bytes that came in place of an answer; of too many only the beginning."""
    return Answer(raw if len(raw) <= LARGEST_ANSWER else raw[:KEPT_OF_LARGER], f"{BROKEN}{reason}", cost=cost)


def largest(kind: str) -> int:
    """Return the most bytes that an answer of this kind may have."""
    return LARGEST_IMAGE if kind == "generator" else LARGEST_ANSWER


@dataclass(frozen=True)
class Limits:
    """Limits on asking a system."""

    concurrency: int = 4
    per_second: float | None = None
    retries: int = 5
    timeout: float = 60.0
    price: float = 0.0  # US dollars a question, for `portrayal plan` and the progress bar
    errors_billed: bool = True  # the service may bill what it answers with 500, 502 or 504: such a question is unknown


@runtime_checkable
class System(Protocol):
    """Anything that answers.

    Opening a system is cheap and needs no credential: models and keys are looked for at the first `ask`, because recorded
    answers are read back without either.
    """

    name: str
    kind: str
    identity: str  # adapter, model or function, as the ledger's key tells systems apart; never a credential
    version: str
    parameters: Mapping[str, Any]
    limits: Limits
    batch: int  # questions that one `ask` takes: 1 for paid services, more for local models
    remote: bool  # stimuli leave this machine
    reader: str

    async def ask(self, questions: Sequence[Question]) -> Sequence[Answer | Exception]:
        """Answer the questions in order, with an error in place of one that failed."""
        ...

    async def close(self) -> None:
        """Release processes and connections."""
        ...


@dataclass
class BaseSystem:
    """The fields every system has, with defaults; subclasses write `ask`."""

    name: str
    kind: str
    identity: str
    version: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    batch: int = 1
    remote: bool = False
    reader: str = "plain"
    # Here, free, and the same each time: what a killed process left unknown is asked again by itself.
    repeatable: bool = False

    def expected_price(self, question: Question) -> float:
        """Return what a question is expected to cost, in US dollars."""
        return self.limits.price

    def check_ready(self) -> None:
        """Refuse, before anything is asked, where a module, program or key is missing."""

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


class Throttled(Exception):
    """The service said 'later' (429, 503 and the like): ask again."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unreachable(Throttled):
    """Nothing was sent: ask again, then leave the question planned."""


class QuotaSpent(Exception):
    """The account is empty: stop the system and leave the rest planned."""


class _Worded(Exception):
    """An error that keeps the bytes that came."""

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class CallFailed(_Worded):
    """The service answered that it cannot answer this question; its words are kept."""


class AccessDenied(CallFailed):
    """The service refuses access (401, 403): the first one stops the system."""

    stops_after = 1


class NothingThere(CallFailed):
    """Nothing is at this address (404): three in a row stop the system."""

    stops_after = 3


class OutcomeUnknown(_Worded):
    """The question went out and may have been answered and billed."""


class NoAnswer(OutcomeUnknown):
    """The reply answers another question; three in a row stop the system."""

    stops_after = 3


class Unreadable(Exception):
    """An answer that is not of the form the system promised; its status becomes 'unparsable'."""


class Refused(Exception):
    """An answer that declines in words (`portrayal.systems.core.refusals`); its status becomes 'refused', the words the reason."""


def question_key(system: System, question: Question) -> str:
    """Return the ledger's key: hash of stimulus content, system, version asked for, parameters and repeat."""
    return key_of(system)(question.hash, question.repeat)


def key_of(system: System) -> Callable[[str, int], str]:
    """Return a function from content hash and repeat to the ledger's key."""
    parameters = json.dumps(system.parameters, sort_keys=True, default=str)
    shared = "\x1f".join([system.kind, system.identity, system.version, parameters])

    def key(digest: str, repeat: int) -> str:
        return hashlib.sha256(f"{digest}\x1f{shared}\x1f{repeat}".encode()).hexdigest()

    return key

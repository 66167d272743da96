"""Protocol of systems: questions in, raw answers out.

Asking and reading are apart on purpose. The recorder asks and stores the raw bytes; reading happens later, from the
ledger, as often as wanted, by a pure function that `reader` names (`portrayal.systems.core.readers`). A system says which
kind it is, and the kind fixes the columns of its rows (`portrayal.tables.ROWS`).
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
BROKEN = "broken: "  # how the media of bytes begins that are not the answer's own; the reason follows

KINDS = ("tagger", "captioner", "encoder", "ranker", "generator")


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
        """Read the picture; only ever called by the system that is about to send or look at it."""
        path = Path(self.content)
        if path.stat().st_size > LARGEST_PICTURE:
            raise CallFailed(f"not sent: {path.stat().st_size:,} bytes, at most {LARGEST_PICTURE:,} are read")
        data = path.read_bytes()
        if data and not is_picture(data):
            raise CallFailed("not sent: the file is not a readable picture")
        return data

    def refuse_other_file(self) -> None:
        """Refuse to hand over the path of a file that is there and is no picture."""
        if self.kind == "image" and Path(self.content).is_file():
            self.image_bytes()


@dataclass(frozen=True)
class Answer:
    """What came back, before anything reads it."""

    raw: bytes
    media: str = "application/json"  # how `raw` is to be read
    version: str = ""  # the model version the answer names
    cost: float = 0.0  # in US dollars
    refused: bool = False  # the system declined or filtered: an outcome, not an error


def broken_answer(raw: bytes, reason: str, cost: float = 0.0) -> Answer:
    """Return bytes that came in place of an answer (cut, damaged, too large); of what is too large only the beginning."""
    return Answer(raw if len(raw) <= LARGEST_ANSWER else raw[:KEPT_OF_LARGER], f"{BROKEN}{reason}", cost=cost)


def largest(kind: str) -> int:
    """Return the most bytes an answer of this kind may have; a generator's images are looked at and never stored."""
    return LARGEST_IMAGE if kind == "generator" else LARGEST_ANSWER


@dataclass(frozen=True)
class Limits:
    """How hard a system may be asked."""

    concurrency: int = 4
    per_second: float | None = None
    retries: int = 5
    timeout: float = 60.0
    price: float = 0.0  # US dollars a question, for `portrayal plan` and the progress bar
    errors_billed: bool = True  # the service may bill what it answers with 500, 502 or 504: such a question is unknown


@runtime_checkable
class System(Protocol):
    """Anything that answers.

    `batch` is how many questions one `ask` takes: 1 for paid services, more for local models. `remote` says
    that stimuli leave this machine. Opening a system is cheap and needs no credential: models and keys are looked
    for at the first `ask`, because recorded answers are read back without either.
    `identity` is what tells this system from another in the ledger's key: the kind of adapter, the model,
    the function; never a credential.
    """

    name: str
    kind: str
    identity: str
    version: str
    parameters: Mapping[str, Any]
    limits: Limits
    batch: int
    remote: bool
    reader: str

    async def ask(self, questions: Sequence[Question]) -> Sequence[Answer | Exception]:
        """Answer the questions in order, or raise one of the errors below.

        Of a batch some may fail: their places hold the error instead of raising it.
        """
        ...

    async def close(self) -> None:
        """Let go of processes and connections."""
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
        """Say what is missing before anything is asked: a module, a program, a key. Nothing is run or sent."""

    async def close(self) -> None:
        """Nothing to let go of."""


class Throttled(Exception):
    """The service said 'later' (429, 503, a vendor's throttling code): no answer was produced, ask again."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unreachable(Throttled):
    """Nothing was sent (no connection, a program not ready): no answer was produced, ask again, then leave it planned."""


class QuotaSpent(Exception):
    """The account has no calls or money left: stop the whole system, leave the rest planned."""


class CallFailed(Exception):
    """The service answered that it cannot answer this question. Its words are kept as the raw answer."""

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class AccessDenied(CallFailed):
    """The service wants another key or does not let us in (401, 403): the first one stops the system."""

    stops_after = 1


class NothingThere(CallFailed):
    """There is nothing at this address (404): the third without an answer between them stops the system."""

    stops_after = 3


class OutcomeUnknown(Exception):
    """The question went out and no answer came back: it may have been answered and billed. What came is kept."""

    def __init__(self, message: str, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class NoAnswer(OutcomeUnknown):
    """What came is no answer to the question asked; three without an answer between them stop the system."""

    stops_after = 3


class Unreadable(Exception):
    """An answer that is not of the form the system promised; its status becomes 'unparsable'."""


class Refused(Exception):
    """An answer that declines in words (`portrayal.systems.core.refusals`); its status becomes 'refused', the words the reason."""


def question_key(system: System, question: Question) -> str:
    """Return the ledger's key: hash of stimulus content, system, version asked for, parameters and repeat."""
    return key_of(system)(question.hash, question.repeat)


def key_of(system: System) -> Callable[[str, int], str]:
    """Return what gives the key of a system's question by content hash and repeat; what they share is written out once."""
    shared = "\x1f".join([system.kind, system.identity, system.version, _canonical(system.parameters)])

    def key(digest: str, repeat: int) -> str:
        return hashlib.sha256(f"{digest}\x1f{shared}\x1f{repeat}".encode()).hexdigest()

    return key


def _canonical(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True, default=str)

"""Base of vendors' services, asked over HTTP or read from a recording.

Credentials come from the environment when a call is made and are never part of a study, the ledger or a report.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portrayal.edges.sizes import parse_json, read_unpacked
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Answer, CallFailed, Question, QuotaSpent, Throttled, Unreadable, one_of
from portrayal.systems.core.pictures import Picture, PictureLimits, fit_picture
from portrayal.systems.core.plain import decoded
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.web import WebSystem
from portrayal.tables import reads

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Request:
    """One HTTP request: method, address, and the rest as httpx takes it."""

    url: str
    method: str = "POST"
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Vendor:
    """A vendor's requests, answers, limits and price."""

    name: str
    limits: PictureLimits
    # A `Picture`, or None for a model asked in words; parameters; kind.
    request: Callable[[Any, Mapping[str, Any], str], Request]
    read: Callable[[Any, str], Rows]  # the answer's JSON, kind
    kinds: Sequence[str] = ("tagger",)
    defaults: Mapping[str, Any] = field(default_factory=dict)  # every parameter it knows
    optional: Sequence[str] = ()  # parameters that are sent only where a study names them
    check: Callable[[Any], None] = lambda body: None  # raises what a 200 hides
    version: Callable[[Any], str] = lambda body: ""
    refused: Callable[[Any], bool] = lambda body: False
    price: float = 0.0  # US dollars a call
    errors_billed: bool = True  # unless it says that it does not bill what it answers with a server error

    def read_answer(self, answer: Answer, kind: str, parameters: Mapping[str, Any]) -> Rows:
        """Read the vendor's JSON into rows."""
        try:
            return self.read(decoded(answer.raw), kind)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise Unreadable(f"not the form {self.name} promises: {type(error).__name__} {error}") from None


@dataclass
class VendorSystem(WebSystem):
    """Asks a vendor, or replays what it once answered."""

    vendor: Vendor = field(kw_only=True)
    recorded: Path | None = None
    _answers: dict[str, Any] | None = None

    def check_ready(self) -> None:
        """Make a request without a picture, which needs the keys, and send nothing."""
        if self.recorded is None:
            self.vendor.request(Picture(b"", "image/jpeg"), self.parameters, self.kind)
        elif not self.recorded.is_file():
            raise PortrayalError(f"system {self.name!r}: no recorded answers at {self.recorded}.")

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Send one request per picture."""
        if self.recorded:
            return [self._replay(question) for question in questions]
        return [await self._ask_one(question) for question in questions]

    async def _ask_one(self, question: Question) -> Answer:
        request = self.vendor.request(fit_picture(question, self.vendor.limits), self.parameters, self.kind)
        body = await self.send(request.method, request.url, **request.more)
        return self.broken(body) if body.broken else self._answer(body.content)

    def _answer(self, raw: bytes) -> Answer:
        """Look for errors inside the 200, then keep the bytes as they came."""
        try:
            body = decoded(raw)
            self.vendor.check(body)
        except CallFailed as error:
            raise CallFailed(str(error), raw) from None
        except (Throttled, QuotaSpent):
            raise
        except Exception:  # an HTML page, or JSON of another form: kept, and unreadable later
            return Answer(raw, cost=self.limits.price)
        return Answer(raw, cost=_look(self._cost, 0.0, body) or self.limits.price, **self._signs(body))

    def _signs(self, body: Any) -> dict[str, Any]:
        version, refused = _look(self.vendor.version, "", body), _look(self.vendor.refused, False, body)
        return {"version": version, "refused": refused}

    def _cost(self, body: Any) -> float:
        """Return the dollars an answer tells of; none, unless a service counts tokens."""
        return 0.0

    def _replay(self, question: Question) -> Answer | Exception:
        if self._answers is None:
            self._answers = read_native(self.recorded or Path())
        if question.stimulus not in self._answers:
            return CallFailed("no recorded answer for this stimulus")
        body = self._answers[question.stimulus]
        return Answer(json.dumps(body).encode(), **self._signs(body))


def _look(look: Callable[[Any], Any], otherwise: Any, body: Any) -> Any:
    """Look at an answer that may have any form."""
    try:
        return look(body)
    except Exception:
        return otherwise


def open_vendor(
    vendor: Vendor, settings: SystemSettings, folder: Path, system: type[VendorSystem] = VendorSystem, **more: Any
) -> VendorSystem:
    """Open a vendor as a study names it, refusing unknown parameters."""
    kind = str(settings.kind)
    if kind not in vendor.kinds:
        raise PortrayalError(f"{vendor.name} can be a {' or '.join(vendor.kinds)}. This audit asks {one_of(kind)}.")
    parameters = settings.completed(vendor.defaults, (*vendor.optional, "recorded"))
    recorded = parameters.pop("recorded", None)
    identity = f"{vendor.name}:{_fingerprint(folder / recorded)}" if recorded else vendor.name
    own: dict[str, Any] = {"price": vendor.price, "errors_billed": vendor.errors_billed, "parameters": parameters}
    return system(
        **settings.fields(identity, kind=kind, **own),
        remote=not recorded,
        repeatable=bool(recorded),
        reader=vendor.name,
        vendor=vendor,
        recorded=folder / recorded if recorded else None,
        **more,
    )


def _fingerprint(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise PortrayalError(f"no recorded answers at {path}.") from None


@reads("JSON lines with `stimulus` and `response`")
def read_native(path: Path) -> dict[str, Any]:
    """Read recorded answers: JSON lines with `stimulus` (or `file_name`) and `response`."""
    lines = read_unpacked(path).decode().splitlines()
    rows = [parse_json(line) for line in lines if line.strip()]
    return {str(row.get("stimulus", row.get("file_name"))): row["response"] for row in rows}

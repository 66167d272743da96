"""Visitors: organiser and reviewers, each by a one-time link and a cookie.

Secrets are known as hashes alone, in memory and, for reviewers, beside the journals (`portrayal_review.links`).
"""

from __future__ import annotations

import hashlib
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from portrayal.errors import PortrayalError
from portrayal.run.reviews import ADJUDICATED

ORGANISER = ""  # nobody's name
LONGEST_NAME = 40


def checked_name(name: str) -> str:
    """Return a reviewer's name without blanks around it, or say why it is none."""
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    strange = any(unicodedata.category(letter).startswith("C") for letter in cleaned)
    if not cleaned or len(cleaned) > LONGEST_NAME or strange or cleaned.casefold() == ADJUDICATED:
        raise PortrayalError(
            f"a reviewer is called {name[:60]!r}. Expected 1 to {LONGEST_NAME} letters that can be read, and not {ADJUDICATED!r}."
        )
    return cleaned


class Ticket(NamedTuple):
    """Owner of a link or session, and its time in seconds since 1970."""

    name: str
    made: float


@dataclass
class People:
    """Names, links that wait, and sessions; secrets are kept as their hashes."""

    names: list[str] = field(default_factory=list)
    links: dict[str, Ticket] = field(default_factory=dict)  # by the hash of a link's secret
    sessions: dict[str, Ticket] = field(default_factory=dict)  # by the hash of a cookie
    void: set[str] = field(default_factory=set)  # hashes of links that were used or replaced
    port: int = 0  # where links lead to
    keep: Callable[[People], None] = lambda people: None  # told after every change

    @classmethod
    def called(cls, names: Iterable[str]) -> People:
        """Return the people of these names."""
        people = cls()
        for name in names:
            people.add(name)
        return people

    def add(self, name: str) -> str:
        """Add a reviewer; two of one name could not be told apart."""
        name = checked_name(name)
        if name.casefold() in {known.casefold() for known in self.names}:
            raise PortrayalError(f"there is a reviewer {name!r} already. Expected another name.")
        self.names.append(name)
        return name

    def called_so(self, name: str) -> str:
        """Return the reviewer of this name as they are known, added where they are not."""
        name = checked_name(name)
        known = {one.casefold(): one for one in self.names}
        return known.get(name.casefold()) or self.add(name)

    def invite(self, name: str, further: bool = False) -> str:
        """Return a new link's secret; an unused link of the person becomes void."""
        if name != ORGANISER and name not in self.names:
            raise PortrayalError(f"there is no reviewer {name!r}. Add the name first.")
        if not further:
            self._use_up(digest for digest, ticket in list(self.links.items()) if ticket.name == name)
        secret = secrets.token_urlsafe(24)
        self.links[_digest(secret)] = Ticket(name, time.time())
        self._keep(name)
        return secret

    def owner(self, secret: str) -> str | None:
        """Return whose unused link this is; None where it is nobody's."""
        ticket = self.links.get(_digest(secret))
        return ticket.name if ticket else None

    def enter(self, secret: str) -> tuple[str, str] | None:
        """Exchange a link for a session and its cookie; the link becomes void."""
        name = self.owner(secret)
        if name is None:
            return None
        self._use_up([_digest(secret)])
        cookie = secrets.token_urlsafe(32)
        self.sessions[_digest(cookie)] = Ticket(name, time.time())
        self._keep(name)
        return name, cookie

    def who(self, cookie: str | None) -> str | None:
        """Return whose cookie this is; None where it is nobody's."""
        ticket = self.sessions.get(_digest(cookie)) if cookie else None
        return ticket.name if ticket else None

    def _keep(self, name: str) -> None:
        """Report a change to be stored; the organiser's secrets are not."""
        if name != ORGANISER:
            self.keep(self)

    def _use_up(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self.links.pop(digest, None)
            self.void.add(digest)


def form_token(cookie: str) -> str:
    """Return the token that every form of a session carries."""
    return hashlib.sha256(b"form " + cookie.encode()).hexdigest()


def is_token(token: str, cookie: str) -> bool:
    """Tell whether a form carries its session's token."""
    return secrets.compare_digest(token.encode(), form_token(cookie).encode())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

"""Who may come in: the organiser and the reviewers, each by a link that works once and is exchanged for a cookie.

Secrets live in memory alone. After a restart everybody gets a new link; what they judged is known by their names.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from portrayal.errors import PortrayalError

ORGANISER = ""  # nobody's name
LONGEST_NAME = 40


def checked_name(name: str) -> str:
    """Return a reviewer's name without blanks around it, or say why it is none."""
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    strange = any(unicodedata.category(letter).startswith("C") for letter in cleaned)
    if not cleaned or len(cleaned) > LONGEST_NAME or strange:
        raise PortrayalError(
            f"a reviewer is called {name[:60]!r}. Expected 1 to {LONGEST_NAME} letters that can be read."
        )
    return cleaned


@dataclass
class People:
    """Names, links that wait, and sessions; secrets are kept as their hashes."""

    names: list[str] = field(default_factory=list)
    _links: dict[str, str] = field(default_factory=dict)  # hash of a link's secret: whose it is
    _sessions: dict[str, str] = field(default_factory=dict)  # hash of a cookie: whose it is

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

    def invite(self, name: str) -> str:
        """Return a new link's secret; an earlier link of the same person that nobody used is void."""
        if name != ORGANISER and name not in self.names:
            raise PortrayalError(f"there is no reviewer {name!r}. Add the name first.")
        self._links = {digest: owner for digest, owner in self._links.items() if owner != name}
        secret = secrets.token_urlsafe(24)
        self._links[_digest(secret)] = name
        return secret

    def owner(self, secret: str) -> str | None:
        """Return whose unused link this is; None where it is nobody's."""
        return self._links.get(_digest(secret))

    def enter(self, secret: str) -> tuple[str, str] | None:
        """Exchange a link for a session: whose it is, and the cookie. The link is void from then on."""
        name = self._links.pop(_digest(secret), None)
        if name is None:
            return None
        cookie = secrets.token_urlsafe(32)
        self._sessions[_digest(cookie)] = name
        return name, cookie

    def who(self, cookie: str | None) -> str | None:
        """Return whose cookie this is; None where it is nobody's."""
        return None if not cookie else self._sessions.get(_digest(cookie))


def form_token(cookie: str) -> str:
    """Return what every form of a session carries: who does not hold the cookie cannot know it."""
    return hashlib.sha256(b"form " + cookie.encode()).hexdigest()


def is_token(given: str, cookie: str) -> bool:
    """Whether a form carries its session's token."""
    return secrets.compare_digest(given.encode(), form_token(cookie).encode())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

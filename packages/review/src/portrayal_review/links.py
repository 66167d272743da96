"""Links and sessions beside the journals, so that reviewers survive a restart.

Only hashes of secrets are kept, and none of the organiser's: who starts the viewer sees a new link. A file counts only in the
folder in which it was written: a run from somebody else, or a copy, brings nobody in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from portrayal.edges.writing import replacing
from portrayal.errors import PortrayalError
from portrayal_review.people import ORGANISER, People, Ticket, checked_name

NAME = "reviewers.json"
DAYS = 30  # a link or session is good for
LARGEST = 4 * 1024 * 1024  # bytes

Stored = dict[str, Any]


def kept_people(folders: Sequence[Path]) -> People:
    """Return who may come to all of these runs, as stored by earlier viewers."""
    files = [_read(folder) for folder in folders]
    names = [name for name in _names(files) if all(name in file["names"] for file in files)]
    people = People(names=names, links=_shared(files, "links"), sessions=_shared(files, "sessions"))
    people.keep = lambda changed: _write(folders, changed)
    return people


def kept_port(folders: Sequence[Path]) -> int:
    """Return the port of the last time, or 0."""
    ports = {_read(folder)["port"] for folder in folders}
    return ports.pop() if len(ports) == 1 else 0


def _names(files: Iterable[Stored]) -> list[str]:
    return list(dict.fromkeys(name for file in files for name in file["names"]))


def _shared(files: Sequence[Stored], what: str) -> dict[str, Ticket]:
    """Return the tickets that are good for every one of the runs."""
    return {
        digest: ticket
        for digest, ticket in files[0][what].items()
        if all(file[what].get(digest) == ticket for file in files)
    }


def _read(folder: Path) -> Stored:
    """Return a run's stored links; nothing where the file is not this folder's."""
    try:
        path = folder / NAME
        raw = json.loads(path.read_bytes()) if path.stat().st_size <= LARGEST else {}
        if raw["of"] == _place(folder):
            tickets = {what: _tickets(raw[what]) for what in ("links", "sessions")}
            return {"names": [checked_name(name) for name in raw["names"]], "port": int(raw["port"]), **tickets}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, PortrayalError):
        pass  # damaged, or not ours: everybody gets a new link
    return {"names": [], "port": 0, "links": {}, "sessions": {}}


def _tickets(raw: Mapping[str, Any]) -> dict[str, Ticket]:
    """Return the tickets that are still good; none of them is the organiser's."""
    oldest = time.time() - DAYS * 86400
    read = {digest: Ticket(str(name), float(made)) for digest, (name, made) in raw.items()}
    return {digest: ticket for digest, ticket in read.items() if ticket.name != ORGANISER and ticket.made > oldest}


def _write(folders: Sequence[Path], people: People) -> None:
    """Store who may come in, in every run."""
    known = {what: getattr(people, what) for what in ("links", "sessions")}
    for folder in folders:
        file = _read(folder)
        tickets = {what: _merged(file[what], known[what], people.void) for what in known}
        names = [*file["names"], *(name for name in people.names if name not in file["names"])]
        whole = {"of": _place(folder), "port": people.port or file["port"], "names": names, **tickets}
        try:
            with replacing(folder / NAME) as part:
                part.chmod(0o600)
                part.write_text(json.dumps(whole, indent=1), "utf-8")
        except OSError as error:
            raise PortrayalError(f"cannot keep links in {folder / NAME}: {error.strerror}.") from None


def _merged(stored: Mapping[str, Ticket], known: Mapping[str, Ticket], void: Iterable[str]) -> dict[str, Ticket]:
    gone = set(void)
    mine = {digest: ticket for digest, ticket in known.items() if ticket.name != ORGANISER}
    return {digest: ticket for digest, ticket in {**stored, **mine}.items() if digest not in gone}


def _place(folder: Path) -> str:
    """Return a mark that tells this folder from a copy of it."""
    return str(folder.stat().st_ino)

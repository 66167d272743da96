"""What an answer comes to once it is read: an answer, one without content, a refusal in words, or nothing readable.

The recorder asks this of every answer it has stored, so that the ledger's states tell it; the Responses table asks it
again of the same bytes. Ledgers that were written before this was asked, or by a process that died between storing and
reading, are put right when the run is next recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.record.ledger import Entry, Ledger
from portrayal.systems.base import BROKEN, Answer, Refused, Unreadable
from portrayal.systems.readers import read_rows

READING = 1  # raise it when the same bytes come to another outcome: ledgers are then read again
LONGEST_REASON = 300  # characters; the whole answer stays in the ledger

# The state of the ledger that follows from what an answer came to. An answer without content is an answer.
STATE_OF_STATUS = {"answered": "done", "empty": "done", "refused": "refused", "unparsable": "unreadable"}


@dataclass(frozen=True)
class Outcome:
    """Status, the reason where there is no usable answer, and rows."""

    status: str
    reason: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def state(self) -> str:
        """The state of the ledger that this is."""
        return STATE_OF_STATUS[self.status]


def read_outcome(reader: str, answer: Answer, kind: str, parameters: Mapping[str, Any]) -> Outcome:
    """Read a raw answer.

    Parameters
    ----------
    reader
        The name of the reader that fits it (`portrayal.systems.readers`).
    answer
        The bytes that came.
    kind, parameters
        Those of the system that was asked.

    Returns
    -------
    Outcome
        With status answered, empty, refused (with the words as reason) or unparsable (with what is wrong).

    Examples
    --------
    >>> read_outcome("plain", Answer(b'"Sorry, I cannot describe people."'), "captioner", {}).status
    'refused'
    """
    if answer.refused:
        return Outcome("refused")
    if answer.media.startswith(BROKEN):
        return Outcome("unparsable", f"the answer cannot be read: {answer.media.removeprefix(BROKEN)}")
    try:
        rows = read_rows(reader, answer, kind, parameters)
    except Refused as refusal:
        return Outcome("refused", str(refusal)[:LONGEST_REASON])
    except Unreadable as error:
        return Outcome("unparsable", str(error))
    except PortrayalError:
        raise
    except Exception as error:  # a reader that breaks must not cost the answers it was not written for
        return Outcome("unparsable", f"the reader {reader!r} failed: {type(error).__name__} {error}")
    return Outcome("answered" if rows else "empty", None, rows)


def put_right(ledger: Ledger) -> None:
    """Read again what earlier versions, or a process that died, left without being read."""
    if not is_read(ledger) or ledger.was_killed():
        ledger.restate(_changed(ledger))
        ledger.put_fact("reading", READING)


def is_read(ledger: Ledger) -> bool:
    """Whether the ledger's states tell what this version reads in the answers."""
    return ledger.fact("reading") == READING


def counts(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Return, for each system, how many questions are in each state; answers not yet read are read for it."""
    table = ledger.counts()
    for entry, outcome in () if is_read(ledger) else _read(ledger):
        table[entry.system][entry.state] -= 1
        table[entry.system][outcome.state] += 1
    return table


def _changed(ledger: Ledger) -> list[tuple[str, str, str | None]]:
    return [
        (entry.key, outcome.state, outcome.reason)
        for entry, outcome in _read(ledger)
        if (outcome.state, outcome.reason) != (entry.state, entry.error)
    ]


def _read(ledger: Ledger) -> Iterator[tuple[Entry, Outcome]]:
    """Yield the answers whose state follows from reading them; a refusal that the service flagged does not."""
    for entry in ledger.entries():
        read_before = entry.state in ("done", "unreadable") or (entry.state == "refused" and entry.error)
        if entry.answer is None or not read_before:
            continue
        try:
            yield entry, outcome_of(entry)
        except PortrayalError:  # its reader is not installed here: the state stays as it was
            continue


def outcome_of(entry: Entry) -> Outcome:
    """Read an entry's answer as if no one had read it before."""
    answer = entry.answer or Answer(b"")
    unread = Answer(answer.raw, answer.media, answer.version, answer.cost)
    return read_outcome(entry.reader, unread, entry.kind, entry.parameters)

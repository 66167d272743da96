"""Outcomes of answers that are read: an answer, an empty one, a refusal, nothing readable.

The recorder asks this of every answer it has stored, so that the ledger's states tell it; the Responses table asks it
again of the same bytes. Ledgers that were written before this was asked, or by a process that died between storing and
reading, are put right when the run is next recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.recorder.ledger import Entry, Ledger
from portrayal.recorder.storable import short_text
from portrayal.systems.core.base import BROKEN, Answer, Refused, Unreadable
from portrayal.systems.core.readers import read_rows

READING = 2  # raise it when the same bytes come to another outcome: ledgers are then read again
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
        return Outcome("refused", short_text(refusal, LONGEST_REASON))
    except Unreadable as error:
        return Outcome("unparsable", short_text(error, LONGEST_REASON))
    except PortrayalError:
        raise
    except Exception as error:  # a reader that breaks must not cost the answers it was not written for
        words = f"the reader {reader!r} failed: {type(error).__name__} {short_text(error)}"
        return Outcome("unparsable", short_text(words, LONGEST_REASON))
    return Outcome("answered" if rows else "empty", None, rows)


def put_right(ledger: Ledger) -> None:
    """Read again what earlier versions, or a process that died, left without being read."""
    if not is_read(ledger) or ledger.was_killed():
        ledger.restate(
            [
                (entry.key, outcome.state, outcome.reason)
                for entry, outcome in _read(ledger)
                if (outcome.state, outcome.reason) != (entry.state, entry.error)
            ]
        )
        ledger.put_fact("reading", READING)


def is_read(ledger: Ledger) -> bool:
    """Return True where the ledger's states follow this version's reading."""
    return ledger.fact("reading") == READING


def counts(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Return the number of questions in each state by system, unread answers read."""
    table = ledger.counts()
    for entry, outcome in () if is_read(ledger) else _read(ledger):
        table[entry.system][entry.state] -= 1
        table[entry.system][outcome.state] += 1
    return table


def _read(ledger: Ledger) -> Iterator[tuple[Entry, Outcome]]:
    """Yield the answers whose state follows from reading them."""
    for entry in ledger.entries():
        read_before = entry.state in ("done", "unreadable") or (entry.state == "refused" and entry.error)
        if entry.answer is None or not read_before:
            continue
        try:
            yield entry, outcome_of(entry)
        except PortrayalError:  # its reader is not installed here: the state stays as it was
            continue


def find_unreadable(ledger: Ledger) -> None:
    """Mark answers unreadable that were damaged or have vectors of another width."""
    ledger.find_damaged()
    widths = {
        entry.key: (entry.system, len(outcome.rows[0]["embedding"]))
        for entry, outcome in _read(ledger)
        if entry.kind == "encoder" and outcome.status == "answered"
    }
    usual = usual_widths(widths.values())
    ledger.restate(
        (key, "unreadable", f"a vector of {width} numbers, where most have {usual[system]}")
        for key, (system, width) in widths.items()
        if width != usual.get(system, width)
    )


def usual_widths(widths: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the width that more than half of a system's vectors have, if any.

    Examples
    --------
    >>> usual_widths([("a", 3), ("a", 3), ("a", 2), ("b", 3), ("b", 2)])
    {'a': 3}
    """
    seen: dict[str, Counter[int]] = {}
    for system, width in widths:
        seen.setdefault(system, Counter())[width] += 1
    commonest = {system: counts.most_common(1)[0] for system, counts in seen.items()}
    return {system: w for system, (w, count) in commonest.items() if 2 * count > seen[system].total()}


def outcome_of(entry: Entry) -> Outcome:
    """Read an entry's answer as if no one had read it before."""
    answer = entry.answer or Answer(b"")
    unread = Answer(answer.raw, answer.media, answer.version, answer.cost)
    return read_outcome(entry.reader, unread, entry.kind, entry.parameters)

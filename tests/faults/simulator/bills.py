"""Check a world's end: billed answers are in the ledger or unknown, none twice or mixed up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from portrayal.recorder.ledger import Ledger
from portrayal.recorder.responses import outcome_of

ANSWERED = ("done", "refused", "unreadable")


@dataclass
class Bills:
    """Books of a world's vendors: questions, bills and planted faults."""

    billed: Counter[tuple[str, str]] = field(default_factory=Counter)  # by system and stimulus
    sent: set[tuple[str, str]] = field(default_factory=set)  # questions of which bytes went out
    at_a_kill: set[tuple[str, str]] = field(default_factory=set)  # in flight when a process died
    told: Counter[str] = field(default_factory=Counter)  # answers that a recorder said were stored, by system
    faults: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def injected(self, system: str, stimulus: str, fault: str) -> None:
        """Take note of a fault that a question ran into."""
        self.faults.setdefault((system, stimulus), []).append(fault)


@dataclass(frozen=True)
class Wrong:
    """One broken promise: lost, double bill, mixed up, or unknown though never sent."""

    what: str
    system: str
    stimulus: str
    faults: tuple[str, ...]


def broken_promises(ledger: Ledger, bills: Bills) -> list[Wrong]:
    """Compare a ledger with what the vendors know."""
    kept = {system: sum(counts[state] for state in ANSWERED) for system, counts in ledger.counts().items()}
    wrong = [Wrong("lost", system, "", ()) for system, count in bills.told.items() if count > kept[system]]
    for entry in ledger.entries():
        asked = (entry.system, entry.hash)
        for what, is_so in (
            ("lost", bills.billed[asked] > 0 and entry.state not in (*ANSWERED, "unknown")),
            ("double bill", bills.billed[asked] > 1),
            ("mixed up", entry.state == "done" and _speaks_of(entry) not in (None, entry.hash)),
            ("unknown, never sent", entry.state == "unknown" and asked not in bills.sent | bills.at_a_kill),
            ("left in flight", entry.state == "in_flight"),
        ):
            if is_so:
                wrong.append(Wrong(what, *asked, tuple(bills.faults.get(asked, ()))))
    return wrong


def _speaks_of(entry) -> str | None:
    """Return the stimulus that an answer names; every vendor of a world answers with its name."""
    rows = outcome_of(entry).rows
    return rows[0]["tag"] if rows else None

"""A run's desk: its queues, what stands in its journal, and where each reviewer is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.run.reviews import ADJUDICATED, JUDGE, PLACE, SKIP, UNDO, Act, Place
from portrayal_review.journal import Journal
from portrayal_review.opened import OpenRun, Shelf, Stamp
from portrayal_review.queues import GENDERED, PLACES, RATER_GENDER, WORDS, Item, Queue, in_order, is_for_all, queues_of

LONGEST_NOTE = 2000
REASONS = ("cannot tell", "too upsetting", "not enough shown", "another reason")
GENDERS = ("woman", "man", "nonbinary")  # offered; any other word may be written


class Desk:
    """Desk of one run: its queues and journal."""

    def __init__(self, opened: OpenRun) -> None:
        self.seed = opened.seed
        self.journal = Journal(opened.run.judgments)
        self.stands: dict[Place, Act] = {}
        self._orders: dict[tuple[str, str], list[Item]] = {}
        self._queues: dict[str, Queue] = {}
        self._stamp: tuple[Stamp, int] | None = None
        for act in self.journal.acts:
            self._apply(act)

    def queues(self, opened: OpenRun) -> dict[str, Queue]:
        """Return the queues, rebuilt when the run or its places changed."""
        stamp = (opened.stamp, sum(1 for _, queue, _ in self.stands if queue == PLACES))
        if self._stamp != stamp:
            self._queues = queues_of(opened, list(self.stands.values()))
            self._orders, self._stamp = {}, stamp
        return self._queues

    def next_item(self, queue: Queue, reviewer: str) -> Item | None:
        """Return the reviewer's next item: captions that others began come last, but for the overlap."""
        waiting = [item for item in self._order(queue, reviewer) if not self._act(queue, reviewer, item)]
        others = {key for who, name, key in self.stands if name == queue.name and who not in (reviewer, ADJUDICATED)}
        begun = {item.together for item in queue.items if item.key in others}
        mine = (item for item in waiting if is_for_all(item, self.seed) or item.together not in begun)
        return next(mine, waiting[0] if waiting else None)

    def progress(self, queue: Queue, reviewer: str) -> tuple[int, int]:
        """Return how many items a reviewer has judged or skipped, and how many there are."""
        own = self._order(queue, reviewer)
        return sum(1 for item in own if self._act(queue, reviewer, item)), len(own)

    def last(self, queue: Queue, reviewer: str) -> Item | None:
        """Return the item a reviewer judged or skipped last, which an undo takes back."""
        for who, name, key in reversed(self.stands):
            if who == reviewer and name == queue.name:
                return queue.by_key.get(key)
        return None

    def gender(self, reviewer: str) -> str:
        """Return a reviewer's own gender as last stated."""
        for (who, queue, _), act in reversed(self.stands.items()):
            if who == reviewer and queue == PLACES:
                answers = [row["judgment"] for row in act.get("rows", ()) if row["question"] == RATER_GENDER]
                return answers[0] if answers else ""
        return ""

    async def judge(self, queue: Queue, item: Item, reviewer: str, form: Mapping[str, str]) -> None:
        """Keep a judgment; it is on disk when this returns."""
        await self._keep(JUDGE, queue, item, reviewer, rows=rows_of(queue, item, reviewer, form))

    async def skip(self, queue: Queue, item: Item, reviewer: str, reason: str) -> None:
        """Keep that a reviewer passed over an item, and why."""
        await self._keep(SKIP, queue, item, reviewer, reason=_text(reason) or REASONS[0])

    async def undo(self, queue: Queue, item: Item, reviewer: str) -> None:
        """Take back what a reviewer said of an item."""
        await self._keep(UNDO, queue, item, reviewer)

    async def _keep(self, act: str, queue: Queue, item: Item, reviewer: str, **further: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = {"act": act, "reviewer": reviewer, "queue": queue.name, "item": item.key, "time": now, **further}
        await asyncio.wrap_future(self.journal.add(entry))
        self._apply(entry)

    def _apply(self, act: Act) -> None:
        place = (act["reviewer"], act["queue"], act["item"])
        self.stands.pop(place, None)
        if act["act"] != UNDO:
            self.stands[place] = act

    def _act(self, queue: Queue, reviewer: str, item: Item) -> Act | None:
        return self.stands.get((reviewer, queue.name, item.key))

    def _order(self, queue: Queue, reviewer: str) -> list[Item]:
        """Return a reviewer's items in order; nobody codes their own words."""
        where = (queue.name, reviewer)
        if where not in self._orders:
            items = in_order(queue, reviewer, self.seed)
            own = queue.name == WORDS
            self._orders[where] = [one for one in items if not own or one.columns["rater"] != reviewer]
        return self._orders[where]


class Desks:
    """Desks of all runs on a shelf; journals are opened when needed."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf, self._desks = shelf, dict[int, Desk]()

    def of(self, number: int) -> Desk:
        """Return a run's desk."""
        if number not in self._desks:
            opened = self._shelf.run(number)
            if opened is None:
                raise PortrayalError(f"there is no run {number}. Expected 1 to {len(self._shelf)}.")
            self._desks[number] = Desk(opened)
        return self._desks[number]

    def open_all(self) -> None:
        """Open every journal now, so that what stands in the way is told at once."""
        for number in range(1, len(self._shelf) + 1):
            self.of(number)

    def close(self) -> None:
        """Write what waits."""
        for desk in self._desks.values():
            desk.journal.close()


def rows_of(queue: Queue, item: Item, reviewer: str, form: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the Reviews rows of a judgment."""
    about = {"item": item.name, "reviewer": reviewer, **item.columns}
    if queue.form == "slider":
        return list(_rating(about, form))
    values = [part for part in form.get("judgment", "").split(";") if part]
    known = {value for value, _ in queue.choices}
    if not values or set(values) - known or (len(values) > 1 and queue.form != "clusters"):
        raise PortrayalError("no judgment was chosen. Choose one, or skip the item.")
    judgment = ";".join(sorted(set(values)))
    note = item.texts["words"] if queue.name == WORDS else _text(form.get("note", ""))
    same = [about, *({"item": name, "reviewer": reviewer, **columns} for name, columns in item.also)]
    return [{**each, "question": item.question, "judgment": judgment, "note": note or None} for each in same]


def _rating(about: Mapping[str, Any], form: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of a place: ratings, words, and the rater's gender."""
    value = form.get("judgment", "")
    if not form.get("moved") or not value.isdigit() or not 0 <= int(value) <= 10:
        raise PortrayalError("the slider was not moved. Move it (and back, if its middle is meant), or skip the place.")
    rows = [{**about, "question": GENDERED, "judgment": str(int(value)), "note": None}]
    if words := _text(form.get("note", "")):
        rows.append({**about, "question": PLACE, "judgment": None, "note": words})
    if gender := _text(form.get("gender", ""))[:60]:
        rows.append({**about, "question": RATER_GENDER, "judgment": gender, "note": None})
    return rows


def _text(text: str) -> str:
    return " ".join(text.split())[:LONGEST_NOTE]

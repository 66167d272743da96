"""Pages for reviewers and for the organiser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import polars as pl
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from portrayal.errors import PortrayalError
from portrayal.run.reviews import ADJUDICATED, JUDGE, Act
from portrayal.stats.raters import agreement as coefficients
from portrayal_review.desk import GENDERS, REASONS, Desk
from portrayal_review.opened import OpenRun
from portrayal_review.pages import ORGANISERS, message, page
from portrayal_review.queues import CASES, Queue, scene_words

KEYS = "123456789"
SHOWN = ("krippendorff_alpha", "cohen_kappa")


async def queues(request: Request) -> Response:
    """Return a reviewer's queues, with how far they are in each."""
    reviewer = request.state.reviewer
    if not reviewer:
        return message(request, 403, "Open the link you were sent first.")
    rows = []
    for number, opened in request.app.state.shelf.all():
        desk = request.app.state.desks.of(number)
        for queue in desk.queues(opened).values():
            rows.append((number, queue, desk.progress(queue, reviewer)))
    several = len(request.app.state.shelf) > 1
    return page(request, "queues.html", queues=[one for one in rows if one[2][1]], several=several)


async def judge(request: Request) -> Response:
    """Show the next item, or take what a reviewer said of one and go on."""
    number, reviewer = request.path_params["number"], request.state.reviewer
    if not reviewer:
        return message(request, 403, "Open the link you were sent first.")
    opened = request.app.state.shelf.run(number)
    desk = request.app.state.desks.of(number) if opened else None
    queue = desk.queues(opened).get(request.path_params["queue"]) if opened and desk else None
    if opened is None or desk is None or queue is None:
        return message(request, 404, "There is no such queue.")
    if request.method == "GET":
        return _judge_page(request, number, opened, desk, queue)
    try:
        await _taken(desk, queue, reviewer, request.state.form)
    except PortrayalError as error:
        return _judge_page(request, number, opened, desk, queue, str(error))
    except OSError as error:
        text = f"This judgment could not be written to disk ({error.strerror}) and was not kept. Tell the organiser."
        return message(request, 507, text)
    return RedirectResponse(f"/review/{number}/{quote(queue.name)}", status_code=303)


async def _taken(desk: Desk, queue: Queue, reviewer: str, form: dict[str, str]) -> None:
    item = queue.by_key.get(form.get("item", ""))
    if item is None:
        raise PortrayalError("that item is no longer in this queue. Here is the next one.")
    if form.get("act") == "undo":
        await desk.undo(queue, item, reviewer)
    elif form.get("act") == "skip":
        await desk.skip(queue, item, reviewer, form.get("reason", ""))
    else:
        await desk.judge(queue, item, reviewer, form)


def _judge_page(request: Request, number: int, opened: OpenRun, desk: Desk, queue: Queue, fault: str = "") -> Response:
    reviewer = request.state.reviewer
    item = desk.next_item(queue, reviewer)
    done, total = desk.progress(queue, reviewer)
    view: dict[str, Any] = {
        "number": number, "queue": queue, "item": item, "done": done, "total": total, "fault": fault, "keys": KEYS,
        "last": desk.last(queue, reviewer), "reasons": REASONS, "genders": GENDERS,
        "gender": desk.gender(reviewer), "scene": scene_words,
        "stimuli": [opened.by_id[name] for name in item.stimuli] if item else [],
    }  # fmt: skip
    return page(request, "judge.html", 400 if fault else 200, **view)


async def people(request: Request) -> Response:
    """Return who reviews and how far they are; add names and links."""
    if not request.state.organiser:
        return message(request, 403, ORGANISERS)
    known, made = request.app.state.people, None
    fault = ""
    if request.method == "POST":
        form = request.state.form
        try:
            name = known.add(form.get("name", "")) if form.get("act") == "add" else form.get("name", "")
            made = (name, f"{request.url.scheme}://{request.headers['host']}/enter/{known.invite(name)}")
        except PortrayalError as error:
            fault = str(error)
    rows = []
    for number, opened in request.app.state.shelf.all():
        desk = request.app.state.desks.of(number)
        for queue in desk.queues(opened).values():
            rows += [(name, opened.name, queue.title, *desk.progress(queue, name)) for name in known.names]
    return page(request, "people.html", 400 if fault else 200, names=known.names, rows=rows, made=made, fault=fault)


async def agreement(request: Request) -> Response:
    """Return agreement on each queue and its disputes, or settle a case."""
    if not request.state.organiser:
        return message(request, 403, ORGANISERS)
    number = request.path_params["number"]
    opened = request.app.state.shelf.run(number)
    if opened is None:
        return message(request, 404, "There is no such run.")
    desk: Desk = request.app.state.desks.of(number)
    if request.method == "POST":
        form = request.state.form
        queue = desk.queues(opened).get(CASES)
        item = queue.by_key.get(form.get("item", "")) if queue else None
        if queue is None or item is None:
            return message(request, 404, "There is no such case.")
        await desk.judge(queue, item, ADJUDICATED, form)
        return RedirectResponse(request.url.path, status_code=303)
    acts, queues = list(desk.stands.values()), list(desk.queues(opened).values())
    rows = await run_in_threadpool(lambda: [_agreed(queue, acts) for queue in queues])
    return page(request, "agreement.html", number=number, opened=opened, rows=rows)


def _agreed(queue: Queue, acts: Sequence[Act]) -> dict[str, Any]:
    mine = [act for act in acts if act["queue"] == queue.name and act["act"] == JUDGE]
    settled = {act["item"]: act["rows"][0]["judgment"] for act in mine if act["reviewer"] == ADJUDICATED}
    acts = [act for act in mine if act["reviewer"] != ADJUDICATED]
    differ = [(item, answers) for key, answers in disputed(queue, acts) if (item := queue.by_key.get(key))]
    return {
        "queue": queue,
        "judged": len(acts),
        "settled": settled,
        "table": agreement_of(queue, acts),
        "differ": differ,
    }


def agreement_of(queue: Queue, acts: Iterable[Act]) -> pl.DataFrame | None:
    """Return a queue's coefficients as Results rows; None with fewer than two reviewers."""
    question = {item.question for item in queue.items}
    rows = [
        {"item": row["item"], "question": queue.name, "reviewer": row["reviewer"], "judgment": row["judgment"]}
        for act in acts
        if act["act"] == JUDGE and act["queue"] == queue.name
        for row in act["rows"]
        if row["question"] in question
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(("item", "question", "reviewer", "judgment"), pl.String))
    twice = table.group_by("item").agg(pl.col("reviewer").n_unique()).filter(pl.col("reviewer") > 1)
    if table["reviewer"].n_unique() < 2 or twice.is_empty():
        return None
    estimates = coefficients(table, queue.name, queue.level)
    return estimates.filter(pl.col("measure").is_in(SHOWN))


def disputed(queue: Queue, acts: Iterable[Act]) -> list[tuple[str, dict[str, str]]]:
    """Return the items on which reviewers differ, with what each said."""
    judgments: dict[str, dict[str, str]] = {}
    for act in acts:
        if act["act"] == JUDGE and act["queue"] == queue.name:
            judgments.setdefault(act["item"], {})[act["reviewer"]] = act["rows"][0]["judgment"] or ""
    return [(key, answers) for key, answers in judgments.items() if len(set(answers.values())) > 1]

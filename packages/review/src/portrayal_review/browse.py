"""The organiser's pages: findings, results, answers, two systems side by side, further tables, pictures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import polars as pl
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from portrayal.reporting.answers.answers import Chosen, narrowed, one_answer, raw_text
from portrayal.reporting.answers.behind import Behind
from portrayal.reporting.words.sentences import NAMES
from portrayal.tables import RESULTS, facets
from portrayal_review.opened import OpenRun, raw_answer
from portrayal_review.pages import ORGANISERS, message, page
from portrayal_review.pictures import ABSENT, SIDES, shown_picture

CARDS = 24  # answers on a page
PAGE = 50  # rows of a table on a page
COMPARED = 20  # results of a list that are compared
# What of a result row is shown first; its facets follow.
FIRST = (
    "system", "measure", "group", "versus", "value", "low", "high", "unit", "p_adjusted", "decision", "n", "counted",
)  # fmt: skip
Handler = Callable[[Request, int, OpenRun], Any]


def of_run(make: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Let the organiser alone ask for a page of a run."""

    @wraps(make)
    async def handler(request: Request) -> Response:
        if not request.state.organiser:
            return message(request, 403, ORGANISERS)
        number = request.path_params["number"]
        opened = await run_in_threadpool(request.app.state.shelf.run, number)
        if opened is None:
            return message(request, 404, "There is no such run.")
        return await run_in_threadpool(make, request, number, opened)

    return handler


@of_run
def overview(request: Request, number: int, opened: OpenRun) -> Response:
    """Return what was found, each sentence with the answers behind it."""
    results = opened.measured.results
    findings = [(finding, results["decision"][finding.row]) for finding in opened.findings]
    counted = dict(results["decision"].value_counts(sort=True).iter_rows())
    states = opened.answers.group_by("system", "status", maintain_order=True).len()
    tables = [(name, table.height) for name, table in opened.measured.tables.items() if table.height]
    sheets = [*opened.measured.pictures]
    return page(
        request, "run.html", number=number, opened=opened, findings=findings, counted=counted, tables=tables, sheets=sheets,
        states=states.rows(),
    )  # fmt: skip


@of_run
def results(request: Request, number: int, opened: OpenRun) -> Response:
    """Return the results, sorted and narrowed down as the reader chose."""
    query = request.query_params
    table = opened.measured.results.with_row_index("row")
    choices = {name: _levels(table, name) for name in ("system", "measure", "decision")}
    for name in choices:
        if query.get(name):
            table = table.filter(pl.col(name) == query[name])
    further = [name for name in facets(opened.measured.results) if table[name].drop_nulls().len()]
    columns = ["row", *FIRST, *further]
    listing = listed(
        table.select(columns), query.get("sort", ""), "desc" in query, _page(query), query.get("words", "")
    )
    return page(request, "results.html", number=number, opened=opened, listing=listing, choices=choices,
                numbers=_numbers(), names={**NAMES, **opened.audit.names}, query=query)  # fmt: skip


@of_run
def answers(request: Request, number: int, opened: OpenRun) -> Response:
    """Return answers with their pictures, those behind a result row where one is named."""
    query = request.query_params
    bases, rows = _behind(opened, query), narrowed(opened.answers, opened.stimuli, _chosen(query, opened))
    if bases:
        parts = pl.concat([narrowed(rows, opened.stimuli, one.chosen) for one in bases])
        rows = parts.unique(["system", "stimulus", "repeat"], maintain_order=True)
    listing = listed(rows, page=_page(query), size=CARDS)
    return page(
        request, "answers.html", number=number, opened=opened, listing=listing, query=query, bases=bases,
        statuses=_levels(opened.answers, "status"), decisions=_levels(opened.measured.results, "decision"),
    )  # fmt: skip


@of_run
def answer(request: Request, number: int, opened: OpenRun) -> Response:
    """Return one answer: its stimulus, raw bytes and readings, others' beside it."""
    query = request.query_params
    system, stimulus, repeat = query.get("system", ""), query.get("stimulus", ""), _number(query, "repeat", 0)
    row = one_answer(opened.answers, system, stimulus, repeat)
    if row is None:
        return message(request, 404, "There is no such answer in this run.")
    raw, media, state = raw_answer(opened, system, stimulus, repeat)
    others = opened.answers.filter(
        pl.col("stimulus") == stimulus, pl.col("repeat") == repeat, pl.col("system") != system
    )
    return page(request, "answer.html", number=number, opened=opened, row=row, raw=raw_text(raw), media=media, state=state,
                stimulus=opened.by_id[stimulus], others=others.to_dicts())  # fmt: skip


@of_run
def compare(request: Request, number: int, opened: OpenRun) -> Response:
    """Return two systems' answers to the same stimuli, the least alike first."""
    query, systems = request.query_params, opened.systems
    first = query.get("first") or systems[0]
    second = query.get("second") or (systems[1] if len(systems) > 1 else systems[0])
    if {first, second} - set(systems):
        return message(request, 404, "There is no such system in this run.")
    within = narrowed(opened.answers, opened.stimuli, _chosen(query, opened))
    pairs = side_by_side(within, first, second)
    same = int((pairs["alike"] == 1).sum())
    listing = listed(pairs, page=_page(query), size=CARDS)
    return page(request, "compare.html", number=number, opened=opened, listing=listing, first=first, second=second,
                same=same, query=query)  # fmt: skip


@of_run
def table(request: Request, number: int, opened: OpenRun) -> Response:
    """Return a further table of the run."""
    name, query = request.path_params["name"], request.query_params
    frame = opened.measured.tables.get(name)
    if frame is None:
        return message(request, 404, "There is no such table in this run.")
    flat = frame.select(column for column, kind in frame.schema.items() if not kind.is_nested())
    listing = listed(flat, query.get("sort", ""), "desc" in query, _page(query), query.get("words", ""))
    return page(request, "table.html", number=number, opened=opened, name=name, listing=listing, query=query)


@of_run
def sheet(request: Request, number: int, opened: OpenRun) -> Response:
    """Return a contact sheet or strip that measuring left in the run."""
    image = opened.measured.pictures.get(request.path_params["name"])
    if image is None or not image.startswith(b"\x89PNG"):
        return message(request, 404, "There is no such picture in this run.")
    return Response(image, media_type="image/png")


async def picture(request: Request) -> Response:
    """Return a picture that systems were shown, to organiser and reviewers."""
    if not (request.state.organiser or request.state.reviewer):
        return message(request, 403, "Open the link you were given first.")
    opened = request.app.state.shelf.run(request.path_params["number"])
    size = request.query_params.get("size", "large")
    known = opened.pictures.get(request.path_params["key"]) if opened else None
    if known is None or size not in SIDES:
        return message(request, 404, "There is no such picture in this run.")
    image = await run_in_threadpool(shown_picture, *known, size)
    if image is None:
        return Response(ABSENT, 404, media_type="image/svg+xml")  # a browser shows it in the picture's place
    return Response(image, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


def _behind(opened: OpenRun, query: Mapping[str, str]) -> list[Behind]:
    """Return what stands behind a row, or behind all rows of a decision."""
    table = opened.measured.results
    if query.get("row", "").isdigit() and int(query["row"]) < table.height:
        rows = [table.row(int(query["row"]), named=True)]
    elif query.get("decision"):
        rows = table.filter(pl.col("decision") == query["decision"]).to_dicts()
    else:
        return []
    rests = [opened.bases.behind(row) for row in rows]
    return list({repr(one.chosen): one for one in rests}.values())


def _chosen(query: Any, opened: OpenRun) -> Chosen:
    systems = (query["system"],) if query.get("system") else ()
    factors = {name: [query[f"of_{name}"]] for name in opened.factors if query.get(f"of_{name}")}
    return Chosen(systems, query.get("status", ""), query.get("label", ""), query.get("words", ""), factors)


def _levels(frame: pl.DataFrame, column: str) -> list[str]:
    return frame[column].drop_nulls().unique().sort().to_list()


def _page(query: Mapping[str, str]) -> int:
    return _number(query, "page", 1)


def _number(query: Mapping[str, str], name: str, otherwise: int) -> int:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _numbers() -> list[str]:
    return [name for name, kind in RESULTS.items() if kind == pl.Float64]


@dataclass(frozen=True)
class Listing:
    """One page of a table."""

    columns: Sequence[str]
    rows: list[dict]
    total: int  # rows that match
    page: int
    pages: int
    sort: str
    descending: bool


def listed(
    table: pl.DataFrame, sort: str = "", descending: bool = False, page: int = 1, words: str = "", size: int = PAGE
) -> Listing:
    """Return a page of a table; missing values come last either way."""
    if words:
        table = table.filter(_holds(table, words))
    if sort in table.columns and not table[sort].dtype.is_nested():
        table = table.sort(sort, descending=descending, nulls_last=True, maintain_order=True)
    else:
        sort = ""
    pages = max(1, -(-table.height // size))
    page = min(max(1, page), pages)
    rows = table.slice((page - 1) * size, size)
    return Listing(table.columns, rows.to_dicts(), table.height, page, pages, sort, descending)


def _holds(table: pl.DataFrame, words: str) -> pl.Expr:
    """Tell whether any text of a row holds the words, in either case."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    tests = [pl.col(name).str.to_lowercase().str.contains(words.lower(), literal=True) for name in texts]
    return pl.any_horizontal([one.fill_null(False) for one in tests]) if tests else pl.lit(False)


def side_by_side(answers: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return one row per stimulus and repeat that both were asked, the least alike first.

    `alike` is the number of things both say over the number that either says; `only_first`, `only_second` and `both` name them.
    """
    columns = ["stimulus", "repeat", "status", "texts"]
    left, right = (answers.filter(pl.col("system") == name).select(columns) for name in (first, second))
    pairs = left.join(right, on=["stimulus", "repeat"], suffix="_second", maintain_order="left")
    one, other = (
        pl.col(name).list.head(COMPARED).list.unique(maintain_order=True) for name in ("texts", "texts_second")
    )
    sets = pairs.with_columns(
        both=one.list.set_intersection(other),
        only_first=one.list.set_difference(other),
        only_second=other.list.set_difference(one),
    )
    size = pl.col("both").list.len() + pl.col("only_first").list.len() + pl.col("only_second").list.len()
    return sets.with_columns(alike=pl.col("both").list.len() / size).sort("alike", maintain_order=True, nulls_last=True)

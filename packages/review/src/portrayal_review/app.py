"""The application: its addresses, and who is let through to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from portrayal.errors import PortrayalError
from portrayal_review import browse, review
from portrayal_review.desk import Desks
from portrayal_review.guard import Guard
from portrayal_review.links import DAYS
from portrayal_review.opened import Shelf
from portrayal_review.pages import message, page, static
from portrayal_review.people import ORGANISER, People, is_token

MOST_FIELDS = 60


def make_app(desks: Desks, shelf: Shelf, people: People, hosts: Collection[str], cookie: str = "portrayal") -> Guard:
    """Return the viewer as an ASGI application."""
    app = Starlette(routes=list(_routes()), exception_handlers={HTTPException: _failed, PortrayalError: _bad_request})
    app.state.shelf, app.state.people, app.state.cookie, app.state.desks = shelf, people, cookie, desks
    return Guard(Known(app, people, cookie), hosts)


def _routes() -> Iterator[Route]:
    yield Route("/", home)
    yield Route("/static/{name}", static)
    yield Route("/enter/{secret}", enter, methods=["GET", "POST"])
    yield Route("/people", review.people, methods=["GET", "POST"])
    yield Route("/review", review.queues)
    yield Route("/review/{number:int}/{queue}", review.judge, methods=["GET", "POST"])
    yield Route("/run/{number:int}/agreement", review.agreement, methods=["GET", "POST"])
    yield Route("/run/{number:int}", browse.overview)
    yield Route("/run/{number:int}/results", browse.results)
    yield Route("/run/{number:int}/answers", browse.answers)
    yield Route("/run/{number:int}/answer", browse.answer)
    yield Route("/run/{number:int}/compare", browse.compare)
    yield Route("/run/{number:int}/table/{name}", browse.table)
    yield Route("/run/{number:int}/sheet/{name}", browse.sheet)
    yield Route("/run/{number:int}/picture/{key}", browse.picture)


class Known:
    """Identify the visitor by cookie; a form needs its session's token."""

    def __init__(self, app: Any, people: People, cookie: str) -> None:
        self.app, self.people, self.cookie = app, people, cookie

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Fill in `request.state`: organiser, reviewer, cookie (the session's that forms are bound to) and form."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        chief = request.cookies.get(f"{self.cookie}_organiser")
        other = request.cookies.get(f"{self.cookie}_reviewer")
        organiser, reviewer = self.people.who(chief) == ORGANISER, self.people.who(other)
        reviewing = request.url.path.startswith("/review")
        state = scope.setdefault("state", {})
        cookie = other if reviewing and reviewer else chief if organiser else None
        state |= {"organiser": organiser, "reviewer": reviewer or "", "cookie": cookie, "form": {}}
        if scope["method"] == "POST":
            state["form"] = await _form(request)
            entering = request.url.path.startswith("/enter/")  # its secret is its token
            if not entering and not (cookie and is_token(state["form"].get("token", ""), cookie)):
                refused = message(request, 403, "This form is not of your session. Go back and load the page again.")
                await refused(scope, receive, send)
                return
        await self.app(scope, receive, send)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of several of one name, all joined by ';'."""
    body = (await request.body()).decode("utf-8", errors="replace")
    try:
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    form: dict[str, str] = {}
    for name, value in pairs:
        form[name] = f"{form[name]};{value}" if name in form else value
    return form


USED = "This link was used already or is no longer valid. In another browser you need a new one: ask the organiser."


async def home(request: Request) -> Response:
    """Return the runs to the organiser; a reviewer goes to the queues."""
    if request.state.organiser:
        return page(request, "home.html", runs=request.app.state.shelf.all())
    if request.state.reviewer:
        return RedirectResponse("/review", status_code=303)
    return message(request, 403, "Open the link that `portrayal view` printed, or the one you were sent.")


async def enter(request: Request) -> Response:
    """Greet whoever opens a link, and let them in when they press the button.

    Looking at a link does not use it up: programs that read mail look at every link.
    """
    people: People = request.app.state.people
    secret = request.path_params["secret"]
    name = people.owner(secret)
    if name is None and (request.state.organiser or request.state.reviewer):
        return RedirectResponse("/", status_code=303)  # the browser that used it comes back by it
    if name is None:
        # A browser that follows a link from a mail does not send its cookie; from our own page it does.
        return message(request, 403, USED, back=True)
    if request.method == "GET":
        return page(request, "enter.html", name=name)
    entered = people.enter(secret)
    if entered is None:
        return message(request, 403, "This link was used already.")
    response = RedirectResponse("/" if name == ORGANISER else "/review", status_code=303)
    called = f"{request.app.state.cookie}_{'organiser' if name == ORGANISER else 'reviewer'}"
    response.set_cookie(called, entered[1], max_age=DAYS * 86400, httponly=True, samesite="strict", path="/")
    return response


async def _failed(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return message(request, status, "There is no such page." if status == 404 else "This cannot be asked here.")


async def _bad_request(request: Request, error: Exception) -> Response:
    return message(request, 400, str(error))

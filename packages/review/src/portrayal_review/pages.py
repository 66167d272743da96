"""Pages of the viewer: a template and its content."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from portrayal.reporting.page.page import environment
from portrayal_review.people import form_token
from portrayal_review.pictures import picture_key

ORGANISERS = "This page is the organiser's. Open the link that `portrayal view` printed."
STATIC = Path(__file__).parent / "static"
MEDIA = {"view.css": "text/css", "view.js": "text/javascript", "icon.svg": "image/svg+xml"}


@cache
def _environment() -> jinja2.Environment:
    """Return the report's environment, which escapes everything, with the viewer's own templates."""
    templates = environment().overlay(loader=jinja2.PackageLoader("portrayal_review"))
    templates.filters["picture_key"] = picture_key
    templates.filters["is_here"] = lambda path: Path(path).is_file()
    return templates


def page(request: Request, template: str, status: int = 200, **view: Any) -> HTMLResponse:
    """Return a page; every page knows where it is and who looks at it."""
    about = {
        "organiser": request.state.organiser,
        "reviewer": request.state.reviewer,
        "token": form_token(request.state.cookie) if request.state.cookie else "",
        "path": request.url.path,
        "here": _Here(request),
    }
    return HTMLResponse(_environment().get_template(template).render(about | view), status_code=status)


class _Here:
    """The address of this page with some of its settings changed."""

    def __init__(self, request: Request) -> None:
        self.path = request.url.path
        self.settings = list(request.query_params.multi_items())

    def __call__(self, **changed: Any) -> str:
        rest = [(name, value) for name, value in self.settings if name not in changed and value]
        added = [(name, str(value)) for name, value in changed.items() if value not in ("", None)]
        return f"{self.path}?{urlencode(rest + added)}"


async def static(request: Request) -> Response:
    """Return the style sheet or the script."""
    name = request.path_params["name"]
    if name not in MEDIA:
        return message(request, 404, "There is no such page.")
    return Response((STATIC / name).read_bytes(), media_type=MEDIA[name], headers={"cache-control": "max-age=3600"})


def message(request: Request, status: int, text: str, back: bool = False) -> HTMLResponse:
    """Return a page of one sentence, with an optional way `back`."""
    return page(request, "message.html", status, text=text, back=back)

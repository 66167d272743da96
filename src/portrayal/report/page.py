"""The report's page: sections in, one HTML text out, which needs no network and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from portrayal.report import words
from portrayal.report.drawing import Drawing
from portrayal.report.section import Section, draw
from portrayal.report.views import page_view

__all__ = ["Section", "render", "render_drawn"]


def render(sections: Sequence[Section], title: str) -> str:
    """Return the whole report as HTML.

    Parameters
    ----------
    sections
        One per audit and study, in the order they are read.
    title
        The report's heading.
    """
    return render_drawn(sections, title, [draw(section) for section in sections])


def render_drawn(sections: Sequence[Section], title: str, drawings: Sequence[Sequence[Drawing]]) -> str:
    """Return the report from charts that were drawn before; `drawings` has one list per section."""
    view = page_view(sections, title, drawings)
    return environment().get_template("page.html").render(view)


@cache
def environment() -> jinja2.Environment:
    """Return the template environment: everything escaped, control characters made visible."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("portrayal.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_final,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in (
        "number",
        "estimate",
        "interval",
        "p_value",
        "count",
        "share",
        "plural",
        "plain",
        "cell",
        "tied",
    ):
        found.filters[name] = getattr(words, name)
    return found


def _final(value: Any) -> Any:
    """Clean what is not markup already; autoescaping follows."""
    if isinstance(value, Markup):
        return value
    return words.visible(value) if isinstance(value, str) else value
